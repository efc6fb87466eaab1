// SPDX-License-Identifier: MIT
/* seed_module.c - a small module with something of each kind that the loader handles: an input to begin with. It is
 * compiled by itself, without headers. */
static char array[16] = "module";
static long zeroed[4];
static const char *const words[] = {"zero", array};
/* Undefined and weak: its address is 0. */
extern int nowhere __attribute__((weak));
/* Undefined: the kernel has it. */
void *memset(void *p, int c, unsigned long n);

int fuzz_init(void);
int fuzz_init(void)
{
	zeroed[1] = &nowhere ? 1 : 2;
	memset(array, 1, sizeof(array));
	return words[1][0];
}

static void fuzz_exit(void)
{
	zeroed[2]++;
}

static int (*const init)(void) __attribute__((used, section(".module_init"))) = fuzz_init;
static void (*const leave)(void) __attribute__((used, section(".module_exit"))) = fuzz_exit;
static const char license[] __attribute__((used, section(".modinfo"))) = "license=MIT";
static void construct(void)
{
	zeroed[3]++;
}
static void (*const ctor)(void) __attribute__((used, section(".init_array"))) = construct;

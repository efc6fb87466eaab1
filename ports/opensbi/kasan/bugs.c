/* SPDX-License-Identifier: MIT */
/*
 * bugs.c - plants bugs in OpenSBI, for the demonstration and the tests (BUGS=1): supervisor mode calls the extension
 * EXTENSION with the number of a bug as the function. Instrumented as all of OpenSBI.
 */
#include <sbi/sbi_console.h>
#include <sbi/sbi_ecall.h>
#include <sbi/sbi_ecall_interface.h>
#include <sbi/sbi_error.h>
#include <sbi/sbi_hartmask.h>
#include <sbi/sbi_heap.h>
#include <sbi/sbi_ipi.h>
#include <sbi/sbi_platform.h>
#include <sbi/sbi_scratch.h>
#include <sbi/sbi_string.h>

#include <kasan/kasan.h>

/* In the range of experimental extensions. */
#define EXTENSION 0x08525a00
#define NOINLINE  __attribute__((noinline))

static char table[10] = "ten bytes";
static char unterminated[4] = {'a', 'b', 'c', 'd'};
static unsigned long area; /* 24 bytes in each hart's scratch area */
static u32 event;
extern struct sbi_platform platform;

/* Hides a value from the compiler: it would see the bug, and remove it. */
static unsigned long runtime(unsigned long value)
{
	asm volatile("" : "+r"(value));
	return value;
}

static void hidden(void *ptr)
{
	asm volatile("" : : "r"(ptr) : "memory");
}

/* --- The heap --------------------------------------------------------------------------------------- */

static NOINLINE void heap_overflow(void)
{
	char *text = sbi_malloc(13);

	text[runtime(13)] = 0;
	sbi_free(text);
}

static NOINLINE void heap_underflow(void)
{
	char *text = sbi_zalloc(64);

	table[0] = ((volatile char *)text)[runtime(0) - 1];
	sbi_free(text);
}

static NOINLINE void heap_copy_overflow(void)
{
	char *text = sbi_malloc(20);

	sbi_memcpy(text, "more than twenty characters, and thirty-two", runtime(40));
	sbi_free(text);
}

static NOINLINE void heap_move_overflow(void)
{
	char *text = sbi_calloc(4, 8);

	sbi_memmove(text, text + 16, runtime(24));
	sbi_free(text);
}

static NOINLINE void heap_set_overflow(void)
{
	char *text = sbi_aligned_alloc(128, 128);

	sbi_memset(text, 0, runtime(129));
	sbi_free(text);
}

static NOINLINE void heap_use_after_free(void)
{
	u32 *words = sbi_malloc(16);

	sbi_free(words);
	words[runtime(2)] = 7;
}

static NOINLINE void heap_double_free(void)
{
	char *text = sbi_malloc(8);

	sbi_free(text);
	sbi_free((void *)runtime((unsigned long)text));
}

static NOINLINE void heap_invalid_free(void)
{
	char *text = sbi_malloc(80);

	sbi_free(text + runtime(16));
	sbi_free(text);
}

/* No object was ever at the heap's end. */
static NOINLINE void heap_wild_read(void)
{
	const struct sbi_scratch *scratch = sbi_scratch_thishart_ptr();
	const char *end = (char *)scratch->fw_start + scratch->fw_size;

	table[0] = ((const volatile char *)end)[-(long)runtime(64)];
}

/* --- The harts' scratch areas ----------------------------------------------------------------------- */

static NOINLINE void scratch_overflow(void)
{
	char *mine = sbi_scratch_thishart_offset_ptr(area);

	mine[runtime(24)] = 1;
}

static NOINLINE void scratch_of_another_hart(void)
{
	char *other = sbi_scratch_offset_ptr(sbi_hartindex_to_scratch(sbi_hart_count() - 1), area);

	table[0] = ((volatile char *)other)[runtime(31)];
}

static NOINLINE void scratch_copy_overflow(void)
{
	sbi_memset(sbi_scratch_thishart_offset_ptr(area), 0, runtime(32));
}

/* Behind what was allocated. */
static NOINLINE void scratch_wild_write(void)
{
	char *scratch = (char *)sbi_scratch_thishart_ptr();

	scratch[SBI_SCRATCH_SIZE - runtime(8)] = 1;
}

/* --- The image and stacks --------------------------------------------------------------------------- */

static NOINLINE void global_overflow(void)
{
	char *entry = (char *)runtime((unsigned long)table);

	entry[sizeof(table)] = 1;
}

static NOINLINE void global_string_overread(void)
{
	table[0] = (char)sbi_strlen((char *)runtime((unsigned long)unterminated));
}

static NOINLINE void stack_overflow(void)
{
	char name[12];

	name[runtime(sizeof(name))] = 0;
	hidden(name);
}

static NOINLINE void stack_underread(void)
{
	volatile char name[12];

	hidden((void *)name);
	table[0] = *((volatile char *)runtime((unsigned long)name) - 1);
}

static NOINLINE void stack_copy_overflow(void)
{
	char name[12];

	sbi_memcpy(name, "more than twelve characters", runtime(20));
	hidden(name);
}

/* By a function that is told the wrong size of a buffer. */
static NOINLINE void stack_print_overflow(void)
{
	char name[8];

	sbi_snprintf(name, (u32)runtime(16), "%s", "eight and more");
	hidden(name);
}

static NOINLINE void use_after_scope(void)
{
	volatile char *kept;

	{
		char scoped[16];

		kept = (volatile char *)runtime((unsigned long)scoped);
		hidden(scoped);
	}
	table[0] = kept[runtime(3)];
}

static NOINLINE void alloca_overflow(void)
{
	char bytes[runtime(21)];

	bytes[runtime(21)] = 0;
	hidden(bytes);
}

/* Calls until the stack is used up. What they write there is theirs, so no check fails. */
static NOINLINE unsigned long recurse(unsigned long low)
{
	volatile unsigned long words[16] = {low};

	if ((unsigned long)__builtin_frame_address(0) > low + 2 * sizeof(words))
		words[1] = recurse(low);
	return words[0] + words[1];
}

static NOINLINE void recursion(void)
{
	recurse((unsigned long)sbi_scratch_thishart_ptr() + SBI_SCRATCH_SIZE -
		platform.hart_stack_size);
}

/* --- Another hart ----------------------------------------------------------------------------------- */

static volatile bool came;

static NOINLINE void in_interrupt(struct sbi_scratch *scratch)
{
	u32 *words = sbi_malloc(16);

	sbi_free(words);
	words[runtime(1)] = 7;
	came = true;
}

static struct sbi_ipi_event_ops interrupt_ops = {.name = "redzone", .process = in_interrupt};

/* An interrupt between harts; with one hart OpenSBI calls the function. */
static NOINLINE void interrupt_handler(void)
{
	const u32 target = (current_hartindex() + 1) % sbi_hart_count();

	came = false;
	sbi_ipi_send_many(1UL << sbi_hartindex_to_hartid(target), 0, event, NULL);
	while (!came)
		;
}

/* --- Accesses that the machine refuses: OpenSBI stops the hart after the report --------------------- */

static NOINLINE void null_read(void)
{
	table[0] = *(volatile char *)runtime(8);
}

/* Between devices of QEMU's board. */
static NOINLINE void wild_write(void)
{
	*(volatile u64 *)runtime(0x1f000000) = 1;
}

static NOINLINE void null_call(void)
{
	((void (*)(void))runtime(0))();
	runtime(1);
}

/* --- No bug ------------------------------------------------------------------------------------------ */

static NOINLINE void correct_use(void)
{
	char *text = sbi_malloc(13), name[16];

	sbi_memset(text, 'x', runtime(13));
	sbi_snprintf(name, sizeof(name), "%s", "fifteen letters");
	sbi_memcpy(text, name, runtime(13));
	sbi_memset(sbi_scratch_thishart_offset_ptr(area), 1, runtime(24));
	table[runtime(9)] = text[runtime(12)];
	sbi_free(text);
}

#define BUG(name) {#name, name}
static const struct {
	const char *name;
	void (*run)(void);
} bugs[] = {
	BUG(correct_use),
	BUG(heap_overflow),
	BUG(heap_underflow),
	BUG(heap_copy_overflow),
	BUG(heap_move_overflow),
	BUG(heap_set_overflow),
	BUG(heap_use_after_free),
	BUG(heap_double_free),
	BUG(heap_invalid_free),
	BUG(heap_wild_read),
	BUG(scratch_overflow),
	BUG(scratch_of_another_hart),
	BUG(scratch_copy_overflow),
	BUG(scratch_wild_write),
	BUG(global_overflow),
	BUG(global_string_overread),
	BUG(stack_overflow),
	BUG(stack_underread),
	BUG(stack_copy_overflow),
	BUG(stack_print_overflow),
	BUG(use_after_scope),
	BUG(alloca_overflow),
	BUG(interrupt_handler),
	BUG(recursion),
	BUG(null_read),
	BUG(wild_write),
	BUG(null_call),
};

static int handle(unsigned long extension, unsigned long number, struct sbi_trap_regs *regs,
		  struct sbi_ecall_return *out)
{
	if (number >= array_size(bugs))
		return SBI_ERR_INVALID_PARAM;
	sbi_printf("planted: %s\n", bugs[number].name);
	bugs[number].run();
	return 0;
}

struct sbi_ecall_extension ecall_redzone;

static int register_extension(void)
{
	const int got = sbi_ipi_event_create(&interrupt_ops);
	const char *wrong = kasan_check_offset();

	if (wrong)
		sbi_panic("KASAN: %s\n", wrong);
	/* The suite counts the reports of each hart. */
	kasan_option("kasan.repeat", "full");
	area = sbi_scratch_alloc_offset(24);
	if (!area || got < 0)
		return SBI_ENOMEM;
	event = (u32)got;
	return sbi_ecall_register_extension(&ecall_redzone);
}

struct sbi_ecall_extension ecall_redzone = {
	.name = "redzone",
	.extid_start = EXTENSION,
	.extid_end = EXTENSION,
	.experimental = true,
	.register_extensions = register_extension,
	.handle = handle,
};

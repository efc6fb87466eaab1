// SPDX-License-Identifier: MIT
/*
 * module_sample.c - the module that module_test.c loads: something of each kind that a loader has to get
 * right, and functions that misbehave when they are told to. Embedded into the test kernel.
 */
#include <kernel/module.h>
#include <kernel/percpu.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "module_sample.h"

static char array[SAMPLE_ARRAY_SIZE] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9'};
static u64 zeroed[100];
const u32 sample_table[4] = {2, 3, 5, 7};
/* Pointers in constants and in variables: absolute relocations. */
static const char *const words[] = {"zero", "one", "two", "three", "four", "five", "six"};
static int (*operation)(int a, int b) = sample_sum;

/* No file defines this symbol: its address is null, read from a global offset table or a literal. */
extern int module_sample_absent __weak;

int sample_sum(int a, int b)
{
	return a + b;
}

int sample_through_pointer(int a, int b)
{
	return operation(a, b);
}

const char *sample_word(unsigned int i)
{
	return i < ARRAY_SIZE(words) ? words[i] : NULL;
}

/* Enough cases for a jump table, whose entries are relative to each other. */
int sample_switch(int value)
{
	switch (value) {
	case 0:
		return module_test_number;
	case 1:
		return 17;
	case 2:
		return -3;
	case 3:
		return 4711;
	case 4:
		return (int)strlen("four");
	case 5:
		return -module_test_number;
	case 6:
		return 12;
	default:
		return 0;
	}
}

/* In a section of its own, far from nothing but reached by a branch between sections. */
__section(".text.unlikely") noinline int sample_cold(int value)
{
	return sample_switch(value) + 1;
}

bool sample_is_clean(void)
{
	if (&module_sample_absent || memchr_inv(zeroed, 0, sizeof(zeroed)))
		return false;
	zeroed[50] = 1;
	return true;
}

struct module *sample_self(void)
{
	return THIS_MODULE;
}

int sample_read_array(size_t i)
{
	const volatile char *p = array;

	return p[i];
}

static DEFINE_PER_CPU(char[SAMPLE_ARRAY_SIZE], sample_copy);

int sample_read_copy(unsigned int cpu, size_t i)
{
	const volatile char *p = per_cpu(sample_copy, cpu);

	return p[i];
}

void *sample_alloc(size_t size)
{
	return kmalloc(size, GFP_KERNEL);
}

int sample_read(const void *p, size_t i)
{
	return ((const volatile char *)p)[i];
}

__attribute__((constructor)) static void sample_constructor(void)
{
	module_test_counts.constructors++;
}

__attribute__((destructor)) static void sample_destructor(void)
{
	module_test_counts.destructors++;
}

static int sample_init(void)
{
	module_test_counts.inits++;
	return module_test_init_result;
}

static void sample_exit(void)
{
	module_test_counts.exits++;
}

module_init(sample_init);
module_exit(sample_exit);
MODULE_LICENSE("MIT");
MODULE_DESCRIPTION("what the tests load");

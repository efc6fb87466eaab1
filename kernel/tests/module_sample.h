/* SPDX-License-Identifier: MIT */
/* module_sample.h - between the test kernel and the modules that it loads. */
#ifndef TESTS_MODULE_SAMPLE_H
#define TESTS_MODULE_SAMPLE_H

#include <kernel/module.h>
#include <kernel/types.h>

#define SAMPLE_ARRAY_SIZE 10

/* In the kernel. */
struct module_test_counts {
	int constructors, destructors, inits, exits;
};
extern struct module_test_counts module_test_counts;
extern int module_test_init_result, module_test_number;

/* In module_sample; module_user has only the last one. */
extern const u32 sample_table[4];
int sample_sum(int a, int b);
int sample_through_pointer(int a, int b);
const char *sample_word(unsigned int i);
int sample_switch(int value);
int sample_cold(int value);
bool sample_is_clean(void);
struct module *sample_self(void);
int sample_read_array(size_t i);
/* A copy of SAMPLE_ARRAY_SIZE bytes. */
int sample_read_copy(unsigned int cpu, size_t i);
void *sample_alloc(size_t size);
int sample_read(const void *p, size_t i);
int user_product(int a, int b);

/* The files, in the test kernel's constants. */
extern const char module_sample_start[], module_sample_end[];
extern const char module_user_start[], module_user_end[];

#endif

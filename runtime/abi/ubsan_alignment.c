/* SPDX-License-Identifier: MIT */
/*
 * ubsan_alignment.c - called by code built with -fsanitize=alignment when a pointer is not aligned as its type
 * requires.
 *
 * That alone is not reported: the CPUs can do such accesses, and programs make them. But an inline check assumes that
 * an access of 2, 4, 8 or 16 bytes is aligned, and looks only at the granule of its first byte. So it misses a
 * misaligned access that starts well and ends in a bad granule. This function reports those and no others, so that each
 * access has one report.
 *
 * Outline checks compare whole accesses: code with them needs no -fsanitize=alignment.
 */
#include "../report/check.h"

#if defined(CONFIG_KASAN_GENERIC) || defined(CONFIG_KASAN_SW_TAGS)

/* The compilers' data, as in the first version of this ABI. */
struct type_descriptor {
	uint16_t kind; /* KIND_* */
	uint16_t
		info; /* integer: twice the logarithm of its bits, plus its sign; float: its bits */
	char name[];  /* in quotes */
};

struct type_mismatch {
	const char *file;
	uint32_t line, column;
	const struct type_descriptor *type;
	uint8_t log_alignment;
	uint8_t access; /* ACCESS_LOAD, ACCESS_STORE, or what else is done with the pointer */
};

#define KIND_INTEGER 0
#define KIND_FLOAT   1
#define ACCESS_LOAD  0
#define ACCESS_STORE 1

/* Return: the size of an access that inline checks assume to be aligned, 0 for others. */
static size_t size_of(const struct type_mismatch *data)
{
	const struct type_descriptor *type = data->type;

	if (type->kind == KIND_INTEGER)
		return ((size_t)1 << (type->info >> 1)) / 8;
	if (type->kind == KIND_FLOAT)
		return type->info / 8;
	/* A pointer. GCC passes this kind for all types, so the sizes of structures are not known here. */
	return data->log_alignment <= 4 ? (size_t)1 << data->log_alignment : 0;
}

/* Return: how many bytes from @addr on the inline check of an access of @size bytes covers. */
static size_t checked_inline(uintptr_t addr, size_t size)
{
	size_t granules = size > KASAN_GRANULE_SIZE ? size : KASAN_GRANULE_SIZE;

	return granules - (addr & KASAN_GRANULE_MASK);
}

void __ubsan_handle_type_mismatch_v1(const struct type_mismatch *data, uintptr_t addr);
KASAN_ABI void __ubsan_handle_type_mismatch_v1(const struct type_mismatch *data, uintptr_t addr)
{
	uintptr_t bad;
	size_t size;

	if (data->access != ACCESS_LOAD && data->access != ACCESS_STORE)
		return;
	size = size_of(data);
	if (!size || addr + size - 1 < addr || !kasan_find_bad(addr, size, &bad))
		return;
	/* @bad has no tag. */
	if ((size_t)(uint8_t)(bad - addr) < checked_inline(addr, size))
		return;
	kasan_report_access(addr, size, data->access == ACCESS_STORE, KASAN_CALLER_IP(),
			    KASAN_CALLER_FP());
}

/* __builtin_assume_aligned() got a pointer that is not aligned: nothing is accessed yet. */
void __ubsan_handle_alignment_assumption(void *data, uintptr_t addr, uintptr_t alignment,
					 uintptr_t offset);
KASAN_ABI void __ubsan_handle_alignment_assumption(void *data, uintptr_t addr, uintptr_t alignment,
						   uintptr_t offset)
{
	(void)data;
	(void)addr;
	(void)alignment;
	(void)offset;
}

#endif /* CONFIG_KASAN_GENERIC || CONFIG_KASAN_SW_TAGS */

/* SPDX-License-Identifier: MIT */
/*
 * alignment.c - misaligned accesses that KASAN's inline checks miss, found by code built with -fsanitize=alignment.
 *
 * An inline check assumes that an access of 2, 4, 8 or 16 bytes is aligned, and looks only at the granule of its first
 * byte. So it misses a misaligned access that starts well and ends in a bad granule. This file reports those and no
 * others, so that each access has one report.
 *
 * Without CONFIG_KASAN_UBSAN that is all: the CPUs can do misaligned accesses, and programs make them. With it handlers.c has
 * the functions that the compiler calls, and reports what is not found here.
 *
 * Outline checks compare whole accesses: code with them needs no -fsanitize=alignment.
 */
#include "data.h"

#ifdef UBSAN_KNOWS_MEMORY

/* Return: the size of an access that inline checks assume to be aligned, 0 for others. */
static size_t size_of(const struct ubsan_type_mismatch *data)
{
	const struct ubsan_type *type = data->type;

	if (type->kind == UBSAN_INTEGER)
		return ((size_t)1 << (type->info >> 1)) / 8;
	if (type->kind == UBSAN_FLOAT)
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

bool ubsan_check_misaligned(const struct ubsan_type_mismatch *data, uintptr_t addr, uintptr_t ip,
			    uintptr_t fp)
{
	uintptr_t bad;
	size_t size;

	if (data->access != UBSAN_LOAD && data->access != UBSAN_STORE)
		return false;
	size = size_of(data);
	if (!size || addr + size - 1 < addr || !kasan_find_bad(addr, size, &bad))
		return false;
	/* @bad has no tag. */
	if ((size_t)(uint8_t)(bad - addr) < checked_inline(addr, size))
		return false;
	kasan_report_access(addr, size, data->access == UBSAN_STORE, ip, fp);
	return true;
}

#ifndef CONFIG_KASAN_UBSAN

void __ubsan_handle_type_mismatch_v1(const struct ubsan_type_mismatch *data, uintptr_t addr);
KASAN_ABI void __ubsan_handle_type_mismatch_v1(const struct ubsan_type_mismatch *data,
					       uintptr_t addr)
{
	ubsan_check_misaligned(data, addr, KASAN_CALLER_IP(), KASAN_CALLER_FP());
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

#endif

#endif /* UBSAN_KNOWS_MEMORY */

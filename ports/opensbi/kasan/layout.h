/* SPDX-License-Identifier: MIT */
/*
 * layout.h - where OpenSBI, its shadow and the runtime's tables are, from the start of firmware on, wherever that is; and,
 * for all files (-include), the names of what lies in the harts' scratch areas.
 *
 *	0        image, harts' stacks with their scratch areas, heap: the window
 *	4 MiB    its shadow, 512 KiB
 *	4.5 MiB  tables of the runtime
 *	8 MiB    what comes next (FW_JUMP_OFFSET)
 */
#ifndef OPENSBI_LAYOUT_H
#define OPENSBI_LAYOUT_H

#define WINDOW_SIZE 0x400000UL
#define SHADOW_SIZE (WINDOW_SIZE / 8)
#define POOL_SIZE   (0x800000UL - WINDOW_SIZE - SHADOW_SIZE)

/* A hart's stack, its scratch area in it; OpenSBI's own is 8 KiB. Frames with redzones are larger. */
#define HART_STACK  0x8000UL
#define STACK_GUARD 256UL
/* Objects of the heap have headers and redzones, and freed ones are held back. */
#define MORE_HEAP 0x80000UL
#define HEAP_HELD 0x20000UL

/* Redzone after an allocation in the scratch areas, which are small. */
#define SCRATCH_REDZONE 16UL
/* Its name in reports is the place where it is made. */
#include <sbi/sbi_const.h>
#include <sbi/sbi_scratch.h>
#define sbi_scratch_alloc_offset(size) \
	kasan_scratch_alloc(size, __FILE_NAME__ ":" STRINGIFY(__LINE__))
unsigned long kasan_scratch_alloc(unsigned long size, const char *where);

#endif /* OPENSBI_LAYOUT_H */

/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the kernel's address space (Sv48) and the translation between addresses and memory.
 *
 * Assembly and C include it: the first part of this file has preprocessor constants only.
 *
 *   ffff800000000000  linear map of all RAM                  (PAGE_OFFSET .. PAGE_END)
 *   ffffbf8000000000  devices, device tree                   (ioremap())
 *   ffffc00000000000  vmalloc, task stacks
 *   ffffef8000000000  KASAN shadow of the whole upper half
 *   ffffffff84000000  modules
 *   ffffffff90000000  the kernel image
 *
 * Each line but the last begins at an entry of the top table, which maps 512 GiB. The image lies in the last 2 GiB, so that
 * code reaches it, and address 0 for weak symbols, relative to the pc.
 */
#ifndef ASM_MEMORY_H
#define ASM_MEMORY_H

#ifdef __ASSEMBLER__
#define _AC_UL(x) x
#define PAGE_SIZE (1 << CONFIG_PAGE_SHIFT) /* C: <kernel/types.h> */
#else
#define _AC_UL2(x) x##UL
#define _AC_UL(x)  _AC_UL2(x)
#endif

#if CONFIG_PAGE_SHIFT != 12
#error the pages of RISC-V have 4 KiB
#endif

#define VA_BITS 48

#define PAGE_OFFSET _AC_UL(0xffff800000000000)
#define PAGE_END    _AC_UL(0xffffbf8000000000)

/* User addresses are below this. */
#define TASK_SIZE (_AC_UL(1) << (VA_BITS - 1))

#define IOREMAP_START _AC_UL(0xffffbf8000000000)
#define IOREMAP_END   _AC_UL(0xffffbf8007000000)

/* Fixed places, known before anything can be allocated. */
#define FIX_TEXT_VADDR \
	_AC_UL(0xffffbf8007002000) /* two pages of code while it is changed: patch.c */
#define FIX_FDT_VADDR _AC_UL(0xffffbf8007200000) /* device tree: 2 MiB at any 4 KiB boundary */
#define FIX_FDT_SIZE  _AC_UL(0x200000)

/* 16 TiB: 32 entries of the top table, which are all made at boot: see tlb_prepare_top(). */
#define VMALLOC_START _AC_UL(0xffffc00000000000)
#define VMALLOC_END   _AC_UL(0xffffd00000000000)

#define MODULES_VADDR _AC_UL(0xffffffff84000000)
#define MODULES_END   _AC_UL(0xffffffff8c000000)

#define KIMAGE_VADDR _AC_UL(0xffffffff90000000)
#define KIMAGE_END   _AC_UL(0xffffffff98000000)
/* Where the ELF file is loaded. */
#define KIMAGE_LOAD 0x80200000

/*
 * Stacks that exist before there is an allocator, and the stack that a CPU changes to when its thread has
 * run out of stack. Instrumented frames are up to four times as large as plain ones.
 */
#define BOOT_STACK_SIZE	     _AC_UL(32768)
#define OVERFLOW_STACK_SHIFT 14
#define OVERFLOW_STACK_SIZE  (_AC_UL(1) << OVERFLOW_STACK_SHIFT)

#ifndef __ASSEMBLER__

#include <kernel/memory.h>

#ifdef CONFIG_KASAN_SHADOW_OFFSET
/* Shadow of the lowest kernel address, and the end of the shadow of the highest. */
#define KASAN_SHADOW_START ((PAGE_OFFSET >> KASAN_SHADOW_SCALE_SHIFT) + CONFIG_KASAN_SHADOW_OFFSET)
#define KASAN_SHADOW_END   ((1UL << (64 - KASAN_SHADOW_SCALE_SHIFT)) + CONFIG_KASAN_SHADOW_OFFSET)

_Static_assert(PAGE_OFFSET == CONFIG_KASAN_SHADOW_LOW, "the shadow starts with the linear map's");
_Static_assert(KASAN_SHADOW_START >= VMALLOC_END && KASAN_SHADOW_START < KASAN_SHADOW_END &&
		       KASAN_SHADOW_END <= MODULES_VADDR,
	       "the shadow lies between vmalloc space and the modules");
_Static_assert(!((KASAN_SHADOW_START | KASAN_SHADOW_END) & ((1UL << 39) - 1)),
	       "the shadow has entries of the top table for itself");
#endif

#endif /* !__ASSEMBLER__ */
#endif /* ASM_MEMORY_H */

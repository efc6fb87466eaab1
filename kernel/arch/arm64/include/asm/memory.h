/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the kernel's address space and the translation between addresses and memory.
 *
 * Assembly and C include it: the first part of this file has preprocessor constants only.
 *
 *   ffff000000000000  linear map of all RAM                  (PAGE_OFFSET .. PAGE_END)
 *   ffff600000000000  KASAN shadow of the whole upper half
 *   ffff800078000000  modules
 *   ffff800080000000  the kernel image
 *   ffff800088000000  devices, early console, device tree    (ioremap())
 *   ffff800090000000  vmalloc, task stacks
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
#error head.S and pgtable.c are written for pages of 4 KiB
#endif

#define VA_BITS 48

#define PAGE_OFFSET _AC_UL(0xffff000000000000)
#define PAGE_END    _AC_UL(0xffff600000000000)

/* User addresses are below this. */
#define TASK_SIZE (_AC_UL(1) << VA_BITS)

#define MODULES_VADDR _AC_UL(0xffff800078000000)
#define MODULES_END   _AC_UL(0xffff800080000000)

#define KIMAGE_VADDR _AC_UL(0xffff800080000000)
#define KIMAGE_END   _AC_UL(0xffff800088000000)
/* Where the ELF file is loaded. */
#define KIMAGE_LOAD 0x40200000

#define IOREMAP_START _AC_UL(0xffff800088000000)
#define IOREMAP_END   _AC_UL(0xffff80008f000000)

/* Fixed places, known before anything can be allocated. */
#define FIX_UART_VADDR _AC_UL(0xffff80008f000000) /* console UART, from the first C function on */
#define FIX_TEXT_VADDR _AC_UL(0xffff80008f002000) /* a page of code while it is changed: patch.c */
#define FIX_FDT_VADDR  _AC_UL(0xffff80008f200000) /* device tree: 2 MiB at any 4 KiB boundary */
#define FIX_FDT_SIZE   _AC_UL(0x200000)

/* The UART of QEMU's "virt" machine: the console until the device tree has been read. 2 MiB aligned. */
#define PL011_DEFAULT_PHYS _AC_UL(0x09000000)

#define VMALLOC_START _AC_UL(0xffff800090000000)
#define VMALLOC_END   _AC_UL(0xffffa00000000000)

/*
 * Stacks that exist before there is an allocator, and the stack that a CPU changes to when its thread has
 * run out of stack. Instrumented frames are up to four times as large as plain ones.
 */
#define BOOT_STACK_SIZE	     _AC_UL(32768)
#define OVERFLOW_STACK_SHIFT 14
#define OVERFLOW_STACK_SIZE  (_AC_UL(1) << OVERFLOW_STACK_SHIFT)

/* PSTATE.{D,A,I,F} */
#define PSR_F_BIT _AC_UL(0x40)
#define PSR_I_BIT _AC_UL(0x80)
#define PSR_A_BIT _AC_UL(0x100)
#define PSR_D_BIT _AC_UL(0x200)

#ifndef __ASSEMBLER__

#include <kernel/memory.h>

#ifdef CONFIG_KASAN_SHADOW_OFFSET
/* Shadow of the lowest kernel address, and the end of the shadow of the highest. Software tags need half as
 * much; the part below stays empty. */
#define KASAN_SHADOW_START ((PAGE_OFFSET >> KASAN_SHADOW_SCALE_SHIFT) + CONFIG_KASAN_SHADOW_OFFSET)
#define KASAN_SHADOW_END   ((1UL << (64 - KASAN_SHADOW_SCALE_SHIFT)) + CONFIG_KASAN_SHADOW_OFFSET)

_Static_assert(PAGE_OFFSET == CONFIG_KASAN_SHADOW_LOW, "the shadow starts with the linear map's");
_Static_assert(KASAN_SHADOW_START >= PAGE_END && KASAN_SHADOW_START < KASAN_SHADOW_END &&
		       KASAN_SHADOW_END <= MODULES_VADDR,
	       "the shadow lies between the linear map and the modules");
#endif

#endif /* !__ASSEMBLER__ */
#endif /* ASM_MEMORY_H */

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

/* 16 TiB: 32 entries of the top table, which are all made at boot: see pgtable_prepare_top(). */
#define VMALLOC_START _AC_UL(0xffffc00000000000)
#define VMALLOC_END   _AC_UL(0xffffd00000000000)

#define MODULES_VADDR _AC_UL(0xffffffff84000000)
#define MODULES_END   _AC_UL(0xffffffff8c000000)

#define KIMAGE_VADDR _AC_UL(0xffffffff90000000)
#define KIMAGE_END   _AC_UL(0xffffffff98000000)

/*
 * Stacks that exist before there is an allocator, and the stack that a CPU changes to when its thread has
 * run out of stack. Instrumented frames are up to four times as large as plain ones.
 */
#define BOOT_STACK_SIZE	     _AC_UL(32768)
#define OVERFLOW_STACK_SHIFT 14
#define OVERFLOW_STACK_SIZE  (_AC_UL(1) << OVERFLOW_STACK_SHIFT)

#ifndef __ASSEMBLER__

#include <kasan/tag.h>
#include <kernel/types.h>

/* Physical address that PAGE_OFFSET maps; a multiple of 1 GiB. Set by setup_arch(). */
extern phys_addr_t memstart_addr;
/* Virtual minus physical address of the kernel image. head.S sets it. */
extern u64 kimage_voffset;

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

/* From the linker script: the image from its first byte to the end of .bss. */
extern char _text[], _etext[], _end[];
extern char __rodata_start[], __rodata_end[], __data_start[], _edata[];

#define __va(pa) ((void *)((unsigned long)(pa) - memstart_addr + PAGE_OFFSET))

/** __pa() - physical address of an address in the linear map or in the kernel image. */
static inline phys_addr_t __pa_nodebug(unsigned long va)
{
	va = kasan_untag_addr(va);
	if (va >= KIMAGE_VADDR)
		return va - kimage_voffset;
	return va - PAGE_OFFSET + memstart_addr;
}
#define __pa(va)	 __pa_nodebug((unsigned long)(va))
#define __pa_symbol(sym) ((phys_addr_t)(kasan_untag_addr((unsigned long)(sym)) - kimage_voffset))

/** is_linear_address() - Return: true if @va lies in the linear map's window (mapped or not). */
static inline bool is_linear_address(const void *va)
{
	unsigned long addr = kasan_untag_addr((unsigned long)va);

	return addr >= PAGE_OFFSET && addr < PAGE_END;
}

/** is_kernel_image() - Return: true if @va lies inside the kernel image, .bss included. */
static inline bool is_kernel_image(const void *va)
{
	unsigned long addr = kasan_untag_addr((unsigned long)va);

	return addr >= (unsigned long)_text && addr < (unsigned long)_end;
}

/** is_kernel_text() - Return: true if @pc is a code address. */
static inline bool is_kernel_text(unsigned long pc)
{
	return pc >= (unsigned long)_text && pc < (unsigned long)_etext;
}

#endif /* !__ASSEMBLER__ */
#endif /* ASM_MEMORY_H */

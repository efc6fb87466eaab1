/* SPDX-License-Identifier: MIT */
/* memory.h - translation between addresses and memory. <asm/memory.h>, which has the map of the address space, includes it. */
#ifndef KERNEL_MEMORY_H
#define KERNEL_MEMORY_H

#include <kasan/tag.h>
#include <kernel/types.h>

/* Physical address that PAGE_OFFSET maps; a multiple of 1 GiB. Set by setup_arch(). */
extern phys_addr_t memstart_addr;
/* Virtual minus physical address of the kernel image. head.S sets it. */
extern u64 kimage_voffset;

/* From the linker script: the image from its first byte to the end of .bss. */
extern char _text[], _etext[], _end[];
extern char __rodata_start[], __rodata_end[], __data_start[], _edata[];

#define __va(pa) ((void *)((unsigned long)(pa) - memstart_addr + PAGE_OFFSET))

/* These functions also take pointers with tags: see <kasan/tag.h>. */

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

#endif

// SPDX-License-Identifier: MIT
/*
 * board.c - the port's side towards U-Boot: the only file, with command.c, that includes U-Boot's headers.
 */
#include <common.h>
#include <blk.h>
#include <debug_uart.h>
#include <hang.h>
#include <malloc.h>
#include <asm/global_data.h>
#include <asm/ptrace.h>

#include "uboot.h"

DECLARE_GLOBAL_DATA_PTR;

/* Of <kasan/kasan.h>, see uboot.h. */
bool kasan_check_read(const volatile void *addr, size_t size);
bool kasan_check_write(const volatile void *addr, size_t size);
bool kasan_report_fault(uintptr_t addr, size_t size, int direction, uintptr_t ip, uintptr_t fp);

void uboot_get_layout(struct uboot_layout *layout)
{
	layout->ram_base = gd->ram_base;
	layout->ram_top = gd->ram_top;
	layout->hidden = CONFIG_VAL(SYS_MEM_TOP_HIDE);
	layout->reloc_offset = gd->reloc_off;
	layout->stack_top = gd->start_addr_sp;
	layout->early_start = gd->malloc_base;
	layout->early_end = gd->malloc_base + gd->malloc_limit;
}

void uboot_puts(const char *text)
{
	printascii(text);
}

void __noreturn uboot_hang(const char *why)
{
	printascii(why);
	printascii("\n");
	hang();
}

/* --- Leak counters -------------------------------------------------------------------------------------- */

struct mallinfo __real_mallinfo(void);
struct mallinfo __wrap_mallinfo(void);

struct mallinfo __wrap_mallinfo(void)
{
	uboot_heap_settle();
	return __real_mallinfo();
}

unsigned long uboot_heap_used(void)
{
	return (unsigned long)__real_mallinfo().uordblks;
}

/* --- Block devices write memory by DMA: the buffer is checked in their place ------------------------------- */

unsigned long __real_blk_dread(struct blk_desc *desc, lbaint_t start, lbaint_t count, void *buffer);
unsigned long __wrap_blk_dread(struct blk_desc *desc, lbaint_t start, lbaint_t count, void *buffer);
unsigned long __real_blk_dwrite(struct blk_desc *desc, lbaint_t start, lbaint_t count,
				const void *buffer);
unsigned long __wrap_blk_dwrite(struct blk_desc *desc, lbaint_t start, lbaint_t count,
				const void *buffer);

unsigned long __wrap_blk_dread(struct blk_desc *desc, lbaint_t start, lbaint_t count, void *buffer)
{
	/* A transfer that would overwrite something else is left out, as a checked memcpy() is. */
	if (!kasan_check_write(buffer, count * desc->blksz))
		return 0;
	return __real_blk_dread(desc, start, count, buffer);
}

unsigned long __wrap_blk_dwrite(struct blk_desc *desc, lbaint_t start, lbaint_t count,
				const void *buffer)
{
	if (!kasan_check_read(buffer, count * desc->blksz))
		return 0;
	return __real_blk_dwrite(desc, start, count, buffer);
}

/* --- Faults ----------------------------------------------------------------------------------------------- */

#ifdef CONFIG_ARM64
#define ESR_EC(esr)   (((esr) >> 26) & 0x3f)
#define EC_DATA_ABORT 0x25
#define ESR_WNR	      BIT(6)
#define ESR_FNV	      BIT(10)

void __real_do_sync(struct pt_regs *regs);
void __wrap_do_sync(struct pt_regs *regs);

static unsigned long fault_address(void)
{
	unsigned long level, address;

	asm volatile("mrs %0, CurrentEL" : "=r"(level));
	if (level >> 2 == 3)
		asm volatile("mrs %0, far_el3" : "=r"(address));
	else if (level >> 2 == 2)
		asm volatile("mrs %0, far_el2" : "=r"(address));
	else
		asm volatile("mrs %0, far_el1" : "=r"(address));
	return address;
}

/* An access outside every window counts only if the bus refuses it. */
void __wrap_do_sync(struct pt_regs *regs)
{
	const int data = ESR_EC(regs->esr) == EC_DATA_ABORT && !(regs->esr & ESR_FNV);
	unsigned long next;

	if (data)
		kasan_report_fault(fault_address(), 0, !!(regs->esr & ESR_WNR), regs->elr,
				   regs->regs[29]);
	next = uboot_note_fault(regs->esr, fault_address(), regs->elr, data);
	if (next)
		regs->elr = next;
	else
		__real_do_sync(regs);
}
#endif

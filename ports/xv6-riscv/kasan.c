/* SPDX-License-Identifier: MIT */
/*
 * kasan.c - the port: xv6 under KASAN. It takes the place of some of xv6's functions by the linker's --wrap; no file of
 * xv6 is changed. Not instrumented.
 *
 * QEMU has more memory than xv6 knows. There lie the shadow of xv6's memory, the runtime's tables, and shadow for the
 * kernel stacks, which have a mapping of their own at the top of the address space.
 */
#include <kasan/port_kit.h>
#include "types.h"
#include "param.h"
#include "memlayout.h"
#include "riscv.h"
#include "spinlock.h"
#include "proc.h"
#include "defs.h"

#define RAM_SIZE (PHYSTOP - KERNBASE)
#define STACKS	 (MAXVA - (1 << 20))

KASAN_PORT_POOL(PHYSTOP + RAM_SIZE / 8, RAM_SIZE / 8);
KASAN_PORT_CONSOLE(uartputc_sync, panic);
KASAN_PORT_REPORT_STACKS(2 * PGSIZE);
KASAN_WRAP_PAGES(pages, kalloc, kfree, 8, 256 * PGSIZE);
KASAN_WRAP_TRAP(kerneltrap);

extern char stack0[NCPU][PGSIZE], end[];
extern pagetable_t kernel_pagetable;
void __real_kvminit(void), __real_procinit(void), forkret(void);
void __real_swtch(struct context *old, struct context *new);

/* The outermost frame record, at the very top of a stack, holds registers of user mode. */
void kasan_port_task(struct kasan_port_task *task)
{
	struct proc *p = cpus[r_tp()].proc;

	task->id = p ? p->pid : 0;
	task->name = p ? p->name : "scheduler";
	task->stack_start = r_sp() >= STACKS ? PGROUNDDOWN(r_sp()) : (uint64)stack0[r_tp()];
	task->stack_end = task->stack_start + PGSIZE - 16;
}

/* The first hart, alone: kinit() has made the list of free pages, paging is off. */
void __wrap_kvminit(void)
{
	kasan_start(KERNBASE, RAM_SIZE, PHYSTOP);
	kasan_start_pages(&pages, end, PHYSTOP);
	__real_kvminit();
	kvmmap(kernel_pagetable, PHYSTOP, PHYSTOP, RAM_SIZE / 4, PTE_R | PTE_W);
	kvmmap(kernel_pagetable, (uint64)kasan_window_shadow(STACKS), PHYSTOP + RAM_SIZE / 4,
	       (MAXVA - STACKS) / 8, PTE_R | PTE_W);
}

/* Paging is on: the shadow of the kernel stacks can be reached. */
void __wrap_procinit(void)
{
	__real_procinit();
	kasan_must(kasan_window_add(STACKS, MAXVA - STACKS, kasan_window_shadow(STACKS)));
}

/* A process that begins gets the stack of one that ended without unwinding. */
void __wrap_swtch(struct context *old, struct context *new)
{
	if (new->ra == (uint64)forkret)
		kasan_unpoison_stack((void *)(new->sp - PGSIZE), (void *)new->sp);
	__real_swtch(old, new);
}

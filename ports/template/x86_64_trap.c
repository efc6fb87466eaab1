/* SPDX-License-Identifier: MIT */
/*
 * x86_64_trap.c - x86-64's faults: finds the access behind one, and reports it with the interrupted code's registers.
 * Never instrumented.
 *
 * Only a page fault comes with an address. One that is not canonical (bits 63 to 47 differ; with 5-level tables 63 to 56)
 * raises #GP, or #SS if rbp or rsp is the base: then the instruction says which it was. Inline checks of most wild
 * pointers, null included, load shadow at such an address too.
 */
#include "x86_64_trap.h"

#include <kasan/kasan.h>
#include <kasan/port.h>

#define CR4_LA57    (1UL << 12)
#define MSR_FS_BASE 0xc0000100
#define MSR_GS_BASE 0xc0000101

static bool is_canonical(uintptr_t addr)
{
	unsigned int unused;
	uintptr_t cr4;

	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	unused = cr4 & CR4_LA57 ? 7 : 16;
	return (uintptr_t)((intptr_t)(addr << unused) >> unused) == addr;
}

static uintptr_t read_msr(uint32_t number)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(number));
	return (uintptr_t)high << 32 | low;
}

static bool is_shadow_of(uintptr_t shadow, uintptr_t addr)
{
	uintptr_t granule;

	return kasan_shadow_fault_to_access(shadow, &granule) &&
	       granule == (addr & ~(uintptr_t)KASAN_GRANULE_MASK);
}

/*
 * Is @access the load of shadow in an inline check? Then it becomes the access that was checked.
 *
 * The pointer is still in a register, because the access comes next. If it is not, a load of one or two bytes at an
 * address that is not canonical is one, because hardly any wild pointer has the value of shadow.
 */
static bool was_check(const struct kasan_x86_64_frame *frame, struct kasan_x86_64_access *access)
{
	uintptr_t addr;
	unsigned int i;

	if (access->is_branch || access->direction == KASAN_FAULT_WRITE || access->size > 2)
		return false;
	for (i = 0; i < 16; i++) {
		addr = frame->regs[i];
		if (addr != access->addr && is_shadow_of(access->addr, addr))
			break;
	}
	if (i == 16 && (!access->size || is_canonical(access->addr) ||
			!kasan_shadow_fault_to_access(access->addr, &addr)))
		return false;
	access->addr = addr;
	access->size = 0;
	access->direction = KASAN_FAULT_UNKNOWN;
	return true;
}

/* The instruction is not known. Return: is one of the registers no address? The first is reported. */
static bool guess(const struct kasan_x86_64_frame *frame, struct kasan_x86_64_access *access)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		if (is_canonical(frame->regs[i]))
			continue;
		access->addr = frame->regs[i];
		access->size = 0;
		access->direction = KASAN_FAULT_UNKNOWN;
		return true;
	}
	return false;
}

static void print_registers(const struct kasan_x86_64_frame *frame)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
	unsigned int i;

	kasan_report_line("kasan: the operand of this instruction is not known; registers:");
	for (i = 0; i < 16; i += 4)
		kasan_report_line("%3s: %p %3s: %p %3s: %p %3s: %p", names[i],
				  (void *)frame->regs[i], names[i + 1], (void *)frame->regs[i + 1],
				  names[i + 2], (void *)frame->regs[i + 2], names[i + 3],
				  (void *)frame->regs[i + 3]);
}

static bool report_at(const struct kasan_x86_64_frame *frame, const struct kasan_port_task *task,
		      const struct kasan_x86_64_access *access)
{
	const struct kasan_regs regs = {.pc = frame->rip,
					.sp = frame->rsp,
					.fp = frame->regs[KASAN_X86_64_RBP],
					.stack_start = task->stack_start,
					.stack_end = task->stack_end};

	return kasan_report_fault_at(access->addr, access->size, access->direction, &regs);
}

static void report_overflow(const struct kasan_x86_64_frame *frame,
			    const struct kasan_port_task *task, uintptr_t addr)
{
	const struct kasan_regs regs = {.pc = frame->rip,
					.sp = frame->rsp,
					.fp = frame->regs[KASAN_X86_64_RBP],
					.stack_start = task->stack_start,
					.stack_end = task->stack_end};

	kasan_report_stack_overflow(task, addr, &regs);
}

/* #GP and #SS do not say what for. */
static bool report_protection(const struct kasan_x86_64_frame *frame,
			      const struct kasan_port_task *task)
{
	struct kasan_x86_64_access access = {0};
	enum kasan_x86_64_operand operand = KASAN_X86_64_OPERAND;

	if (!is_canonical(frame->rip)) {
		/* Some processors branch first, and then fault. */
		access.addr = frame->rip;
		access.direction = KASAN_FAULT_READ;
		access.is_branch = true;
	} else {
		operand = kasan_x86_64_decode(frame, is_canonical, read_msr(MSR_FS_BASE),
					      read_msr(MSR_GS_BASE), &access);
		if (operand == KASAN_X86_64_NO_OPERAND ||
		    (operand == KASAN_X86_64_UNKNOWN && !guess(frame, &access)))
			return false;
		/* A misaligned vector, a bad selector, a reserved bit of a register. */
		if (is_canonical(access.addr) &&
		    is_canonical(access.addr + (access.size ? access.size - 1 : 0)))
			return false;
		was_check(frame, &access);
	}
	if (report_at(frame, task, &access) && operand == KASAN_X86_64_UNKNOWN)
		print_registers(frame);
	return true;
}

bool kasan_x86_64_report(const struct kasan_x86_64_frame *frame, uintptr_t cr2)
{
	const bool is_page = frame->vector == KASAN_X86_64_PF;
	struct kasan_x86_64_access access = {.addr = cr2}, decoded;
	struct kasan_port_task task = {0};

	/* User mode's faults are its own. */
	if (frame->cs & 3)
		return false;
	kasan_x86_64_task(frame->rsp, &task);
	if ((is_page || frame->vector == KASAN_X86_64_DF) && task.stack_start &&
	    task.stack_start - 1 - cr2 < KASAN_X86_64_GUARD) {
		report_overflow(frame, &task, cr2);
		return true;
	}
	if (frame->vector == KASAN_X86_64_GP || frame->vector == KASAN_X86_64_SS)
		return report_protection(frame, &task);
	if (!is_page)
		return false;
	access.direction =
		frame->error & KASAN_X86_64_PF_WRITE ? KASAN_FAULT_WRITE : KASAN_FAULT_READ;
	access.is_branch = frame->error & KASAN_X86_64_PF_EXECUTE || cr2 == frame->rip;
	/* The second half of an access may be what faulted: then the sizes do not say where it began. */
	if (!access.is_branch &&
	    kasan_x86_64_decode(frame, is_canonical, read_msr(MSR_FS_BASE), read_msr(MSR_GS_BASE),
				&decoded) == KASAN_X86_64_OPERAND &&
	    decoded.addr == cr2)
		access.size = decoded.size;
	was_check(frame, &access);
	report_at(frame, &task, &access);
	return true;
}

void kasan_x86_64_trap(struct kasan_x86_64_frame *frame)
{
	uintptr_t cr2;

	__asm__ volatile("mov %%cr2, %0" : "=r"(cr2));
	kasan_x86_64_after_fault(frame, kasan_x86_64_report(frame, cr2));
}

const char *kasan_x86_64_name(const struct kasan_x86_64_frame *frame)
{
	switch (frame->vector) {
	case KASAN_X86_64_DF:
		return "#DF: double fault";
	case KASAN_X86_64_SS:
		return "#SS: stack fault";
	case KASAN_X86_64_GP:
		return "#GP: general protection";
	case KASAN_X86_64_PF:
		return "#PF: page fault";
	default:
		return "exception";
	}
}

__attribute__((weak)) void kasan_x86_64_after_fault(struct kasan_x86_64_frame *frame, bool reported)
{
	(void)reported;
	kasan_port_panic(kasan_x86_64_name(frame));
}

__attribute__((weak)) void kasan_x86_64_task(uintptr_t sp, struct kasan_port_task *task)
{
	(void)sp;
	kasan_port_task(task);
}

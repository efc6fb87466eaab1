/* SPDX-License-Identifier: MIT */
/*
 * cortexm_fault.c - the fault handler of Cortex-M: finds the interrupted code's registers, and reports. Never
 * instrumented. Cortex-M3 and later; on Cortex-M0 and M0+ a HardFault has no address and no reason.
 *
 * Which registers tell what, and the layout of the pushed frame: Armv6-M, Armv7-M and Armv8-M Architecture Reference
 * Manuals, exception entry and System Control Block.
 */
#include "cortexm_fault.h"

#include <kasan/kasan.h>
#include <kasan/port.h>

#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
#define HAS_STATUS 0
#else
#define HAS_STATUS 1
#endif

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define CCR		  REGISTER(0xe000ed14)
#define SHCSR		  REGISTER(0xe000ed24)
#define CFSR		  REGISTER(0xe000ed28)
#define HFSR		  REGISTER(0xe000ed2c)
#define MMFAR		  REGISTER(0xe000ed34)
#define BFAR		  REGISTER(0xe000ed38)

#define IACCVIOL    (1U << 0)
#define MSTKERR	    (1U << 4)
#define MMARVALID   (1U << 7)
#define IBUSERR	    (1U << 8)
#define IMPRECISERR (1U << 10)
#define STKERR	    (1U << 12)
#define BFARVALID   (1U << 15)
#define UNDEFINSTR  (1U << 16)
#define INVSTATE    (1U << 17)
#define INVPC	    (1U << 18)
#define NOCP	    (1U << 19)
#define STKOF	    (1U << 20) /* Armv8-M */
#define UNALIGNED   (1U << 24)
#define DIVBYZERO   (1U << 25)

#define EXC_RETURN_BASIC (1U << 4) /* no floating-point registers were pushed */
#define EXC_RETURN_PSP	 (1U << 2)

/* Words of the pushed frame. */
#define FRAME_LR  5
#define FRAME_PC  6
#define FRAME_PSR 7
#define PSR_PAD	  (1U << 9) /* a word was left out below, to align the frame to 8 bytes */

void kasan_cortexm_fault(uint32_t exc_return, uintptr_t msp, uintptr_t psp, const uintptr_t *saved);

/* These belong to the interrupted code, while a fault is handled. */
static uintptr_t fault_sp;

uintptr_t kasan_cortexm_sp(void)
{
	return fault_sp ? fault_sp : (uintptr_t)__builtin_frame_address(0);
}

void kasan_cortexm_enable_faults(void)
{
#if HAS_STATUS
	SHCSR |= 7U << 16;
	CCR |= 1U << 4;
#endif
}

/* r7 and r11 are still those of the interrupted code: saved[2] and saved[0]. r4 only keeps the stack aligned. */
__attribute__((naked)) void kasan_cortexm_fault_entry(void)
{
	__asm__ volatile("mov r0, lr\n\t"
			 "mrs r1, msp\n\t"
			 "mrs r2, psp\n\t"
			 "mov r3, r11\n\t"
			 "push {r3, r4, r7, lr}\n\t"
			 "mov r3, sp\n\t"
			 "bl kasan_cortexm_fault\n\t"
			 "pop {r3, r4, r7, pc}");
}

const char *kasan_cortexm_name(const struct kasan_cortexm_fault *fault)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} reasons[] = {
		{STKOF, "UsageFault: stack overflow"},
		{MSTKERR, "MemManage: the stack cannot be written"},
		{STKERR, "BusFault: the stack cannot be written"},
		{MMARVALID, "MemManage: access refused"},
		{BFARVALID, "BusFault: access refused"},
		{IACCVIOL, "MemManage: no code there"},
		{IBUSERR, "BusFault: no code there"},
		{INVSTATE, "UsageFault: call of what is no Thumb code"},
		{IMPRECISERR, "BusFault: an earlier write was refused (imprecise)"},
		{UNDEFINSTR, "UsageFault: undefined instruction"},
		{INVPC, "UsageFault: wrong return from an exception"},
		{NOCP, "UsageFault: the coprocessor is off"},
		{UNALIGNED, "UsageFault: unaligned access"},
		{DIVBYZERO, "UsageFault: division by zero"},
	};
	unsigned int i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (fault->cfsr & reasons[i].bit)
			return reasons[i].name;
	}
	return "HardFault";
}

__attribute__((weak)) void kasan_cortexm_after_fault(const struct kasan_cortexm_fault *fault)
{
	kasan_port_panic(kasan_cortexm_name(fault));
}

__attribute__((weak)) bool kasan_cortexm_stack_guard(const struct kasan_cortexm_fault *fault,
						     struct kasan_port_task *task,
						     struct kasan_regs *regs)
{
	(void)fault;
	(void)task;
	(void)regs;
	return false;
}

__attribute__((weak)) bool kasan_cortexm_sampled(const struct kasan_cortexm_fault *fault)
{
	(void)fault;
	return false;
}

static uintptr_t stack_limit(void)
{
	uintptr_t limit = 0;

#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
	__asm__ volatile("mrs %0, psplim" : "=r"(limit));
#endif
	return limit;
}

static void find_registers(struct kasan_cortexm_fault *fault, uintptr_t sp, const uintptr_t *saved)
{
	struct kasan_regs *const regs = &fault->regs;
	const uint32_t *const frame = fault->frame = (uint32_t *)sp;

	regs->sp = sp;
	regs->fp = saved[2];
	regs->r11 = saved[0];
	/* Armv8-M leaves the stack pointer at its limit if the frame does not fit. */
	fault->has_frame = !(fault->cfsr & (MSTKERR | STKERR)) &&
			   !(fault->cfsr & STKOF && sp == stack_limit()) && !(sp & 3) &&
			   kasan_port_readable(frame, 32);
	if (!fault->has_frame)
		return;
	regs->pc = frame[FRAME_PC];
	regs->lr = frame[FRAME_LR];
	regs->sp += fault->exc_return & EXC_RETURN_BASIC ? 32 : 104;
	if (frame[FRAME_PSR] & PSR_PAD)
		regs->sp += 4;
}

static void find_address(struct kasan_cortexm_fault *fault)
{
#if HAS_STATUS
	fault->has_address = true;
	if (fault->cfsr & MMARVALID)
		fault->address = MMFAR;
	else if (fault->cfsr & BFARVALID)
		fault->address = BFAR;
	else if (fault->has_frame && fault->cfsr & (IACCVIOL | IBUSERR | INVSTATE))
		fault->address = fault->regs.pc;
	else
		fault->has_address = false;
#else
	(void)fault;
#endif
}

/* A limit register or a guard stopped it, or the frame could not be pushed. */
static bool report_overflow(const struct kasan_cortexm_fault *fault)
{
	struct kasan_port_task task = {0};
	struct kasan_regs regs;
	const uintptr_t at = fault->has_address ? fault->address : fault->regs.sp;

	if (fault->cfsr & MMARVALID && kasan_cortexm_stack_guard(fault, &task, &regs))
		return kasan_report_stack_overflow(&task, fault->address, &regs);
	if (!(fault->cfsr & (STKOF | MSTKERR | STKERR)))
		return false;
	kasan_port_task(&task);
	if (!task.stack_start)
		return false;
	return kasan_report_stack_overflow(&task, at < task.stack_end ? at : 0, &fault->regs);
}

/* @saved: r11, r4, r7, lr. */
__attribute__((used)) void kasan_cortexm_fault(uint32_t exc_return, uintptr_t msp, uintptr_t psp,
					       const uintptr_t *saved)
{
	struct kasan_cortexm_fault fault = {.exc_return = exc_return};
	uint32_t ipsr;

	__asm__ volatile("mrs %0, ipsr" : "=r"(ipsr));
	fault.exception = ipsr;
#if HAS_STATUS
	fault.cfsr = CFSR;
	fault.hfsr = HFSR;
#endif
	find_registers(&fault, exc_return & EXC_RETURN_PSP ? psp : msp, saved);
	find_address(&fault);
#if HAS_STATUS
	/* Written ones clear them: the next fault must not find this one's. */
	CFSR = fault.cfsr;
	HFSR = fault.hfsr;
#endif
	fault_sp = fault.regs.sp;
	if (fault.cfsr & MMARVALID && kasan_cortexm_sampled(&fault)) {
		fault_sp = 0;
		return;
	}
	if (!report_overflow(&fault) && fault.has_address)
		kasan_report_fault_at(fault.address, 0,
				      fault.cfsr & (MMARVALID | BFARVALID) ? KASAN_FAULT_UNKNOWN
									   : KASAN_FAULT_READ,
				      &fault.regs);
	fault_sp = 0;
	kasan_cortexm_after_fault(&fault);
}

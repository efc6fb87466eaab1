/* SPDX-License-Identifier: MIT */
/*
 * fault.c - accesses that the processor refuses: null pointers, wild pointers, jumps to nowhere. Never instrumented.
 *
 * A task that made one cannot go on. After the report it is sent to kasan_freertos_fault_end(), as if it had called
 * that, where the application decides.
 */
#include "internal.h"

#ifdef __arm__
#include "cortexm_fault.h"

#define EXC_RETURN_THREAD (1U << 3)
#define EXC_RETURN_BASIC  (1U << 4) /* 0: floating-point registers were pushed as well */
#endif

__attribute__((weak)) void kasan_freertos_fault_end(bool in_task)
{
	freertos_stop(in_task ? "a task made a bad access (kasan_freertos_fault_end() may delete "
				"it instead)"
			      : "an interrupt handler made a bad access");
}

_Noreturn void freertos_task_fault(void)
{
	kasan_freertos_fault_end(true);
	freertos_stop("kasan_freertos_fault_end() has returned");
}

#ifdef __arm__

/* Bytes that the processor pushes at most, floating-point registers included. */
#define FRAME_MAX 104U

/* Words of that frame. */
#define FRAME_PC   6
#define FRAME_XPSR 7
#define XPSR_THUMB (1U << 24)

/* The task goes on in freertos_task_fault(), on an empty stack: there may be no room left on the one that it has. */
static void abandon(void)
{
	struct kasan_port_task task = {0};
	uint32_t *frame;
	unsigned int i;

	freertos_for_task = true;
	kasan_port_task(&task);
	freertos_for_task = false;
	/* It leaves all of its functions without returning from them. */
	kasan_unpoison_stack((void *)task.stack_start, (void *)task.stack_end);
	frame = (uint32_t *)((task.stack_end - FRAME_MAX) & ~(uintptr_t)7);
	for (i = 0; i < FRAME_MAX / sizeof(*frame); i++)
		frame[i] = 0;
	frame[FRAME_PC] = (uint32_t)(uintptr_t)freertos_task_fault & ~1U;
	frame[FRAME_XPSR] = XPSR_THUMB;
	__asm__ volatile("msr psp, %0" : : "r"(frame) : "memory");
}

/* Called by the handler of cortexm_fault.c, which has reported what was a bad access. */
void kasan_cortexm_after_fault(const struct kasan_cortexm_fault *fault)
{
	const bool goes_on = freertos_guard_give_way(fault);

	kasan_port_print(kasan_cortexm_name(fault));
	if (!(fault->exc_return & EXC_RETURN_THREAD)) {
		if (goes_on)
			return;
		kasan_freertos_fault_end(false);
		freertos_stop("kasan_freertos_fault_end() has returned");
	}
	abandon();
}

/*
 * What PendSV_Handler() of FreeRTOS's port has saved at @top, in words: Armv8-M also the stack's limit and
 * EXC_RETURN in front of r4 to r11; with floating-point registers EXC_RETURN behind them. Then what the processor pushes.
 */
bool freertos_saved_regs(uintptr_t top, struct kasan_regs *regs)
{
	const uint32_t *word = (const uint32_t *)top;
	uint32_t exc_return = EXC_RETURN_BASIC;

	if (!kasan_port_readable(word, 40 * sizeof(*word)))
		return false;
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
	exc_return = word[1];
	word += 2;
#endif
	regs->fp = word[3];
	regs->r11 = word[7];
	word += 8;
#if defined(__ARM_FP) && defined(__ARM_ARCH_7EM__)
	exc_return = *word++;
#endif
	if (!(exc_return & EXC_RETURN_BASIC))
		word += 16;
	regs->lr = word[5];
	regs->pc = word[FRAME_PC];
	regs->sp = (uintptr_t)(word + 8);
	return true;
}

#else

/* Where FreeRTOS's RISC-V port has them in the context that it saves on a task's stack, in words. */
enum { CONTEXT_PC = 0, CONTEXT_RA = 2, CONTEXT_S0 = 6 };

enum { CAUSE_EXECUTE = 1, CAUSE_READ = 5, CAUSE_WRITE = 7 };

extern uintptr_t *volatile *volatile pxCurrentTCB;

void freertos_risc_v_application_exception_handler(unsigned long cause);

/* FreeRTOS calls this on the stack of interrupts for every exception but its own. A task's registers are on top of its stack. */
void freertos_risc_v_application_exception_handler(unsigned long cause)
{
	uintptr_t *context = *pxCurrentTCB;
	struct kasan_regs regs = {
		.sp = (uintptr_t)context, .lr = context[CONTEXT_RA], .fp = context[CONTEXT_S0]};
	uintptr_t addr;

	__asm__ volatile("csrr %0, mtval" : "=r"(addr));
	__asm__ volatile("csrr %0, mepc" : "=r"(regs.pc));
	freertos_for_task = true;
	if (cause == CAUSE_READ || cause == CAUSE_WRITE || cause == CAUSE_EXECUTE)
		kasan_report_fault_at(cause == CAUSE_EXECUTE ? regs.pc : addr, 0,
				      cause == CAUSE_WRITE ? KASAN_FAULT_WRITE : KASAN_FAULT_READ,
				      &regs);
	else
		kasan_port_print("KASAN: an exception that is not a bad access");
	freertos_for_task = false;
	context[CONTEXT_PC] = (uintptr_t)freertos_task_fault;
}

bool freertos_saved_regs(uintptr_t top, struct kasan_regs *regs)
{
	const uintptr_t *word = (const uintptr_t *)top;

	if (!kasan_port_readable(word, 32 * sizeof(*word)))
		return false;
	regs->pc = word[CONTEXT_PC];
	regs->lr = word[CONTEXT_RA];
	regs->fp = word[CONTEXT_S0];
	/* 31 words, the critical nesting included. */
	regs->sp = (uintptr_t)(word + 31);
	return true;
}

#endif

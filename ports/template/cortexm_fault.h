/* SPDX-License-Identifier: MIT */
/*
 * cortexm_fault.h - Cortex-M: faults become reports. To be copied, with cortexm_fault.c, into a port or linked from here.
 *
 * A port does three things: it puts kasan_cortexm_fault_entry into its vector table, for HardFault, MemManage, BusFault
 * and UsageFault; it calls kasan_cortexm_enable_faults() at the start; and its kasan_port_task() asks kasan_cortexm_sp()
 * on which stack the code runs that a report is about.
 */
#ifndef CORTEXM_FAULT_H
#define CORTEXM_FAULT_H

#include <kasan/report.h>
#include <kasan/types.h>

struct kasan_port_task;

/**
 * struct kasan_cortexm_fault - a fault, as the processor describes it
 * @exception: number of the handler: 3 HardFault, 4 MemManage, 5 BusFault, 6 UsageFault.
 * @exc_return: EXC_RETURN: which stack the interrupted code used.
 * @cfsr, @hfsr: the status registers; 0 on Cortex-M0 and M0+, which have none.
 * @regs: of the interrupted code. pc and lr are 0 if the processor could not push them.
 * @has_frame: it could. @frame: where: r0 to r3, r12, lr, pc, xPSR.
 * @has_address: @address is known: of the access, or of the instruction that was to be executed.
 */
struct kasan_cortexm_fault {
	unsigned int exception;
	uint32_t exc_return, cfsr, hfsr;
	struct kasan_regs regs;
	bool has_frame, has_address;
	uint32_t *frame;
	uintptr_t address;
};

/** kasan_cortexm_fault_entry() - the handler, for the vector table. */
void kasan_cortexm_fault_entry(void);

/** kasan_cortexm_enable_faults() - let MemManage, BusFault and UsageFault have handlers of their own, and a division by 0
 *  be a fault. Does nothing on Cortex-M0 and M0+. */
void kasan_cortexm_enable_faults(void);

/** kasan_cortexm_sp() - Return: the stack pointer of the code that a report would be about: while a fault is handled that
 *  of the interrupted code, else the caller's. */
uintptr_t kasan_cortexm_sp(void);

/**
 * kasan_cortexm_after_fault() - the fault was reported: what now?
 * @fault: valid until the function returns. If it returns, so does the handler, and the instruction is executed again.
 * Default: kasan_port_panic() with the fault's name.
 */
void kasan_cortexm_after_fault(const struct kasan_cortexm_fault *fault);

/**
 * kasan_cortexm_stack_guard() - does @fault's address lie in the guard of a task's stack?
 * @task: whose; zeroed. @regs: of that task. Both are filled if it does. Called if the MPU has refused a known address.
 * Default: false. Faults for which the processor could not push registers, or at the limit register, are overflows without it.
 */
bool kasan_cortexm_stack_guard(const struct kasan_cortexm_fault *fault,
			       struct kasan_port_task *task, struct kasan_regs *regs);

/** kasan_cortexm_sampled() - @fault is a refusal of the MPU: report it if its address is of a sampled object. Return: true:
 *  execute the instruction again. Default: false; cortexm_sample.c has the function for CONFIG_KASAN_SAMPLE. */
bool kasan_cortexm_sampled(const struct kasan_cortexm_fault *fault);

/** kasan_cortexm_name() - Return: what the processor says, as "BusFault: imprecise error". */
const char *kasan_cortexm_name(const struct kasan_cortexm_fault *fault);

#endif /* CORTEXM_FAULT_H */

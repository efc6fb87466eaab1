/* SPDX-License-Identifier: MIT */
/* fault.h - what happens when the CPU refuses: decoding, reporting, ending the thread. */
#ifndef ASM_FAULT_H
#define ASM_FAULT_H

#include <kernel/types.h>
#include <asm/ptrace.h>

/* Oopses since boot. */
extern unsigned int oops_count;

/**
 * arch_note_kasan_report() - tell the fault handler that KASAN has just reported an access
 * @addr, @size: the access.
 *
 * The port's kasan_port_report_end() calls this. If the access then faults by the same thread, the
 * oops says so in few lines and does not report it a second time.
 */
#ifdef CONFIG_KASAN
void arch_note_kasan_report(uintptr_t addr, size_t size);
#else
static inline void arch_note_kasan_report(uintptr_t addr, size_t size)
{
}
#endif

/**
 * die() - end the current thread because of an exception
 * @msg: "Oops", "Oops - BUG", ...
 *
 * Prints registers and trace; then ends the thread, or panics if that is not possible: in
 * interrupts, with preemption off, in an idle or boot task, or by panic_on_oops.
 */
_Noreturn void die(const char *msg, struct pt_regs *regs);

#endif

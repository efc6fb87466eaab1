/* SPDX-License-Identifier: MIT */
/*
 * fault.h - exceptions: what an architecture says about one, and what the kernel does about it.
 *
 * None of this is instrumented: the code that explains a bad access must not make one. The functions are called with
 * interrupts off, on the stack of the interrupted code.
 */
#ifndef KERNEL_FAULT_H
#define KERNEL_FAULT_H

#include <kasan/config.h>
#include <kernel/program.h>
#include <kernel/types.h>

struct pt_regs;

/** enum fault_kind - why the MMU or the bus refuses an access */
enum fault_kind {
	FAULT_UNMAPPED,
	FAULT_PROTECTED, /* what is there must not be accessed like that */
	FAULT_ALIGNMENT,
	FAULT_BUS, /* anything else */
};

/** struct fault - a refused access. @addr: the whole pointer, with its tag and other bits that the CPU ignores, if the
 *  architecture can find them. @exec: of an instruction. @name: what the CPU calls it. */
struct fault {
	unsigned long addr;
	enum fault_kind kind;
	bool write, exec;
	const char *name;
};

/** kernel_fault() - the kernel's own code, or a program inside of it, made @fault. Returns if @regs can go on: perhaps at
 *  another pc. */
void kernel_fault(struct pt_regs *regs, const struct fault *fault);

/** user_fault() - a program in user mode made @fault: end it. */
void user_fault(struct pt_regs *regs, const struct fault *fault);

/**
 * die() - end the current thread because of an exception
 * @msg: "Oops", "Oops - BUG", ...; NULL: the cause has been printed, and so are the registers not.
 *
 * Prints registers and trace; then ends the thread, or panics if that is not possible: in
 * interrupts, with preemption off, in an idle or boot task, or by panic_on_oops.
 */
_Noreturn void die(const char *msg, struct pt_regs *regs);

/* Number of kernel exceptions since boot that ended a thread or the machine ("Oops"). */
extern unsigned int oops_count;

/** fixup_exception() - continue at the fixup if the table has the instruction at @regs->pc. Return: true if it has. */
bool fixup_exception(struct pt_regs *regs);

/* --- Programs inside of the kernel: program_fault.c ------------------------------------------- */

/* Is the exception of @regs a fault of a program's own code, in a context in which a handler of the program may run? */
bool is_program_fault(const struct pt_regs *regs);

/* Let a handler of the program have the fault. Return: false if it has none: then it ends. */
bool handle_program_fault(struct pt_regs *regs, enum program_fault_kind kind, unsigned long addr);

/* Is there memory of the program at @addr that it has closed itself? */
bool hit_closed_page(unsigned long addr);

/* Map what the code of @regs has touched of a stack, at @addr. Return: true if the access is to be tried again. */
bool handle_stack_fault(struct pt_regs *regs, unsigned long addr);

/* The stack of the program's code in @regs has no room for another frame. Return: true if a handler of the program may run
 * on its alternate stack. */
bool may_handle_overflow(const struct pt_regs *regs);

/* Call the program's handler for that; it cannot return. Called on the alternate stack. @addr: what was accessed. */
_Noreturn void handle_overflow(struct pt_regs *regs, unsigned long addr);

/* Get memory for the next faults of this stack. Ends the thread if there is none. */
void refill_stack(struct pt_regs *regs);

/* --- No room for a frame: overflow.c ---------------------------------------------------------- */

/* Has this CPU reported a stack that is used up? Then a second one is printed with what early boot has. */
extern bool stack_overflowed[NR_CPUS];

/**
 * overflow_handler() - the stack of @regs may have no room for the frame of an exception
 * @regs: lies on the CPU's overflow stack.
 *
 * Return: NULL if the stack has the pages now: try again. Else a copy of @regs on a stack of the thread, where stack_handler() is
 * to be called. Panics if there is none.
 */
struct pt_regs *overflow_handler(struct pt_regs *regs);

/** stack_handler() - go on after overflow_handler() on the stack where @regs lies, interrupts off. */
void stack_handler(struct pt_regs *regs);

/* --- What KASAN explains: kernel/kasan/fault.c ------------------------------------------------ */

#ifdef CONFIG_KASAN

/** kasan_fixup_shadow_load() - give the shadow load of a check a result, if @fault is of one. Return: true if it is. */
bool kasan_fixup_shadow_load(struct pt_regs *regs, const struct fault *fault);

/** kasan_explain_fault() - report @fault. Return: true if there is no more to say: it was reported before, so that there is no
 *  second report, or it is a call of what is not code, of which the report says all. */
bool kasan_explain_fault(const struct pt_regs *regs, const struct fault *fault);

#else

static inline bool kasan_fixup_shadow_load(struct pt_regs *regs, const struct fault *fault)
{
	return false;
}

static inline bool kasan_explain_fault(const struct pt_regs *regs, const struct fault *fault)
{
	return false;
}

#endif

#endif

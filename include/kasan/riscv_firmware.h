/* SPDX-License-Identifier: MIT */
/*
 * riscv_firmware.h - building blocks for ports of RISC-V firmware in machine mode, which runs on several harts and is
 * loaded anywhere: docs/port/riscv-firmware.md. Include it in the file that holds the port's functions, which is not
 * instrumented, with -DKASAN_RISCV_HART_AT=... and <kasan/inline_riscv.h>.
 */
#ifndef KASAN_RISCV_FIRMWARE_H
#define KASAN_RISCV_FIRMWARE_H

#include <kasan/port_kit.h>

#ifdef __riscv

#ifdef __cplusplus
extern "C" {
#endif

/* --- The console --- */

/** struct kasan_console - a lock whose holder is known: a report on the hart that holds it, because the bug is in the
 *  code that prints, must not wait for itself. All 0: free. @owner: the hart's number + 1. @depth: how often. */
struct kasan_console {
	unsigned int owner, depth;
};

/** kasan_console_trylock() - take @console, or enter it once more on the hart that holds it. Interrupts must be off, as
 *  they are in firmware. Return: false if another hart holds it. */
static inline bool kasan_console_trylock(struct kasan_console *console)
{
	const unsigned int me = kasan_port_cpu() + 1;
	unsigned int owner = __atomic_load_n(&console->owner, __ATOMIC_RELAXED);

	if (owner != me &&
	    (owner || !__atomic_compare_exchange_n(&console->owner, &owner, me, false,
						   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)))
		return false;
	console->depth++;
	return true;
}

/** kasan_console_lock() - the same, and wait as long as it takes: for the system's own output. */
static inline void kasan_console_lock(struct kasan_console *console)
{
	while (!kasan_console_trylock(console))
		;
}

/** kasan_console_unlock() - leave it. Does nothing on a hart that does not hold it. */
static inline void kasan_console_unlock(struct kasan_console *console)
{
	if (__atomic_load_n(&console->owner, __ATOMIC_RELAXED) != kasan_port_cpu() + 1)
		return;
	if (--console->depth == 0)
		__atomic_store_n(&console->owner, 0, __ATOMIC_RELEASE);
}

/* A hart that holds the console prints a few hundred characters and lets go, or runs into a bug and waits for the report
 * that waits here: longer than that, and the runtime lets it go on. One that never lets go has died in there, and the
 * report is worth more than its line. */
#define KASAN_CONSOLE_TRIES (1U << 28)

/** kasan_console_lock_report() - kasan_console_lock() for kasan_port_report_begin(), which must not wait for ever. */
static inline void kasan_console_lock_report(struct kasan_console *console)
{
	unsigned int tries = KASAN_CONSOLE_TRIES;

	while (tries && !kasan_console_trylock(console))
		tries--;
}

/** KASAN_PORT_CONSOLE_LOCK() - define kasan_port_report_begin() and kasan_port_report_end(), which keep other harts'
 *  output out of reports. @console: a struct kasan_console, which the system's own output takes, too. */
#define KASAN_PORT_CONSOLE_LOCK(console)                                 \
	void kasan_port_report_begin(void)                               \
	{                                                                \
		kasan_console_lock_report(&(console));                   \
	}                                                                \
	void kasan_port_report_end(const struct kasan_report_info *info) \
	{                                                                \
		(void)info;                                              \
		kasan_console_unlock(&(console));                        \
	}                                                                \
	KASAN_STATIC_ASSERT(1, "takes the semicolon")

/* --- Traps --- */

/* mstatus.MPP, bits 12:11: the mode that the trap came from; 3: machine mode. */
static inline bool kasan_trap_is_own(void)
{
	uintptr_t status;

	__asm__ volatile("csrr %0, mstatus" : "=r"(status));
	return (status >> 11 & 3) == 3;
}

/** kasan_machine_fault() - in a trap handler: report the access that raised the trap, if it was firmware's own. A trap
 *  from a lower mode is the bug of the system above. Misaligned accesses (causes 4 and 6) are left alone: firmware
 *  emulates them. A refused access below a stack that kasan_port_stack_owner() names is reported as its overflow.
 *  @fp: frame pointer of the interrupted code. Return: true if a report was printed. */
static inline bool kasan_machine_fault(uintptr_t fp)
{
	uintptr_t cause, pc, addr;
	struct kasan_port_task owner;
	struct kasan_regs regs;

	if (!kasan_trap_is_own())
		return false;
	__asm__ volatile("csrr %0, mcause\n\tcsrr %1, mepc\n\tcsrr %2, mtval"
			 : "=r"(cause), "=r"(pc), "=r"(addr));
	__memset(&owner, 0, sizeof(owner));
	if ((cause == 5 || cause == 7) && kasan_port_stack_owner((const void *)addr, &owner) &&
	    addr < owner.stack_start) {
		__memset(&regs, 0, sizeof(regs));
		regs.pc = pc;
		regs.sp = addr;
		regs.fp = fp;
		return kasan_report_stack_overflow(&owner, addr, &regs);
	}
	switch (cause) {
	case 1:	 /* instruction access fault */
	case 5:	 /* load access fault */
	case 12: /* the same as page faults */
	case 13:
		return kasan_report_fault(addr, 0, KASAN_FAULT_READ, pc, fp);
	case 7: /* store access fault */
	case 15:
		return kasan_report_fault(addr, 0, KASAN_FAULT_WRITE, pc, fp);
	default:
		return false;
	}
}

/**
 * KASAN_MACHINE_TRAP_ENTRY() - define the function @entry, which calls `uintptr_t @handler(uintptr_t a0, uintptr_t fp)`
 *	with a frame record for the interrupted code
 *
 * As KASAN_TRAP_ENTRY(), with two differences. a0, which firmware's vectors pass the saved registers in, is kept, and
 * so is what @handler returns. After a trap from a lower mode s0 is not firmware's: @fp is 0 then, and the record ends
 * the trace. Uses ra, t0 and a1, and 32 bytes of stack.
 */
#define KASAN_MACHINE_TRAP_ENTRY(entry, handler)                             \
	__asm__(".text\n"                                                    \
		".globl " #entry "\n"                                        \
		".type " #entry ", %function\n" #entry ":\n"                 \
		"	addi sp, sp, -32\n"                                        \
		"	" KASAN_TRAP_STORE "ra, 24(sp)\n"                    \
		"	" KASAN_TRAP_STORE "s0, 16(sp)\n"                    \
		"	" KASAN_TRAP_STORE "zero, 0(sp)\n"                   \
		"	" KASAN_TRAP_STORE "zero, " KASAN_TRAP_WORD "(sp)\n" \
		"	mv a1, zero\n"                                             \
		"	csrr t0, mstatus\n"                                        \
		"	srli t0, t0, 11\n"                                         \
		"	andi t0, t0, 3\n"                                          \
		"	addi t0, t0, -3\n"                                         \
		"	bnez t0, 1f\n"                                             \
		"	" KASAN_TRAP_STORE "s0, 0(sp)\n"                     \
		"	csrr t0, mepc\n"                                           \
		"	addi t0, t0, 2\n"                                          \
		"	" KASAN_TRAP_STORE "t0, " KASAN_TRAP_WORD "(sp)\n"   \
		"	mv a1, s0\n"                                               \
		"1:	addi s0, sp, 2 * " KASAN_TRAP_WORD "\n"              \
		"	call " #handler "\n"                                 \
		"	" KASAN_TRAP_LOAD "ra, 24(sp)\n"                     \
		"	" KASAN_TRAP_LOAD "s0, 16(sp)\n"                     \
		"	addi sp, sp, 32\n"                                         \
		"	ret\n"                                                     \
		".size " #entry ", . - " #entry "\n")

/**
 * KASAN_WRAP_MACHINE_TRAP() - put the handler of machine mode's traps under the runtime: firmware's own access faults are
 *	reported before it runs, and traces go on from it to the interrupted function. For -Wl,--wrap=@handler
 * @handler: a function that takes one pointer or nothing, and returns one or nothing, called by the vector with the
 * interrupted s0 unchanged.
 */
#define KASAN_WRAP_MACHINE_TRAP(handler)                            \
	uintptr_t __real_##handler(uintptr_t context);              \
	uintptr_t kasan_##handler(uintptr_t context, uintptr_t fp); \
	uintptr_t kasan_##handler(uintptr_t context, uintptr_t fp)  \
	{                                                           \
		kasan_machine_fault(fp);                            \
		return __real_##handler(context);                   \
	}                                                           \
	KASAN_MACHINE_TRAP_ENTRY(__wrap_##handler, kasan_##handler)

/**
 * KASAN_EARLY_CALL() - define the function @entry, which calls `void @function(void)` and keeps a0 to a7
 *
 * For the assembly of the start: what the earlier boot stage passed, the hart id and the device tree among it, is still
 * in the argument registers when the first instrumented function is about to run. Uses t0 to t6 and ra as any call does,
 * and 80 bytes of stack.
 */
#define KASAN_EARLY_CALL(entry, function)                                      \
	__asm__(".text\n"                                                      \
		".globl " #entry "\n"                                          \
		".type " #entry ", %function\n" #entry ":\n"                   \
		"	addi sp, sp, -80\n"                                          \
		"	" KASAN_TRAP_STORE "ra, 0(sp)\n"                       \
		"	" KASAN_TRAP_STORE "a0, 1 * " KASAN_TRAP_WORD "(sp)\n" \
		"	" KASAN_TRAP_STORE "a1, 2 * " KASAN_TRAP_WORD "(sp)\n" \
		"	" KASAN_TRAP_STORE "a2, 3 * " KASAN_TRAP_WORD "(sp)\n" \
		"	" KASAN_TRAP_STORE "a3, 4 * " KASAN_TRAP_WORD "(sp)\n" \
		"	" KASAN_TRAP_STORE "a4, 5 * " KASAN_TRAP_WORD "(sp)\n" \
		"	" KASAN_TRAP_STORE "a5, 6 * " KASAN_TRAP_WORD "(sp)\n" \
		"	" KASAN_TRAP_STORE "a6, 7 * " KASAN_TRAP_WORD "(sp)\n" \
		"	" KASAN_TRAP_STORE "a7, 8 * " KASAN_TRAP_WORD "(sp)\n" \
		"	call " #function "\n"                                  \
		"	" KASAN_TRAP_LOAD "ra, 0(sp)\n"                        \
		"	" KASAN_TRAP_LOAD "a0, 1 * " KASAN_TRAP_WORD "(sp)\n"  \
		"	" KASAN_TRAP_LOAD "a1, 2 * " KASAN_TRAP_WORD "(sp)\n"  \
		"	" KASAN_TRAP_LOAD "a2, 3 * " KASAN_TRAP_WORD "(sp)\n"  \
		"	" KASAN_TRAP_LOAD "a3, 4 * " KASAN_TRAP_WORD "(sp)\n"  \
		"	" KASAN_TRAP_LOAD "a4, 5 * " KASAN_TRAP_WORD "(sp)\n"  \
		"	" KASAN_TRAP_LOAD "a5, 6 * " KASAN_TRAP_WORD "(sp)\n"  \
		"	" KASAN_TRAP_LOAD "a6, 7 * " KASAN_TRAP_WORD "(sp)\n"  \
		"	" KASAN_TRAP_LOAD "a7, 8 * " KASAN_TRAP_WORD "(sp)\n"  \
		"	addi sp, sp, 80\n"                                           \
		"	ret\n"                                                       \
		".size " #entry ", . - " #entry "\n")

/* --- Physical memory protection --- */

/* pmpcfg: address matching of a naturally aligned range, no permission; with the lock machine mode has none either. */
#define KASAN_PMP_TOR	0x08UL /* from the entry below it on, exclusive */
#define KASAN_PMP_NAPOT 0x18UL
#define KASAN_PMP_LOCK	0x80UL

/* @start and @size as a pmpaddr register has them. */
static inline uintptr_t kasan_pmp_range(uintptr_t start, uintptr_t size)
{
	return start >> 2 | ((size >> 3) - 1);
}

/**
 * KASAN_PMP_SET() - let PMP entry @entry, a literal 0 to 3, refuse [@start, @start + @size)
 * @size: a power of two from the machine's granule on (4096 is enough everywhere); @start is a multiple of it.
 * @config: KASAN_PMP_NAPOT: lower modes may not touch it, for the shadow and the runtime's tables. With KASAN_PMP_LOCK:
 * nor may machine mode, until reset, for a guard below a stack; the entry must be a lower one than those that allow it.
 *
 * Each hart has its own entries.
 */
#define KASAN_PMP_SET(entry, start, size, config)                                      \
	do {                                                                           \
		__asm__ volatile("csrw pmpaddr" #entry ", %0"                          \
				 :                                                     \
				 : "r"(kasan_pmp_range((start), (size))));             \
		__asm__ volatile("csrc pmpcfg0, %0" : : "r"(0xffUL << 8 * (entry)));   \
		__asm__ volatile("csrs pmpcfg0, %0" : : "r"((config) << 8 * (entry))); \
		__asm__ volatile("fence rw, rw" : : : "memory");                       \
	} while (0)

/**
 * KASAN_PMP_SET_RANGE() - the same for [@start, @end), multiples of the granule, which need not be a power of two long
 * @below, @entry: literals, @entry = @below + 1. The lower one holds the start, and may not be in use.
 * @config: KASAN_PMP_TOR, or with KASAN_PMP_LOCK.
 */
#define KASAN_PMP_SET_RANGE(below, entry, start, end, config)                          \
	do {                                                                           \
		__asm__ volatile("csrw pmpaddr" #below ", %0" : : "r"((start) >> 2));  \
		__asm__ volatile("csrw pmpaddr" #entry ", %0" : : "r"((end) >> 2));    \
		__asm__ volatile("csrc pmpcfg0, %0" : : "r"(0xffffUL << 8 * (below))); \
		__asm__ volatile("csrs pmpcfg0, %0" : : "r"((config) << 8 * (entry))); \
		__asm__ volatile("fence rw, rw" : : : "memory");                       \
	} while (0)

#ifdef __cplusplus
}
#endif

#endif /* __riscv */

#endif /* KASAN_RISCV_FIRMWARE_H */

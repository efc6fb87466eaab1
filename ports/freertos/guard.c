/* SPDX-License-Identifier: MIT */
/*
 * guard.c - what the MPU of a Cortex-M refuses: the memory at address 0, and the lowest words of the running task's stack.
 * Never instrumented. Without an MPU, and on RISC-V, there is no guard: then only the pattern in a stack tells.
 *
 * Armv7-M: writes to 32 bytes of the stack are refused, reads are not, because FreeRTOS measures stacks by reading. Armv8-M: a
 * stack has a limit register, which FreeRTOS's port sets. Registers: Armv7-M and Armv8-M Architecture Reference Manuals, MPU.
 */
#include "internal.h"

#ifdef __arm__

#include "cortexm_fault.h"

/* 0: stacks have no guard. */
#ifndef KASAN_FREERTOS_STACK_GUARD
#define KASAN_FREERTOS_STACK_GUARD 1
#endif

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define CPUID		  REGISTER(0xe000ed00)
#define MPU_TYPE	  REGISTER(0xe000ed90)
#define MPU_CTRL	  REGISTER(0xe000ed94)
#define MPU_RNR		  REGISTER(0xe000ed98)
#define MPU_RBAR	  REGISTER(0xe000ed9c)
#define MPU_SIZE	  REGISTER(0xe000eda0) /* RASR, Armv8-M: RLAR; bit 0: the region is on */

#define CTRL_ON		5U	  /* where there is no region, all is as without the MPU */
#define RBAR_NUMBER	(1U << 4) /* Armv7-M: the lowest bits have the region's number */
#define RASR_NO_CODE	(1U << 28)
#define RASR_READ_ONLY	(6U << 24)
#define RASR_NORMAL	(11U << 16) /* as RAM is without the MPU: write-back, write-allocate */
#define RASR_BYTES(log) (((log) - 1U) << 1 | 1U)
#define GUARD_LOG	5U /* 32 bytes, the smallest region */
#define GUARD		(1U << GUARD_LOG)

#define EXC_RETURN_THREAD (1U << 3)

#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#define HAS_MPU	  1
#define IS_ARMV8M 1
#elif defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__)
#define HAS_MPU	  1
#define IS_ARMV8M 0
#else
#define HAS_MPU	  0
#define IS_ARMV8M 0
#endif

/* From the linker fragment, or another script: no code and no constants below, except the vectors. */
extern char __kasan_null_end[] __attribute__((weak));

static uintptr_t null_size;
/* Region of the stack's guard, and where that is; 0 if it is off. */
static unsigned int guard_region;
static uintptr_t guard_start;
static bool has_guard;

/* The vectors of the processor's own exceptions: as much as every image has at address 0. */
#define VECTORS 64U

/* Where there is no flash and no RAM at address 0, nobody needs the first page. */
#define FIRST_PAGE 4096U

/* Cortex-M7, M55 and M85 may have fast memory for code and data at address 0. */
static bool has_memory_at_0(void)
{
	const unsigned int part = CPUID >> 4 & 0xfff;

	return part == 0xc27 || part == 0xd22 || part == 0xd23;
}

static uintptr_t size_of_null(void)
{
#ifdef KASAN_FREERTOS_NULL
	return KASAN_FREERTOS_NULL;
#else
	const uintptr_t flash = (uintptr_t)__kasan_flash_start;
	const uintptr_t ram = (uintptr_t)__kasan_window_start;
	const uintptr_t lowest = flash < ram ? flash : ram;

	if (lowest)
		return has_memory_at_0() ? 0 : lowest < FIRST_PAGE ? lowest : FIRST_PAGE;
	return __kasan_null_end ? (uintptr_t)__kasan_null_end : VECTORS;
#endif
}

/* The highest region that the application does not use: it has the last word where regions overlap (Armv7-M). */
static int free_region(void)
{
	int region;

	for (region = (int)(MPU_TYPE >> 8 & 0xff) - 1; region >= 0; region--) {
		MPU_RNR = (uint32_t)region;
		if (!(MPU_SIZE & 1))
			break;
	}
	return region;
}

static void switch_on(void)
{
	if (!(MPU_CTRL & 1))
		MPU_CTRL = CTRL_ON;
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}

/* Armv8-M has no region that refuses reads, but it refuses an address that lies in two regions. */
static void forbid_null(void)
{
	unsigned int log = 12;
	int region, twice;

	null_size = size_of_null();
	while (log >= GUARD_LOG && null_size < 1U << log)
		log--;
	null_size = log >= GUARD_LOG ? 1U << log : 0;
	for (twice = 0; null_size && twice <= IS_ARMV8M; twice++) {
		region = free_region();
		if (region < 0) {
			null_size = 0;
			break;
		}
#if IS_ARMV8M
		MPU_RBAR = 1; /* never execute */
		MPU_SIZE = (uint32_t)(null_size - GUARD) | 1;
#else
		MPU_RBAR = 0;
		MPU_SIZE = RASR_NO_CODE | RASR_BYTES(log);
#endif
	}
}

void freertos_guard_start(void)
{
#if HAS_MPU && !IS_ARMV8M && KASAN_FREERTOS_STACK_GUARD
	has_guard = MPU_TYPE >> 8 & 0xff;
#endif
}

uintptr_t freertos_usable(uintptr_t low)
{
	return has_guard ? ((low + GUARD - 1) & ~(uintptr_t)(GUARD - 1)) + GUARD : low;
}

void freertos_guard_task(uintptr_t low, bool is_overflowed)
{
#if HAS_MPU
	static bool is_ready;
	int region;

	/* Not before the first switch: FreeRTOS reads the vectors to start the first task. */
	if (!is_ready) {
		is_ready = true;
		forbid_null();
		region = free_region();
		guard_region = (unsigned int)region;
		has_guard = has_guard && region >= 0;
		if (null_size || has_guard)
			switch_on();
	}
	if (!has_guard)
		return;
	/* A task that was reported goes on without, or it could not. */
	guard_start = is_overflowed ? 0 : freertos_usable(low) - GUARD;
	if (guard_start) {
		MPU_RBAR = (uint32_t)guard_start | RBAR_NUMBER | guard_region;
		MPU_SIZE = RASR_NO_CODE | RASR_READ_ONLY | RASR_NORMAL | RASR_BYTES(GUARD_LOG);
	} else {
		MPU_RNR = guard_region;
		MPU_SIZE = 0;
	}
	switch_on();
#else
	(void)low;
	(void)is_overflowed;
#endif
}

bool freertos_is_null(uintptr_t addr)
{
	return addr < null_size;
}

/* Words of a frame that the processor has pushed. */
#define FRAME_LR  5
#define FRAME_PC  6
#define FRAME_PSR 7
#define PENDSV	  14U /* number of the handler that switches tasks */

/* Has the fault interrupted the switch? */
static bool in_switch(const struct kasan_cortexm_fault *fault)
{
	return !(fault->exc_return & EXC_RETURN_THREAD) && fault->has_frame &&
	       (fault->frame[FRAME_PSR] & 0x1ff) == PENDSV;
}

/* The task itself has written there, or the switch that saves its registers. */
bool kasan_cortexm_stack_guard(const struct kasan_cortexm_fault *fault,
			       struct kasan_port_task *task, struct kasan_regs *regs)
{
	const uint32_t *frame;

	if (!guard_start || fault->address - guard_start >= GUARD)
		return false;
	if (!(fault->exc_return & EXC_RETURN_THREAD) && !in_switch(fault))
		return false;
	*regs = fault->regs;
	freertos_for_task = true;
	kasan_port_task(task);
	if (in_switch(fault)) {
		/* r7 and r11 are still the task's. */
		__asm__ volatile("mrs %0, psp" : "=r"(frame));
		regs->lr = frame[FRAME_LR];
		regs->pc = frame[FRAME_PC];
		regs->sp = (uintptr_t)(frame + 8);
	}
	return true;
}

/* The switch must go on, so the guard goes; a task that has overflowed does not get it again. */
bool freertos_guard_give_way(const struct kasan_cortexm_fault *fault)
{
	const bool is_guard =
		guard_start && fault->has_address && fault->address - guard_start < GUARD;

	freertos_for_task = false;
	if (!is_guard)
		return false;
	freertos_mark_overflowed();
	freertos_guard_task(0, true);
	return in_switch(fault);
}

#endif /* __arm__ */

/* SPDX-License-Identifier: MIT */
/*
 * tags.c - the tag-based modes: the steps before the first allocation, and the exceptions by which bad accesses are
 * noticed. Never instrumented. tags.S, or on riscv64 tags_riscv.S, has switched the MMU on.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"

#ifdef CONFIG_KASAN_TAGS

#ifdef __riscv
/* x[0]: where it happened. */
struct trap_frame {
	uint64_t x[32];
};
#else
struct trap_frame {
	uint64_t x[31], pc, pstate;
};
#endif

void tags_trap(struct trap_frame *frame);

#ifdef __riscv

/* What inline checks put after their ebreak: addiw zero, a1, 0x40 + the code that arm64 has in its brk. */
#define MARK(insn)     ((insn) & 0xfffff)
#define MARK_OF_CHECKS 0x5801b
#define CODE(insn)     (((insn) >> 20) - 0x40)

extern const uint64_t tags_masked;

const char *tags_start(void)
{
	if (!tags_masked)
		return "this machine does not ignore bits of addresses (Smnpm)";
	kasan_poison((void *)CONFIG_KASAN_SHADOW_LOW,
		     CONFIG_KASAN_SHADOW_HIGH - CONFIG_KASAN_SHADOW_LOW + 1, KASAN_TAG_KERNEL);
	return NULL;
}

void tags_trap(struct trap_frame *frame)
{
	const uint16_t *insn = (const uint16_t *)frame->x[0];
	const uint16_t *mark = insn + ((insn[0] & 3) == 3 ? 2 : 1);
	const uint32_t word = mark[0] | (uint32_t)mark[1] << 16;
	uint64_t cause;

	__asm__ volatile("csrr %0, scause" : "=r"(cause));
	if (cause != 3 || MARK(word) != MARK_OF_CHECKS) {
		kasan_report_line("exception: scause %lx at %pS", (unsigned long)cause,
				  (void *)insn);
		board_exit(5);
	}
	/* The mark does nothing: go on there. */
	frame->x[0] = (uintptr_t)mark;
	kasan_report_tag_mismatch(frame->x[10], 1UL << (CODE(word) & 15), CODE(word) & 0x10,
				  (uintptr_t)mark, frame->x[8]);
	if (!(CODE(word) & 0x20))
		kasan_port_panic("bad access in code built without recovery");
}

#else

/* ESR_EL1: the class, and what belongs to it. */
#define CLASS(esr)	 ((unsigned int)((esr) >> 26) & 0x3f)
#define CLASS_DATA_ABORT 0x25
#define CLASS_STEP	 0x33
#define CLASS_BRK	 0x3c

static uint64_t syndrome(void)
{
	uint64_t esr;

	__asm__ volatile("mrs %0, esr_el1" : "=r"(esr));
	return esr;
}

static _Noreturn void unexpected(const struct trap_frame *frame)
{
	kasan_report_line("exception: ESR %lx at %pS", (unsigned long)syndrome(),
			  (void *)frame->pc);
	board_exit(5);
}

#ifdef CONFIG_KASAN_SW_TAGS

const char *tags_start(void)
{
	/* Nobody's tag yet: pointers without one match it, and no other. */
	kasan_poison((void *)CONFIG_KASAN_SHADOW_LOW,
		     CONFIG_KASAN_SHADOW_HIGH - CONFIG_KASAN_SHADOW_LOW + 1, KASAN_TAG_KERNEL);
	return NULL;
}

/* Inline checks trap: brk 0x900, + 0x20 if the program may go on, + 0x10 for a write, + log2 of the size. */
void tags_trap(struct trap_frame *frame)
{
	const uint64_t esr = syndrome();

	if (CLASS(esr) != CLASS_BRK || (esr & 0xffc0) != 0x900)
		unexpected(frame);
	frame->pc += 4;
	kasan_report_tag_mismatch(frame->x[0], 1UL << (esr & 15), esr & 0x10, frame->pc,
				  frame->x[29]);
	if (!(esr & 0x20))
		kasan_port_panic("bad access in code built without recovery");
}

#else

#define SCTLR_ATA  (1UL << 43)
#define SCTLR_SYNC (1UL << 40) /* TCF: bad accesses trap */
#define PSTATE_TCO (1UL << 25) /* accesses are not checked; set when an exception is taken */
#define PSTATE_SS  (1UL << 21)
#define PSTATE_D   (1UL << 9)
#define MDSCR_STEP (1UL << 13 | 1)

static void set_control(uint64_t bits)
{
	uint64_t sctlr;

	__asm__ volatile("mrs %0, sctlr_el1" : "=r"(sctlr));
	__asm__ volatile("msr sctlr_el1, %0\n\tisb" : : "r"(sctlr | bits) : "memory");
}

static void set_debug(uint64_t mdscr)
{
	/* The lock keeps debug exceptions away after a reset. */
	__asm__ volatile("msr oslar_el1, xzr\n\tmsr mdscr_el1, %0\n\tisb" : : "r"(mdscr));
}

const char *tags_start(void)
{
	uint64_t features;
	bool has_tags;

	__asm__("mrs %0, id_aa64pfr1_el1" : "=r"(features));
	has_tags = (features >> 8 & 15) >= 2;
	if (has_tags) {
		set_control(SCTLR_ATA);
		has_tags = kasan_hw_tags_work(__heap_start);
	}
	kasan_init_hw_tags(has_tags);
	if (!has_tags)
		return "this machine has no memory tags (MTE)";
	set_control(SCTLR_SYNC);
	return NULL;
}

/* After the report the access is done all the same: one step without checks. */
void tags_trap(struct trap_frame *frame)
{
	const uint64_t esr = syndrome();
	uint64_t address;

	if (CLASS(esr) == CLASS_STEP) {
		set_debug(0);
		frame->pstate &= ~(PSTATE_TCO | PSTATE_SS);
		frame->pstate |= PSTATE_D;
		return;
	}
	/* 0x11: a tag check. The address's upper four bits are not defined then. */
	if (CLASS(esr) != CLASS_DATA_ABORT || (esr & 0x3f) != 0x11)
		unexpected(frame);
	__asm__ volatile("mrs %0, far_el1" : "=r"(address));
	kasan_report_tag_fault(address | 0xfUL << 60, 0, esr >> 6 & 1, frame->pc, frame->x[29],
			       true);
	frame->pstate |= PSTATE_TCO | PSTATE_SS;
	frame->pstate &= ~PSTATE_D;
	set_debug(MDSCR_STEP);
}

#endif
#endif
#endif

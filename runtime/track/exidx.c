/* SPDX-License-Identifier: MIT */
/*
 * exidx.c - unwinds stacks by the exception index table, .ARM.exidx, of the Exception Handling ABI for the Arm Architecture
 * (EHABI): those of GCC's Thumb code, and those of other code if the port has such tables.
 *
 * The compiler writes the tables with -funwind-tables; the linker script supplies __exidx_start and __exidx_end around
 * .ARM.exidx, and keeps .ARM.extab. The tables describe the bodies of functions, not their first and last instructions:
 * a trace that starts there may miss a frame, or end.
 *
 * A function's unwind instructions boil down to a few distances from a register, struct step. They are computed once
 * for each return address that is met often and kept in a small table, so that an allocation's trace costs about as
 * much as following frame pointers. Only sp, r7 and r11 are tracked, because one of them finds every frame.
 */
#include "exidx.h"

#if KASAN_ARCH_UNWINDS

#include "../base/base.h"

/* An entry of the table: where a function begins, and how to unwind it. */
struct index {
	uint32_t function; /* distance of the function from this word, 31 bits with sign */
	uint32_t
		what; /* instructions, CANTUNWIND, or the distance of an entry in .ARM.extab from this word */
};

#define CANTUNWIND 1U
#define COMPACT	   0x80000000U

#ifndef KASAN_PORT_HAS_EXIDX
extern const struct index __exidx_start[] __attribute__((weak));
extern const struct index __exidx_end[] __attribute__((weak));
#endif

const struct kasan_regs *kasan_unwind_from[CONFIG_KASAN_NR_CPUS];

/* The tables refer to these, but nothing here throws. Weak, so that the library of a system with exceptions takes
 * precedence. */
void __aeabi_unwind_cpp_pr0(void);
void __aeabi_unwind_cpp_pr1(void);
void __aeabi_unwind_cpp_pr2(void);
__attribute__((weak)) void __aeabi_unwind_cpp_pr0(void)
{
}
__attribute__((weak)) void __aeabi_unwind_cpp_pr1(void)
{
}
__attribute__((weak)) void __aeabi_unwind_cpp_pr2(void)
{
}

bool kasan_unwind_has_tables(void)
{
#ifdef KASAN_PORT_HAS_EXIDX
	return true;
#else
	return &__exidx_start[0] != &__exidx_end[0];
#endif
}

static uintptr_t place(const uint32_t *word)
{
	return (uintptr_t)word + (uintptr_t)((int32_t)(*word << 1) >> 1);
}

/* Return: the entry of the function that holds @pc; NULL: it lies before all functions of the table. */
static const struct index *find(uintptr_t pc)
{
#ifdef KASAN_PORT_HAS_EXIDX
	const void *first, *last;
	const bool found = kasan_port_exidx(pc, &first, &last);
	const struct index *const start = found ? first : NULL, *const end = found ? last : NULL;
#else
	const struct index *const start = __exidx_start, *const end = __exidx_end;
#endif
	size_t low = 0, high = (size_t)(end - start);

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (place(&start[middle].function) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &start[low - 1] : NULL;
}

/* --- From instructions to distances --- */

#define NOWHERE 0x1fff /* the register is not in the frame */

enum base {
	BASE_SP,
	BASE_FP, /* r7 */
	BASE_R11,
	BASE_NONE, /* it cannot be unwound */
};

/** struct step - how to leave a function, in words from the register @base: @sp: where its caller's sp points; @ra,
 *  @fp, @r11: where these are saved. It is two words, because compilers would call memcpy() for four halves. */
struct step {
	int16_t sp, ra, fp;
	int16_t r11 : 14;
	uint16_t base : 2;
} __attribute__((__aligned__(4)));

struct decoder {
	const uint32_t *more; /* words that follow the one being read */
	uint32_t word;
	unsigned int bytes, words; /* left in @word, after the current one */
	unsigned int base;
	/* Where the virtual stack pointer is. In Arm state r11 is above what is saved. */
	int at;
	int saved[16];
	bool wrong;
};

static uint8_t next_byte(struct decoder *decoder)
{
	if (!decoder->bytes) {
		/* After the last byte everything means "finish". */
		if (!decoder->words)
			return 0xb0;
		decoder->words--;
		decoder->word = *decoder->more++;
		decoder->bytes = 4;
	}
	decoder->bytes--;
	return (uint8_t)(decoder->word >> (8 * decoder->bytes));
}

static bool is_at_end(const struct decoder *decoder)
{
	return !decoder->bytes && !decoder->words;
}

/* Pop the registers in @mask, of which bit n stands for register n. */
static void pop(struct decoder *decoder, unsigned int mask)
{
	unsigned int i;

	if (mask & 1U << 13 || decoder->at <= -NOWHERE || decoder->at >= NOWHERE - 16)
		decoder->wrong = true;
	for (i = 0; i < 16; i++) {
		if (mask & 1U << i)
			decoder->saved[i] = decoder->at++;
	}
}

/* Continue from another register. Compilers do this only before anything is popped. */
static void set_base(struct decoder *decoder, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		if (decoder->saved[i] != NOWHERE)
			decoder->wrong = true;
	}
	if (number != 7 && number != 11)
		decoder->wrong = true;
	decoder->base = number == 7 ? BASE_FP : BASE_R11;
	decoder->at = 0;
}

static unsigned int uleb128(struct decoder *decoder)
{
	unsigned int value = 0, shift = 0;
	uint8_t byte;

	do {
		byte = next_byte(decoder);
		if (shift < 28)
			value |= (byte & 0x7fU) << shift;
		shift += 7;
	} while (byte & 0x80 && !is_at_end(decoder));
	return value;
}

/* The rare ones: 1011xxxx and 11xxxxxx. */
static void execute_rare(struct decoder *decoder, uint8_t op)
{
	if (op == 0xb1)
		pop(decoder, next_byte(decoder) & 15U);
	else if (op == 0xb2)
		decoder->at += (int)(0x81 + uleb128(decoder));
	else if (op == 0xb3) /* FSTMFDX, with its word of format */
		decoder->at += 2 * ((next_byte(decoder) & 15) + 1) + 1;
	else if (op == 0xb4) /* a return address's authentication code */
		decoder->at++;
	else if (op >= 0xb8 && op <= 0xbf)
		decoder->at += 2 * ((op & 7) + 1) + 1;
	else if (op == 0xc8 || op == 0xc9)
		decoder->at += 2 * ((next_byte(decoder) & 15) + 1);
	else if (op >= 0xd0 && op <= 0xd7)
		decoder->at += 2 * ((op & 7) + 1);
	else if (op != 0xb5)
		decoder->wrong = true;
}

static void execute(struct decoder *decoder, uint8_t op)
{
	if (op < 0x40) {
		decoder->at += (op & 0x3f) + 1;
	} else if (op < 0x80) {
		decoder->at -= (op & 0x3f) + 1;
	} else if (op < 0x90) {
		const unsigned int mask = ((op & 15U) << 8 | next_byte(decoder)) << 4;

		if (!mask)
			decoder->wrong = true; /* "refuse to unwind" */
		pop(decoder, mask);
	} else if (op < 0xa0) {
		set_base(decoder, op & 15U);
	} else if (op < 0xb0) {
		pop(decoder, ((2U << (op & 7U)) - 1) << 4 | (op & 8U ? 1U << 14 : 0));
	} else {
		execute_rare(decoder, op);
	}
}

/* Point @decoder to the instructions of @entry. Return: false if there are none. */
static bool open_entry(struct decoder *decoder, const struct index *entry)
{
	const uint32_t *word = &entry->what;

	if (*word == CANTUNWIND)
		return false;
	if (!(*word & COMPACT)) {
		word = (const uint32_t *)place(word);
		/* A language's own handler comes first, and then the instructions. */
		if (!(*word & COMPACT)) {
			word++;
			decoder->words = *word >> 24;
			decoder->bytes = 3;
		}
	}
	if (!decoder->bytes) {
		switch (*word >> 24 & 0x7f) {
		case 0:
			decoder->bytes = 3;
			break;
		case 1:
		case 2:
			decoder->bytes = 2;
			decoder->words = *word >> 16 & 0xff;
			break;
		default:
			return false;
		}
	}
	decoder->word = *word;
	decoder->more = word + 1;
	return true;
}

static kasan_noinline struct step decode(uintptr_t pc)
{
	const struct index *const entry = find(pc);
	struct decoder decoder;
	struct step step;
	unsigned int i;
	uint8_t op;

	step.sp = step.ra = step.fp = step.r11 = 0;
	step.base = BASE_NONE;
	kasan_clear(&decoder);
	for (i = 0; i < 16; i++)
		decoder.saved[i] = NOWHERE;
	if (!entry || !open_entry(&decoder, entry))
		return step;
	while (!decoder.wrong && !is_at_end(&decoder)) {
		op = next_byte(&decoder);
		if (op == 0xb0)
			break;
		execute(&decoder, op);
	}
	/* The return address may be popped into pc. */
	if (decoder.saved[15] != NOWHERE)
		decoder.saved[14] = decoder.saved[15];
	if (decoder.wrong || decoder.at <= -NOWHERE || decoder.at >= NOWHERE)
		return step;
	step.sp = (int16_t)decoder.at;
	step.ra = (int16_t)decoder.saved[14];
	step.fp = (int16_t)decoder.saved[7];
	step.r11 = (int16_t)decoder.saved[11];
	step.base = decoder.base & 3;
	return step;
}

/* --- The table of steps --- */

/* How many return addresses the table remembers, 12 bytes each. */
#define STEPS 32U

/* With several CPUs an entry would need a lock. */
#if CONFIG_KASAN_NR_CPUS == 1
static struct {
	uintptr_t pc;
	struct step step;
} steps[STEPS];

static struct step step_of(uintptr_t pc)
{
	const size_t slot = (pc >> 1 ^ pc >> 7) % STEPS;
	unsigned long irq;
	struct step step;

	if (kasan_likely(__atomic_load_n(&steps[slot].pc, __ATOMIC_RELAXED) == pc)) {
		step = steps[slot].step;
		/* An interrupt may have replaced the entry. A step depends only on its address, so if the address is
		 * back, so is its step. */
		__asm__ volatile("" ::: "memory");
		if (kasan_likely(__atomic_load_n(&steps[slot].pc, __ATOMIC_RELAXED) == pc))
			return step;
	}
	step = decode(pc);
	irq = kasan_port_irq_save();
	steps[slot].step = step;
	steps[slot].pc = pc;
	kasan_port_irq_restore(irq);
	return step;
}
#else
static struct step step_of(uintptr_t pc)
{
	return decode(pc);
}
#endif

/* --- The walk --- */

static bool read_word(const struct kasan_port_task *task, uintptr_t addr, uintptr_t *word)
{
	if (addr < task->stack_start || addr > task->stack_end - sizeof(*word) ||
	    addr & (sizeof(*word) - 1))
		return false;
	*word = *(const uintptr_t *)addr;
	return true;
}

static uintptr_t word_at(uintptr_t base, int words)
{
	return base + (uintptr_t)(words * (int)sizeof(base));
}

/* Leave the function that holds the address @at. @is_first: it was interrupted, so its return address may be in lr and
 * it may have no frame. Return: false if that cannot be done. */
static bool leave(const struct kasan_port_task *task, struct kasan_regs *regs, uintptr_t at,
		  bool is_first)
{
	const struct step step = step_of(at & ~(uintptr_t)1);
	const uintptr_t bases[] = {regs->sp, regs->fp, regs->r11, 0};
	const uintptr_t base = bases[step.base], sp = word_at(base, step.sp);
	bool ok = true;

	if (step.base == BASE_NONE || sp < regs->sp || (sp == regs->sp && !is_first))
		return false;
	regs->pc = regs->lr;
	if (step.ra != NOWHERE)
		ok &= read_word(task, word_at(base, step.ra), &regs->pc);
	else if (!is_first)
		return false;
	if (step.fp != NOWHERE)
		ok &= read_word(task, word_at(base, step.fp), &regs->fp);
	if (step.r11 != NOWHERE)
		ok &= read_word(task, word_at(base, step.r11), &regs->r11);
	regs->sp = sp;
	return ok;
}

/* The most functions of the runtime between the one that makes the trace and the hook's caller. */
#define OWN_FRAMES 16

size_t kasan_unwind(const struct kasan_port_task *task, const struct kasan_regs *start,
		    uintptr_t ip, uintptr_t *pcs, size_t count, size_t max)
{
	struct kasan_regs regs;
	unsigned int i;

	kasan_copy(&regs, start);
	if (kasan_unlikely(!task->stack_start || task->stack_end < task->stack_start + 64))
		return count;
	for (i = 0; ip && regs.pc != ip; i++) {
		if (i == OWN_FRAMES || !leave(task, &regs, i ? regs.pc - 2 : regs.pc, false))
			return count;
	}
	while (count < max && leave(task, &regs, ip ? regs.pc - 2 : regs.pc, !ip)) {
		if (!kasan_unwinds_to(regs.pc))
			break;
		pcs[count++] = ip = regs.pc;
	}
	return count;
}

size_t kasan_unwind_slots(const struct kasan_port_task *task, uintptr_t ip, uintptr_t sp,
			  uintptr_t *pcs, uint8_t *slots, uint16_t *span)
{
	uintptr_t at = sp - sizeof(sp), to;
	const uintptr_t below = at;
	size_t count = 1, distance;
	bool fits = true;

	pcs[0] = ip;
	for (;;) {
		const struct step step = step_of((pcs[count - 1] - 2) & ~(uintptr_t)1);

		if (slots) {
			slots[count - 1] = 0;
			*span = (uint16_t)(at - below);
		}
		/* As in leave(): these end a trace whatever the stack holds. */
		if (count == CONFIG_KASAN_STACK_DEPTH || step.base == BASE_NONE ||
		    step.ra == NOWHERE || !step.sp)
			break;
		/* If they were above it, the trace would depend on more than the return address. */
		if (step.base != BASE_SP || step.ra < 0 || step.ra >= step.sp ||
		    (step.fp != NOWHERE && step.fp > step.ra) ||
		    (step.r11 != NOWHERE && step.r11 > step.ra))
			return 0;
		to = word_at(sp, step.ra);
		distance = (to - at) / sizeof(sp);
		fits &= distance <= UINT8_MAX;
		if (slots)
			slots[count - 1] = (uint8_t)distance;
		if (!read_word(task, to, &pcs[count]) || !kasan_unwinds_to(pcs[count]))
			break;
		at = to;
		sp = word_at(sp, step.sp);
		count++;
	}
	if (slots && !fits)
		slots[0] = 0;
	return count;
}

#endif /* KASAN_ARCH_UNWINDS */

// SPDX-License-Identifier: MIT
/*
 * orc.c - stack traces on x86_64 without frame pointers, by the tables of Linux's ORC unwinder (asm/orc_types.h).
 *
 * Linux's own unwind_next_frame() is made for traces of crashes: it takes some hundred instructions for each function. A
 * kernel allocates and frees from a few thousand places, and how to leave a function depends only on the return address.
 * So a table here remembers that, in one word, which is read and written without a lock.
 */
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/notifier.h>

#include <asm/orc_types.h>

#include "redzone.h"

/* From the linker script. The places are distances from the words that hold them, sorted. */
extern const int __start_orc_unwind_ip[], __stop_orc_unwind_ip[];
extern const struct orc_entry __start_orc_unwind[];

/*
 * How to leave a function at a return address, in bytes:
 *	bits 63..32	the lower half of the address. The upper one is all ones, for Linux's code and modules
 *	bits 31..16	how far below the caller's stack pointer the caller's rbp is saved; 0: it is still in the register.
 *			With BY_POINTER: how far below rbp, which may be 0
 *	bits 15..3	the distance to the caller's stack pointer, from the register that BY_* says
 *	bits 2..0	enum leaving
 */
enum leaving {
	NOT_CODE, /* 0, so that an empty entry is none */
	THE_LAST,
	BY_SP,
	BY_BP,
	BY_POINTER, /* the caller's stack pointer is saved so far below rbp: GCC's functions that align their stack */
};

#define STEP(leaving, distance, saved) ((u64)(saved) << 16 | (u64)(distance) | (leaving))
#define STEP_LEAVING(step)	       ((step) & 7)
#define STEP_DISTANCE(step)	       ((step) & 0xfff8)
#define STEP_SAVED(step)	       ((step) >> 16 & 0xfff8)

/* 16 KiB. With four times as many a boot takes no fewer instructions. */
#define STEPS_ORDER 11
static u64 steps[1 << STEPS_ORDER];

/* The most functions of Linux and of the runtime between a hook and the function that is to come first. */
#define SKIPPED 16

static const struct orc_entry *search(const int *places, const struct orc_entry *entries,
				      size_t count, unsigned long at)
{
	size_t low = 0, high = count;

	/* The last one that does not lie above @at. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if ((unsigned long)&places[middle] + places[middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &entries[low - 1] : NULL;
}

static bool find_in_module(unsigned long at, struct orc_entry *entry)
{
	const struct orc_entry *found = NULL;
#ifdef CONFIG_MODULES
	const struct module *module;
	unsigned long flags;

	/* While interrupts are off, the module stays. */
	raw_local_irq_save(flags);
	module = __module_address(at);
	if (module && module->arch.num_orcs)
		found = search(module->arch.orc_unwind_ip, module->arch.orc_unwind,
			       module->arch.num_orcs, at);
	if (found)
		*entry = *found;
	raw_local_irq_restore(flags);
#endif
	return found;
}

/* Return: false if the code at @at has no table. */
static bool find_entry(unsigned long at, struct orc_entry *entry)
{
	const struct orc_entry *found;

	if (!core_kernel_text(at))
		return find_in_module(at, entry);
	found = search(__start_orc_unwind_ip, __start_orc_unwind,
		       __stop_orc_unwind_ip - __start_orc_unwind_ip, at);
	if (found)
		*entry = *found;
	return found;
}

static bool fits(long distance)
{
	return distance >= 0 && distance <= 0xfff8 && !(distance & 7);
}

static u64 step_of_entry(const struct orc_entry *entry)
{
	long distance = entry->sp_offset, saved = -entry->bp_offset;

	/* Registers of an exception or of a program come next. There a chain of frame pointers ends too. */
	if (entry->type != ORC_TYPE_CALL)
		return THE_LAST;
	if (entry->sp_reg == ORC_REG_BP_INDIRECT) {
		if (entry->bp_reg != ORC_REG_BP || !fits(-distance) || !fits(saved))
			return THE_LAST;
		return STEP(BY_POINTER, -distance, saved);
	}
	if (entry->bp_reg == ORC_REG_UNDEFINED)
		saved = 0;
	else if (entry->bp_reg == ORC_REG_BP && entry->sp_reg == ORC_REG_BP)
		saved += distance;
	else if (entry->bp_reg != ORC_REG_PREV_SP)
		return THE_LAST;
	if (!fits(distance) || !fits(saved) || saved > distance)
		return THE_LAST;
	if (entry->sp_reg == ORC_REG_SP)
		return STEP(BY_SP, distance, saved);
	return entry->sp_reg == ORC_REG_BP && distance == 16 ? STEP(BY_BP, distance, saved)
							     : THE_LAST;
}

/* @entry: of the table, filled if @ip is code. */
static noinline u64 new_step(unsigned long ip, u64 *entry)
{
	struct orc_entry orc;
	u64 step;

	if (!__kernel_text_address(ip))
		return NOT_CODE;
	/* Code that is made at run time has frame pointers. The call comes before its return address, and may be the last
	 * instruction of its function. */
	step = find_entry(ip - 1, &orc) ? step_of_entry(&orc) : STEP(BY_BP, 16, 16);
	WRITE_ONCE(*entry, (u64)ip << 32 | step);
	return step;
}

static __always_inline u64 step_of(unsigned long ip)
{
	u64 *const entry = &steps[(u32)ip * 0x9e3779b1U >> (32 - STEPS_ORDER)];
	const u64 step = READ_ONCE(*entry);

	if (likely((long)step >> 32 == (long)ip))
		return step;
	return new_step(ip, entry);
}

/* struct place - in the walk. @ip: a return address. @sp, @bp: the registers after the return. @bp_at: where @bp was
 * saved. */
struct place {
	unsigned long ip, sp, bp, bp_at;
};

static __always_inline unsigned long word(unsigned long at)
{
	return *(const unsigned long *)at;
}

/* Go to the caller, by the @step of the place. @end: of the stack. Return: false if that cannot be done. */
static __always_inline bool leave(struct place *place, u64 step, unsigned long end)
{
	const unsigned long distance = STEP_DISTANCE(step), saved = STEP_SAVED(step),
			    bp = place->bp;
	const unsigned long room = bp - place->sp;
	unsigned long sp, frame;

	switch (STEP_LEAVING(step)) {
	case BY_SP:
		frame = sp = place->sp + distance;
		break;
	case BY_BP:
		frame = sp = bp + distance;
		break;
	case BY_POINTER:
		if (room >= end - place->sp || room < distance || room < saved || bp & 7)
			return false;
		frame = bp;
		sp = word(bp - distance);
		break;
	default:
		return false;
	}
	/* The walk must climb. */
	if (unlikely(sp <= place->sp || sp > end))
		return false;
	if (saved || STEP_LEAVING(step) == BY_POINTER) {
		place->bp_at = frame - saved;
		place->bp = word(place->bp_at);
	}
	place->ip = word(sp - 8);
	place->sp = sp;
	return true;
}

/* Go to the function that @ip is in, if it is near. */
static bool skip_to(struct place *place, unsigned long ip, unsigned long end)
{
	unsigned int i;

	for (i = 0; place->ip != ip; i++) {
		if (i == SKIPPED || !leave(place, step_of(place->ip), end))
			return false;
	}
	return true;
}

/* Append @distance to @path. Return: the new end; NULL: a path cannot have it. */
static u16 *add(u16 *path, unsigned long distance)
{
	*path = distance;
	return fits(distance) ? path + 1 : NULL;
}

/* Append where a register is saved, and its value. @end: of the return address that it tells. */
static u16 *add_saved(u16 *path, unsigned long end, unsigned long at, unsigned long value)
{
	path = add(path, end - 8 - at);
	return path ? add(path, end - value) : NULL;
}

/* Append how @to was reached from @from by @step. @last: where the path must end at the latest. */
static u16 *add_to_path(u16 *path, const u16 *last, const struct place *from,
			const struct place *to, u64 step)
{
	const unsigned long end = to->sp;

	if (path + 5 > last)
		return NULL;
	path = add(path, end - from->sp);
	if (!path || STEP_LEAVING(step) == BY_SP)
		return path;
	path[-1]++;
	path = add_saved(path, end, from->bp_at, from->bp);
	if (!path || STEP_LEAVING(step) == BY_BP)
		return path;
	path[-3]++;
	return add_saved(path, end, from->bp - STEP_DISTANCE(step), end);
}

size_t kasan_port_walk(uintptr_t start, uintptr_t end, uintptr_t ip, uintptr_t fp, uintptr_t *pcs,
		       size_t max, uint16_t *path)
{
	struct place place, from;
	u16 *at = path;
	size_t count = 0;
	u64 step;

	pcs[count++] = ip;
	if (path)
		*path = 0;
	if (unlikely(fp < start || fp >= end || end - fp < 16 || fp & 7))
		return count;
	/* The compilers give each function that asks for its frame a frame pointer. */
	place = (struct place){.ip = word(fp + 8), .sp = fp + 16, .bp = word(fp), .bp_at = fp};
	if (unlikely(place.ip != ip)) {
		from = place;
		at = NULL;
		if (!skip_to(&place, ip, end)) {
			place = from;
			if (count < max && STEP_LEAVING(step_of(place.ip)) != NOT_CODE)
				pcs[count++] = place.ip;
		}
	}
	step = step_of(place.ip);
	while (count < max && STEP_LEAVING(step) != THE_LAST) {
		from = place;
		if (!leave(&place, step, end)) {
			at = NULL;
			break;
		}
		if (at)
			at = add_to_path(at, path + KASAN_PATH_MOST - 1, &from, &place, step);
		step = step_of(place.ip);
		/* Another time the same word may be a return address. */
		if (STEP_LEAVING(step) == NOT_CODE) {
			at = NULL;
			break;
		}
		pcs[count++] = place.ip;
	}
	if (at)
		*at = 0;
	else if (path)
		*path = 0;
	return count;
}

#ifdef CONFIG_MODULES

/* Other code may come to where a module was. */
static int module_changes(struct notifier_block *block, unsigned long state, void *module)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++)
		WRITE_ONCE(steps[i], 0);
	return NOTIFY_DONE;
}

static struct notifier_block watch = {.notifier_call = module_changes};

static int __init watch_modules(void)
{
	return register_module_notifier(&watch);
}
core_initcall(watch_modules);

#endif

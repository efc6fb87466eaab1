/* SPDX-License-Identifier: MIT */
/*
 * scs.c - the shadow call stacks of this CPU, and which one a pointer belongs to.
 *
 * Not instrumented: reports and faults use it.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <asm/ptrace.h>
#include <asm/stacktrace.h>

/* Sizes of a CPU's own stacks. */
#define SCS_CPU_SIZE PAGE_SIZE

/* By CPU, for the entry of interrupts: address of the oldest entry. The boot CPU's serve until scs_init_cpu(), as nothing is
 * interrupted before that. */
uintptr_t scs_irq_base[NR_CPUS] = {(uintptr_t)boot_scs_faults + sizeof(u64)};
uintptr_t scs_softirq_base[NR_CPUS] = {(uintptr_t)boot_scs_faults + sizeof(u64)};
uintptr_t scs_fault_base[NR_CPUS] = {(uintptr_t)boot_scs_faults + sizeof(u64)};

int scs_init_cpu(unsigned int cpu)
{
	u64 *irq = scs_alloc(SCS_CPU_SIZE);
	u64 *softirq = scs_alloc(SCS_CPU_SIZE);
	u64 *fault = scs_alloc(SCS_CPU_SIZE);

	if (!irq || !softirq || !fault) {
		scs_free(irq);
		scs_free(softirq);
		scs_free(fault);
		return -ENOMEM;
	}
	scs_irq_base[cpu] = (uintptr_t)(irq + 1);
	scs_softirq_base[cpu] = (uintptr_t)(softirq + 1);
	scs_fault_base[cpu] = (uintptr_t)(fault + 1);
	return 0;
}

struct scs_place scs_place_of(enum scs_kind kind)
{
	const unsigned int cpu = smp_processor_id();
	uintptr_t base = current->context.scs_base;
	size_t size = SCS_CPU_SIZE;

	if (kind == SCS_IRQ)
		base = scs_irq_base[cpu];
	else if (kind == SCS_SOFTIRQ)
		base = scs_softirq_base[cpu];
	else if (kind == SCS_FAULT)
		base = scs_fault_base[cpu];
	else
		size = current == &init_task ? BOOT_SCS_SIZE
					     : scs_size(task_main_stack_size(current));
	return (struct scs_place){.kind = kind, .base = base, .end = base - sizeof(u64) + size};
}

bool scs_find(uintptr_t top, struct scs_place *place)
{
	for (enum scs_kind kind = SCS_TASK; kind <= SCS_FAULT; kind++) {
		*place = scs_place_of(kind);
		if (!(top & 7) && top >= place->base && top <= place->end)
			return true;
	}
	return false;
}

/* --- Traces ----------------------------------------------------------------------------------- */

/* Return: true if @pc is in a function that calls others without pushing: its callers miss an entry. */
static bool pushes_nothing(uintptr_t pc)
{
#ifdef CONFIG_SCS_RUNTIME
	return false;
#else
	extern char __runtime_text_start[], __runtime_text_end[];
	extern char __kasan_access_start[], __kasan_access_end[];

	return (pc >= (uintptr_t)__runtime_text_start && pc < (uintptr_t)__runtime_text_end) ||
	       (pc >= (uintptr_t)__kasan_access_start && pc < (uintptr_t)__kasan_access_end);
#endif
}

bool scs_walk_next(struct scs_walk *walk, uintptr_t *pc)
{
	while (walk->top == walk->base) {
		if (!kasan_port_scs_outer(walk->base, &walk->top))
			return false;
		walk->base = scs_base_of(walk->top);
	}
	walk->top -= sizeof(uintptr_t);
	*pc = scs_strip(*(const uintptr_t *)walk->top);
	/* An interrupt came before that function had stored its entry: an older call's is there. */
	if (scs_is_raised(*pc) && walk->top != walk->base)
		walk->top -= sizeof(uintptr_t);
	return true;
}

bool scs_walk_start(struct scs_walk *walk, uintptr_t top)
{
	struct scs_place place;
	struct scs_walk ahead;
	uintptr_t pc;

	if (!scs_find(top, &place) || place.kind == SCS_FAULT)
		return false;
	*walk = ahead = (struct scs_walk){.top = top, .base = place.base};
	while (scs_walk_next(&ahead, &pc)) {
		if (pushes_nothing(pc))
			return false;
	}
	return true;
}

bool scs_walk_start_regs(struct scs_walk *walk, const struct pt_regs *regs)
{
	uintptr_t top = regs_scs(regs);

	if (scs_is_raised(regs->pc))
		top -= sizeof(uintptr_t);
	return kernel_text_address(regs->pc) && !pushes_nothing(regs->pc) &&
	       scs_walk_start(walk, top);
}

bool kasan_port_scs_outer(uintptr_t base, uintptr_t *top)
{
	struct scs_place place;

	if (!scs_find(base, &place) || place.kind == SCS_TASK)
		return false;
	*top = *(const uintptr_t *)(place.base - sizeof(uintptr_t));
	return scs_find(*top, &place);
}

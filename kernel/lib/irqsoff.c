/* SPDX-License-Identifier: MIT */
/*
 * irqsoff.c - the interrupts-off tracer: <kernel/irqsoff.h>.
 *
 * Each CPU has tables of its own, which it changes with interrupts off only: no lock, no atomics. So the tracer can
 * be called from everywhere, also under the locks that it measures.
 *
 * A period lasts from the first switch off to the switch on, whatever happens in between: nested ones, a context
 * switch. The idle loop ends it before it waits. The few instructions before the first hook of an exception's
 * entry and after the last one of its exit are not in it.
 *
 * Bound: PLACES code places and LOCKS locks for each CPU; periods that find no record are counted.
 */
#include <kernel/arch.h>
#include <kernel/irqflags.h>
#include <kernel/irqsoff.h>
#include <kernel/kernel.h>
#include <kernel/string.h>
#include <asm/percpu.h>

#define PLACES 256U
#define LOCKS  256U
/* The runtime takes at most two locks, one inside the other. */
#define DEPTH 4U

static struct irqsoff_cpu {
	u64 since; /* 0: interrupts are on, or the period is not recorded */
	unsigned long from;
	unsigned int depth; /* of the runtime's locks that this CPU holds */
	u64 taken[DEPTH];
	unsigned long lost;
	struct irqsoff_record places[PLACES], locks[LOCKS];
} tracers[NR_CPUS];

static bool recording;

/* Open addressing: the record of @from, or a free one. */
static struct irqsoff_record *record_of(struct irqsoff_record *table, unsigned int size,
					unsigned long from)
{
	unsigned int at = ((u32)(from >> 2) * 0x9e3779b1U >> 16) % size, i;

	for (i = 0; i < size; i++, at = (at + 1) % size) {
		if (table[at].from == from || !table[at].from) {
			table[at].from = from;
			return &table[at];
		}
	}
	return NULL;
}

static void note(struct irqsoff_cpu *cpu, struct irqsoff_record *record, u64 counts,
		 unsigned long to)
{
	if (!record) {
		cpu->lost++;
		return;
	}
	record->times++;
	if (counts >= record->longest) {
		record->longest = counts;
		record->to = to;
	}
}

void irqsoff_begin(void)
{
	struct irqsoff_cpu *cpu = &tracers[smp_processor_id()];

	if (cpu->since || !READ_ONCE(recording))
		return;
	cpu->from = (unsigned long)__builtin_return_address(0);
	/* Last, so that the tracer's own work before it is not counted. */
	cpu->since = arch_counter();
}

void irqsoff_end(void)
{
	struct irqsoff_cpu *cpu;
	u64 now;

	/* A restore may find them on: then the period and even the CPU are not the caller's. */
	if (!arch_irqs_disabled_flags(arch_local_save_flags()))
		return;
	now = arch_counter();
	cpu = &tracers[smp_processor_id()];
	if (!cpu->since)
		return;
	if (READ_ONCE(recording))
		note(cpu, record_of(cpu->places, PLACES, cpu->from), now - cpu->since,
		     (unsigned long)__builtin_return_address(0));
	cpu->since = 0;
}

#ifdef CONFIG_KASAN

struct kasan_lock;

/* The runtime's own hooks, see runtime/base/lock.h. Interrupts are off. */
void kasan_lock_check_take(const struct kasan_lock *lock);
void kasan_lock_check_free(const struct kasan_lock *lock);

void kasan_lock_check_take(const struct kasan_lock *lock)
{
	struct irqsoff_cpu *cpu = &tracers[smp_processor_id()];
	const unsigned int depth = cpu->depth++;

	if (depth < DEPTH)
		cpu->taken[depth] = READ_ONCE(recording) ? arch_counter() : 0;
}

void kasan_lock_check_free(const struct kasan_lock *lock)
{
	const u64 now = arch_counter();
	struct irqsoff_cpu *cpu = &tracers[smp_processor_id()];
	const unsigned int depth = --cpu->depth;

	if (depth < DEPTH && cpu->taken[depth] && READ_ONCE(recording))
		note(cpu, record_of(cpu->locks, LOCKS, (unsigned long)lock),
		     now - cpu->taken[depth], (unsigned long)__builtin_return_address(0));
}

#endif

void irqsoff_start(void)
{
	unsigned int i;

	irqsoff_stop();
	for (i = 0; i < NR_CPUS; i++) {
		struct irqsoff_cpu *cpu = &tracers[i];

		cpu->lost = 0;
		__memset(cpu->places, 0, sizeof(cpu->places));
		__memset(cpu->locks, 0, sizeof(cpu->locks));
	}
	WRITE_ONCE(recording, true);
}

void irqsoff_stop(void)
{
	WRITE_ONCE(recording, false);
}

/* Insert @record of one CPU into the sorted @records: merged with another CPU's of the same place. Return: how many
 * there are then. */
static unsigned int merge(struct irqsoff_record *records, unsigned int n, unsigned int max,
			  struct irqsoff_record record)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (records[i].from != record.from)
			continue;
		record.times += records[i].times;
		if (records[i].longest > record.longest) {
			record.longest = records[i].longest;
			record.to = records[i].to;
		}
		n--;
		for (; i < n; i++)
			records[i] = records[i + 1];
		break;
	}
	if (n == max) {
		if (records[n - 1].longest >= record.longest)
			return n;
		n--;
	}
	for (i = n; i && records[i - 1].longest < record.longest; i--)
		records[i] = records[i - 1];
	records[i] = record;
	return n + 1;
}

static unsigned int gather(struct irqsoff_record *records, unsigned int max, bool locks)
{
	unsigned int cpu, i, n = 0;

	for (cpu = 0; cpu < NR_CPUS && max; cpu++) {
		const struct irqsoff_record *table =
			locks ? tracers[cpu].locks : tracers[cpu].places;

		for (i = 0; i < (locks ? LOCKS : PLACES); i++) {
			if (table[i].times)
				n = merge(records, n, max, table[i]);
		}
	}
	return n;
}

unsigned int irqsoff_places(struct irqsoff_record *records, unsigned int max)
{
	return gather(records, max, false);
}

unsigned int irqsoff_locks(struct irqsoff_record *records, unsigned int max)
{
	return gather(records, max, true);
}

unsigned long irqsoff_lost(void)
{
	unsigned long lost = 0;
	unsigned int i;

	for (i = 0; i < NR_CPUS; i++)
		lost += tracers[i].lost;
	return lost;
}

/* SPDX-License-Identifier: MIT */
/* spinlock.c - waiting for a spin lock, and noticing a wait that will never end. */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>
#include <asm/barrier.h>

/* A lock is held for microseconds. Even an emulated CPU on a busy host has released it by then. */
#define LOCKUP_NS (20 * NSEC_PER_SEC)

/* How many rounds of waiting pass between two looks at the clock. */
#define ROUNDS_PER_LOOK 65536U

static void report_lockup(const spinlock_t *lock, unsigned int cpu)
{
	pr_emerg("BUG: spinlock lockup suspected on CPU#%u, %s/%d\n"
		 " lock: %pS, holder: CPU#%d\n",
		 cpu, current->comm, current->pid, lock, (int)READ_ONCE(lock->holder) - 1);
	dump_stack();
}

void spin_lock_wait(spinlock_t *lock)
{
	unsigned int cpu = smp_processor_id();
	unsigned int rounds = 0;
	bool reported = false;
	u64 start = 0;

	/* A CPU that waits for itself waits for ever. */
	if (READ_ONCE(lock->holder) == cpu + 1)
		panic("spinlock recursion on CPU#%u, %s/%d, lock %pS", cpu, current->comm,
		      current->pid, lock);
	/* While the lock is taken, only load: a store would take the cache line away from the holder. */
	while (READ_ONCE(lock->holder) || !__raw_spin_trylock(lock)) {
		cpu_relax();
		if (++rounds % ROUNDS_PER_LOOK || reported)
			continue;
		if (!start)
			start = clock_ns();
		if (clock_ns() - start > LOCKUP_NS) {
			report_lockup(lock, cpu);
			reported = true;
		}
	}
}

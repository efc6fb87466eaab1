/* SPDX-License-Identifier: MIT */
/*
 * timer.c - the architected timer. The virtual counter gives the time; each CPU has its own comparator for
 * the tick.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/interrupt.h>
#include <kernel/printk.h>
#include <kernel/time.h>
#include <kernel/smp.h>
#include <asm/barrier.h>
#include <drivers/fdt.h>
#include "gic.h"
#include "internal.h"

#define CNTV_CTL_ENABLE BIT(0)

/* The device tree lists: secure, non-secure, virtual, hypervisor. */
#define FDT_TIMER_VIRTUAL 2

static u64 boot_count;
static u64 frequency;
/* Nanoseconds per count as a 32.32 fixed point number. */
static u64 ns_per_count;

static u64 interval;
static unsigned int timer_irq;
static u64 next_tick[NR_CPUS];

/* The barrier keeps the CPU from reading the counter before earlier instructions are done. */
u64 arch_counter(void)
{
	isb();
	return read_sysreg(cntvct_el0);
}

u64 arch_counter_hz(void)
{
	return frequency;
}

void early_clock_init(void)
{
	frequency = read_sysreg(cntfrq_el0);
	/* The firmware did not set it: assume the 62.5 MHz of QEMU's machine. */
	if (!frequency)
		frequency = 62500000;
	ns_per_count = (NSEC_PER_SEC << 32) / frequency;
	boot_count = arch_counter();
}

u64 clock_ns(void)
{
	/* 128 bits: 64 bits would overflow after some seconds. */
	return (u64)(((unsigned __int128)(arch_counter() - boot_count) * ns_per_count) >> 32);
}

void udelay(unsigned long us)
{
	u64 start = arch_counter();
	u64 counts = us * frequency / 1000000 + 1;

	while (arch_counter() - start < counts)
		cpu_relax();
}

/*
 * Emulators that count instructions run the CPUs one after another, and some return to the first CPU at
 * every tick: a loop there starves all others. The hint in cpu_relax() passes the turn. With n CPUs each
 * CPU gives the hint at n - 1 of its n ticks, and keeps its turn after the other one. Where CPUs run in
 * parallel the hint does nothing.
 */
static void pass_turn(unsigned int cpu)
{
	static unsigned int ticks[NR_CPUS];

	if (++ticks[cpu] % nr_cpu_ids)
		cpu_relax();
}

static irqreturn_t timer_interrupt(unsigned int irq, void *dev)
{
	unsigned int cpu = smp_processor_id();
	u64 *next = &next_tick[cpu];
	u64 now = arch_counter();

	/* Missed ticks (in a debugger, or with interrupts off for long) are not made up for. */
	do {
		*next += interval;
	} while ((s64)(*next - now) <= 0);
	write_sysreg(*next, cntv_cval_el0);
	isb();
	timer_tick();
	pass_turn(cpu);
	return IRQ_HANDLED;
}

static void start_tick(void)
{
	u64 next = arch_counter() + interval;

	next_tick[smp_processor_id()] = next;
	write_sysreg(next, cntv_cval_el0);
	write_sysreg(CNTV_CTL_ENABLE, cntv_ctl_el0);
	isb();
}

void time_init(void)
{
	int node = fdt_compatible(-1, "arm,armv8-timer");

	timer_irq = fdt_irq(node, FDT_TIMER_VIRTUAL);
	if (!timer_irq)
		panic("no architected timer in the device tree");
	interval = frequency / HZ;
	if (request_irq(timer_irq, timer_interrupt, IRQF_NO_THREAD, "timer", NULL))
		panic("the timer's interrupt %u cannot be used", timer_irq);
	start_tick();
	pr_info("clock: %lu.%03lu MHz, %d ticks per second\n", frequency / 1000000,
		frequency / 1000 % 1000, HZ);
}

void timer_start_cpu(void)
{
	arch_irq_enable(timer_irq);
	start_tick();
}

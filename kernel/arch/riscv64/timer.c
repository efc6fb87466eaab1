/* SPDX-License-Identifier: MIT */
/*
 * timer.c - the counter `time`, the same on all CPUs, and the tick, for which the firmware has a comparator for each CPU.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <kernel/time.h>
#include <asm/barrier.h>
#include <asm/percpu.h>
#include <drivers/fdt.h>
#include "internal.h"
#include "sbi.h"

static u64 boot_count;
static u64 frequency;
/* Nanoseconds per count as a 32.32 fixed point number. 0 until the device tree has been read. */
static u64 ns_per_count;

static u64 interval;
static u64 next_tick[NR_CPUS];

/* The fence keeps the CPU from reading the counter before earlier instructions are done. */
u64 arch_counter(void)
{
	fence(iorw, iorw);
	return csr_read(time);
}

u64 arch_counter_hz(void)
{
	return frequency;
}

void early_clock_init(void)
{
	boot_count = arch_counter();
}

void clock_probe(void)
{
	frequency = fdt_u64(fdt_path("/cpus"), "timebase-frequency", 0);
	if (!frequency)
		early_panic("the device tree does not say how fast time goes\n");
	ns_per_count = (NSEC_PER_SEC << 32) / frequency;
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

void timer_interrupt(void)
{
	u64 *next = &next_tick[smp_processor_id()];
	u64 now = arch_counter();

	/* Missed ticks (in a debugger, or with interrupts off for long) are not made up for. */
	do {
		*next += interval;
	} while ((s64)(*next - now) <= 0);
	sbi_set_timer(*next);
	timer_tick();
}

void timer_start_cpu(void)
{
	u64 next = arch_counter() + interval;

	next_tick[smp_processor_id()] = next;
	sbi_set_timer(next);
	csr_set(sie, IE_TIMER);
}

void time_init(void)
{
	if (!sbi_has(SBI_EXT_TIMER))
		panic("the firmware has no timer");
	interval = frequency / HZ;
	timer_start_cpu();
	pr_info("clock: %lu.%03lu MHz, %d ticks per second\n", frequency / 1000000,
		frequency / 1000 % 1000, HZ);
}

/* SPDX-License-Identifier: MIT */
/*
 * console.c - the lock of the console, and the timestamp before each line of the kernel's.
 *
 * Lines go to the machine that runs the emulator, <kernel/host.h>, and without it to the UART.
 *
 * Not instrumented, because KASAN's reports are printed here. The lock is not a spinlock_t because it
 * must nest: a CPU that faults, or finds a bug, while it prints must be able to report that.
 */
#include <kernel/console.h>
#include <kernel/host.h>
#include <kernel/irqflags.h>
#include <kernel/time.h>
#include <drivers/uart.h>
#include <asm/barrier.h>
#include <asm/percpu.h>

/* How long console_bust() waits for another CPU to end its line. */
#define BUST_GRACE_NS (20 * NSEC_PER_MSEC)

/* The length of "[SSSSS.UUUUUU] ". */
#define PREFIX_LEN 15

/* The CPU that has the console, plus 1; 0 if no CPU has it. */
static unsigned int console_owner;
/* Only the owner reads and writes these. */
static unsigned int console_depth;
static bool line_open;
/* Program output was sent since the last tick. */
static bool sent;

static bool console_trylock(unsigned int cpu)
{
	unsigned int nobody = 0;

	if (__atomic_load_n(&console_owner, __ATOMIC_RELAXED) == cpu + 1)
		return true;
	return __atomic_compare_exchange_n(&console_owner, &nobody, cpu + 1, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

unsigned long console_lock(void)
{
	unsigned long flags = arch_local_irq_save();

	/* Wait with the caller's interrupt state, so that a stop request is received. After each wait
	 * this may be another CPU. */
	while (!console_trylock(smp_processor_id())) {
		arch_local_irq_restore(flags);
		cpu_relax();
		flags = arch_local_irq_save();
	}
	console_depth++;
	return flags;
}

void console_unlock(unsigned long flags)
{
	if (--console_depth == 0)
		__atomic_store_n(&console_owner, 0, __ATOMIC_RELEASE);
	arch_local_irq_restore(flags);
}

void console_bust(void)
{
	unsigned int cpu = smp_processor_id();
	u64 start = clock_ns();

	while (!console_trylock(cpu)) {
		if (clock_ns() - start > BUST_GRACE_NS) {
			__atomic_store_n(&console_owner, cpu + 1, __ATOMIC_RELAXED);
			console_depth = 0;
			host_recover();
			break;
		}
		cpu_relax();
	}
	/* This level is never taken back, so the CPU keeps the console. */
	console_depth++;
}

/* The lock is held. */
static void put(unsigned int channel, const char *text, size_t n)
{
	if (host_present())
		host_put(channel, text, n);
	else
		uart_write(text, n);
}

static void send(void)
{
	if (host_present())
		host_flush();
}

static void end_open_line(void)
{
	if (line_open)
		put(HOST_PROGRAM, "\n", 1);
	line_open = false;
}

/* Print @value in decimal, right-aligned, filled up with @fill. */
static void put_decimal(char *buf, unsigned int width, u64 value, char fill)
{
	for (unsigned int i = width; i-- > 0; value /= 10)
		buf[i] = value || i == width - 1 ? (char)('0' + value % 10) : fill;
}

static void write_prefix(u64 now)
{
	char prefix[PREFIX_LEN];

	prefix[0] = '[';
	put_decimal(prefix + 1, 5, now / NSEC_PER_SEC, ' ');
	prefix[6] = '.';
	put_decimal(prefix + 7, 6, now % NSEC_PER_SEC / NSEC_PER_USEC, '0');
	prefix[13] = ']';
	prefix[14] = ' ';
	put(HOST_KERNEL, prefix, PREFIX_LEN);
}

void console_write(const char *text, size_t n)
{
	unsigned long flags;

	if (!n)
		return;
	flags = console_lock();
	put(HOST_PROGRAM, text, n);
	line_open = text[n - 1] != '\n';
	/* The next tick sends what comes in the same tick: a program that prints much does not wait for each line. */
	if (!READ_ONCE(sent)) {
		WRITE_ONCE(sent, true);
		send();
	}
	console_unlock(flags);
}

void console_flush(void)
{
	unsigned long flags;

	if (!host_pending())
		return;
	flags = console_lock();
	send();
	console_unlock(flags);
}

void console_tick(void)
{
	WRITE_ONCE(sent, false);
	/* If another CPU owns the console, the next tick does it. */
	if (!host_pending() || !console_trylock(smp_processor_id()))
		return;
	console_depth++;
	send();
	if (--console_depth == 0)
		__atomic_store_n(&console_owner, 0, __ATOMIC_RELEASE);
}

void console_write_lines(const char *text, size_t n)
{
	unsigned long flags = console_lock();
	u64 now = clock_ns();

	end_open_line();
	do {
		size_t len = 0;

		while (len < n && text[len] != '\n')
			len++;
		write_prefix(now);
		put(HOST_KERNEL, text, len);
		put(HOST_KERNEL, "\n", 1);
		if (len < n)
			len++;
		text += len;
		n -= len;
	} while (n);
	send();
	console_unlock(flags);
}

void console_write_line(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	console_write_lines(text, n);
}

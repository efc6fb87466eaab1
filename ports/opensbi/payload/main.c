/* SPDX-License-Identifier: MIT */
/*
 * main.c - what runs after OpenSBI in the tests: supervisor mode makes ordinary use of firmware's services on all harts,
 * then plants the bugs that it is told to. Nothing of it is under KASAN.
 *
 * QEMU's loader puts a word at CHOICE bytes from the start: 0: ordinary use only. ALL: all bugs that a hart survives.
 * HARTS: one bug on all harts at once, COST: instructions of some calls. HOLE: a text that is nowhere, which OpenSBI 1.8
 * reads all the same. Others: the number of one bug, + 1.
 */
#define CHOICE 0x100000UL
#define ALL    0x10000U
#define HARTS  0x20000U
#define COST   0x30000U
#define HOLE   0x40000U

#define REDZONE	  0x08525a00
#define FATAL	  24 /* the first bug that a hart does not survive */
#define FREED	  6  /* the bug of HARTS */
#define MAX_HARTS 16

#define BASE 0x10
#define TIME 0x54494d45
#define IPI  0x735049
#define RFNC 0x52464e43
#define HSM  0x48534d
#define SRST 0x53525354
#define PMU  0x504d55
#define DBCN 0x4442434e
#define FWFT 0x46574654
#define DBTR 0x44425452
#define SSE  0x535345

#define STOPPED 1
#define SSIP	2UL
#define STIP	32UL

struct result {
	long error;
	unsigned long value;
};

extern char _start[], secondary[];
extern volatile unsigned long last_cause;
unsigned long try_load(unsigned long address);
void main(unsigned long hart, void *tree);
void secondary_main(unsigned long hart, unsigned long number);

static unsigned int harts = 1, boot_hart;
static unsigned int ids[MAX_HARTS];
static volatile unsigned int ready, go, rounds_done;
static volatile unsigned int
	role; /* of harts that start: 0: one round and stop; 1: wait, at once plant FREED; 2: wait */

static struct result call(long extension, long function, unsigned long x0, unsigned long x1,
			  unsigned long x2, unsigned long x3, unsigned long x4)
{
	register unsigned long a0 __asm__("a0") = x0;
	register unsigned long a1 __asm__("a1") = x1;
	register unsigned long a2 __asm__("a2") = x2;
	register unsigned long a3 __asm__("a3") = x3;
	register unsigned long a4 __asm__("a4") = x4;
	register long a6 __asm__("a6") = function;
	register long a7 __asm__("a7") = extension;

	__asm__ volatile("ecall"
			 : "+r"(a0), "+r"(a1)
			 : "r"(a2), "r"(a3), "r"(a4), "r"(a6), "r"(a7)
			 : "memory");
	return (struct result){(long)a0, a1};
}

static void print(const char *text)
{
	unsigned long n = 0;

	while (text[n])
		n++;
	call(DBCN, 0, n, (unsigned long)text, 0, 0, 0);
}

static void print_number(const char *before, unsigned long number)
{
	char text[96], digits[24];
	unsigned int n = 0, k = 0;

	while (before[n]) {
		text[n] = before[n];
		n++;
	}
	do {
		digits[k++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (k)
		text[n++] = digits[--k];
	text[n++] = '\n';
	text[n] = 0;
	print(text);
}

static unsigned long now(void)
{
	unsigned long ticks;

	__asm__ volatile("rdtime %0" : "=r"(ticks));
	return ticks;
}

static unsigned long pending(void)
{
	unsigned long bits;

	__asm__ volatile("csrr %0, sip" : "=r"(bits));
	return bits;
}

static void expect(int good, const char *what)
{
	if (good)
		return;
	print("traffic: FAILED ");
	print(what);
	print("\n");
}

static void wait_for(volatile unsigned int *counter, unsigned int value)
{
	while (*counter < value)
		;
}

static void shut_down(void)
{
	call(SRST, 0, 0, 0, 0, 0, 0);
	for (;;)
		;
}

/* --- What each hart does --------------------------------------------------------------------------- */

static void timer_and_fences(void)
{
	expect(call(TIME, 0, now() + 2000, 0, 0, 0, 0).error == 0, "set_timer");
	while (!(pending() & STIP))
		;
	/* Retentive: wakes at once, because the timer is pending, if it is enabled. */
	__asm__ volatile("csrs sie, %0" : : "r"(STIP));
	expect(call(HSM, 3, 0, 0, 0, 0, 0).error == 0, "hart_suspend");
	__asm__ volatile("csrc sie, %0" : : "r"(STIP));
	call(TIME, 0, -1UL, 0, 0, 0, 0);
	expect(call(RFNC, 0, 0, -1UL, 0, 0, 0).error == 0, "remote_fence_i");
	expect(call(RFNC, 1, 0, -1UL, 0, 0x3000, 0).error == 0, "remote_sfence_vma");
	expect(call(RFNC, 2, 0, -1UL, 0, -1UL, 1).error == 0, "remote_sfence_vma_asid");
}

static void counters(void)
{
	const unsigned long number = call(PMU, 0, 0, 0, 0, 0, 0).value;
	/* Firmware's event "set timer": type 15, code 5. Hardware's: 1, cycles. */
	const unsigned long events[] = {0xf0005, 1};
	struct result got;
	unsigned long i;

	expect(number > 2, "num_counters");
	for (i = 0; i < number; i++)
		call(PMU, 1, i, 0, 0, 0, 0);
	for (i = 0; i < 2; i++) {
		/* Any counter; clear its value, and start it. */
		got = call(PMU, 2, 0, number >= 64 ? -1UL : (1UL << number) - 1, 2 | 4, events[i],
			   0);
		if (got.error)
			continue; /* QEMU has not all of hardware's */
		call(TIME, 0, -1UL, 0, 0, 0, 0);
		if (i == 0)
			expect(call(PMU, 5, got.value, 0, 0, 0, 0).value == 1, "fw_read");
		expect(call(PMU, 4, got.value, 1, 1, 0, 0).error == 0, "counter_stop");
	}
}

void secondary_main(unsigned long hart, unsigned long number)
{
	unsigned int i;

	(void)hart;
	__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
	if (role == 0) {
		while (!(pending() & SSIP))
			;
		__asm__ volatile("csrc sip, %0" : : "r"(SSIP));
		timer_and_fences();
		counters();
		print_number("traffic: hart ", number);
		__atomic_fetch_add(&rounds_done, 1, __ATOMIC_SEQ_CST);
		/* A fence waits for every hart that it was sent to: none may stop before all fences are done. */
		wait_for(&rounds_done, harts);
		call(HSM, 1, 0, 0, 0, 0, 0);
	} else if (role == 1) {
		wait_for(&go, 1);
		for (i = 0; i < 3; i++) {
			print_number("output of a hart that has no bug, ", number);
			call(REDZONE, FREED, 0, 0, 0, 0, 0);
		}
		__atomic_fetch_add(&rounds_done, 1, __ATOMIC_SEQ_CST);
	}
	for (;;)
		__asm__ volatile("wfi");
}

static void start_harts(unsigned int what)
{
	unsigned int i;

	role = what;
	ready = 0;
	rounds_done = 0;
	for (i = 1; i < harts; i++)
		expect(call(HSM, 0, ids[i], (unsigned long)secondary, i, 0, 0).error == 0,
		       "hart_start");
	wait_for(&ready, harts - 1);
}

/* --- What the first hart does ------------------------------------------------------------------------ */

static void find_harts(void)
{
	unsigned int id;

	ids[0] = boot_hart;
	for (id = 0; id < MAX_HARTS; id++) {
		if (id != boot_hart && call(HSM, 2, id, 0, 0, 0, 0).error == 0)
			ids[harts++] = id;
	}
}

static void traffic(void)
{
	const unsigned long start = (unsigned long)_start;
	const long extensions[] = {BASE, TIME, IPI, RFNC, HSM, SRST, PMU, DBCN, FWFT, DBTR, SSE};
	static unsigned long mask;
	unsigned int i, round;

	for (i = 0; i < 6; i++)
		call(BASE, i == 3 ? 4 : (long)i, 0, 0, 0, 0, 0);
	for (i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++)
		expect(call(BASE, 3, (unsigned long)extensions[i], 0, 0, 0, 0).value,
		       "probe_extension");
	expect(call(0x0a0a0a0a, 0, 0, 0, 0, 0, 0).error == -2, "an extension that there is not");
	call(1, 0, '.', 0, 0, 0, 0); /* legacy putchar */
	call(DBCN, 2, '\n', 0, 0, 0, 0);
	expect(call(DBCN, 0, 8, start - 0x800000, 0, 0, 0).error != 0,
	       "console_write of firmware's memory");
	/* Twice, because a hart that was stopped begins anew. */
	for (round = 0; round < 2; round++) {
		start_harts(0);
		expect(call(IPI, 0, 0, -1UL, 0, 0, 0).error == 0, "send_ipi");
		expect(pending() & SSIP, "an interrupt to itself");
		__asm__ volatile("csrc sip, %0" : : "r"(SSIP));
		timer_and_fences();
		__atomic_fetch_add(&rounds_done, 1, __ATOMIC_SEQ_CST);
		wait_for(&rounds_done, harts);
		for (i = 1; i < harts; i++) {
			while (call(HSM, 2, ids[i], 0, 0, 0, 0).value != STOPPED)
				;
		}
	}
	counters();
	/* Legacy: firmware reads the mask from supervisor mode's memory. */
	mask = 1UL << boot_hart;
	call(4, 0, (unsigned long)&mask, 0, 0, 0, 0);
	__asm__ volatile("csrc sip, %0" : : "r"(SSIP));
	for (i = 0; i < 6; i++)
		call(FWFT, 1, i, 0, 0, 0, 0);
	call(DBTR, 0, 0, 0, 0, 0, 0);
	call(SSE, 0, 0xffff0000, 0, 1, (unsigned long)&mask, 0);
	/* Physical memory protection refuses firmware, its shadow and the runtime's tables. */
	for (i = 0; i < 8; i++) {
		last_cause = 0;
		try_load(start - 0x800000 + i * 0x100000UL);
		/* Firmware's own image and heap end before 4 MiB. */
		expect(last_cause == 5 || (i == 2 || i == 3),
		       "a load from firmware's memory that is refused");
	}
	print_number("traffic: done, harts ", harts);
}

static unsigned long instructions(void)
{
	unsigned long count;

	__asm__ volatile("rdinstret %0" : "=r"(count));
	return count;
}

#define MEASURE(name, ...)                                                         \
	do {                                                                       \
		unsigned long before_, k_;                                         \
		call(__VA_ARGS__);                                                 \
		before_ = instructions();                                          \
		for (k_ = 0; k_ < 100; k_++)                                       \
			call(__VA_ARGS__);                                         \
		print_number("cost: " name " ", (instructions() - before_) / 100); \
	} while (0)

/* With QEMU's -icount these numbers are the same in every boot. */
static void cost(void)
{
	print_number("cost: boot ", instructions());
	MEASURE("base", BASE, 0, 0, 0, 0, 0, 0);
	MEASURE("set_timer", TIME, 0, -1UL, 0, 0, 0, 0);
	MEASURE("hart_get_status", HSM, 2, boot_hart, 0, 0, 0, 0);
	MEASURE("remote_fence_i", RFNC, 0, 1, boot_hart, 0, 0, 0);
	MEASURE("pmu_counter_get_info", PMU, 1, 0, 0, 0, 0, 0);
}

void main(unsigned long hart, void *tree)
{
	const unsigned int choice = *(volatile unsigned int *)(_start + CHOICE);
	unsigned int i;

	(void)tree;
	boot_hart = (unsigned int)hart;
	find_harts();
	if (choice == COST) {
		cost();
		shut_down();
	}
	if (choice == HOLE)
		call(DBCN, 0, 8, 0UL - 0x800000UL, 0, 0, 0);
	traffic();
	if (choice == HARTS) {
		start_harts(1);
		go = 1;
		call(REDZONE, FREED, 0, 0, 0, 0, 0);
		wait_for(&rounds_done, harts - 1);
	} else if (choice) {
		start_harts(2);
		for (i = choice == ALL ? 0 : choice - 1; i < (choice == ALL ? FATAL : choice); i++)
			call(REDZONE, i, 0, 0, 0, 0, 0);
	}
	print("payload: end\n");
	shut_down();
}

// SPDX-License-Identifier: MIT
/*
 * fault_inject.c - chooses the allocations that fail on purpose; see <kernel/fault_inject.h>.
 *
 * Uninstrumented and without locks, because allocations of the runtime call it too.
 */
#include <kernel/arch.h>
#include <kernel/fault_inject.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/preempt.h>
#include <kernel/printk.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>

#include "internal.h"

unsigned int fault_kinds;

/* Redzones stay, and with them the second look at pages. */
static void store_kinds(unsigned int kinds)
{
	if (READ_ONCE(fault_kinds) & FAULT_REDZONE)
		kinds |= FAULT_REDZONE | FAULT_PAGE;
	__atomic_store_n(&fault_kinds, kinds, __ATOMIC_RELEASE);
}

/* --- Chosen allocations, for tests ------------------------------------------------------------ */

static struct {
	bool armed;
	unsigned int kinds;
	unsigned long nth, count, seen;
	const struct task *task;
	uintptr_t site[FAULT_SITE_DEPTH];
} single;

static bool is_one_of_them(void)
{
	unsigned long n;

	if (single.task && (current != single.task || !in_task()))
		return false;
	n = __atomic_add_fetch(&single.seen, 1, __ATOMIC_RELAXED);
	if (n < single.nth || n - single.nth >= single.count)
		return false;
	stack_trace_save(single.site, FAULT_SITE_DEPTH, NULL);
	return true;
}

/* --- A share of all, from the command line ---------------------------------------------------- */

/**
 * struct fault_attr - failslab= or fail_page_alloc=
 * @interval: only every @interval-th call may fail. @probability: how many of those fail, in percent.
 * @space: bytes that are allocated before the first failure. @times: failures left; -1: no limit.
 */
struct fault_attr {
	const char *name;
	unsigned int kind;
	unsigned long interval, probability;
	long space, times;
	unsigned long calls, failures;
};

static struct fault_attr attrs[] = {
	{.name = "failslab", .kind = FAULT_SLAB},
	{.name = "fail_page_alloc", .kind = FAULT_PAGE},
};
static unsigned int started_kinds;

/* Parse "interval,probability,space,times". Defaults from the second on: 100, 0, -1. */
static int set_attr(const char *value, struct fault_attr *attr)
{
	long numbers[] = {0, 100, 0, -1};
	unsigned int i;
	char part[24];

	if (!value)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		size_t n = 0;

		while (value[n] && value[n] != ',' && n < sizeof(part) - 1) {
			part[n] = value[n];
			n++;
		}
		part[n] = '\0';
		if (kstrtol(part, 10, &numbers[i]))
			return -EINVAL;
		value += n;
		if (!*value)
			break;
		if (*value++ != ',')
			return -EINVAL;
	}
	if (*value || numbers[0] < 1 || numbers[1] < 0 || numbers[1] > 100 || numbers[2] < 0 ||
	    numbers[3] < -1)
		return -EINVAL;
	attr->interval = (unsigned long)numbers[0];
	attr->probability = (unsigned long)numbers[1];
	attr->space = numbers[2];
	attr->times = numbers[3];
	return 0;
}

static int set_failslab(const char *value, void *var)
{
	return set_attr(value, &attrs[0]);
}

static int set_fail_page_alloc(const char *value, void *var)
{
	return set_attr(value, &attrs[1]);
}

#define VALUES                                                 \
	"interval,probability,space,times as in 10,100,0,-1: " \
	"from 1, from 0 to 100, from 0, from -1"
setup_param("failslab", set_failslab, VALUES,
	    "while a program or the tests run: of every so many object allocations one fails, with "
	    "this "
	    "probability in percent, after so many bytes, at most so often (-1: no limit)");
setup_param("fail_page_alloc", set_fail_page_alloc, VALUES, "the same for page allocations");

/* Return: a number below 100. Each boot has the same sequence. */
static unsigned int next_percent(void)
{
	static u64 state = 0x9e3779b97f4a7c15ULL;
	u64 x = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15ULL, __ATOMIC_RELAXED);

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (unsigned int)((x ^ x >> 31) % 100);
}

static bool is_chosen(struct fault_attr *attr, size_t size)
{
	unsigned long n;

	if (attr->space > 0 && __atomic_sub_fetch(&attr->space, (long)size, __ATOMIC_RELAXED) > 0)
		return false;
	if (__atomic_add_fetch(&attr->calls, 1, __ATOMIC_RELAXED) % attr->interval ||
	    next_percent() >= attr->probability)
		return false;
	if (attr->times >= 0 && __atomic_fetch_sub(&attr->times, 1, __ATOMIC_RELAXED) <= 0) {
		__atomic_store_n(&attr->times, 0, __ATOMIC_RELAXED);
		return false;
	}
	n = __atomic_add_fetch(&attr->failures, 1, __ATOMIC_RELAXED);
	/* The 1st, 2nd, 4th, 8th...: enough to show that it happens. */
	if (!(n & (n - 1)))
		pr_info("FAULT_INJECTION: forcing a failure of %lu bytes (%s, %lu so far)\n",
			(unsigned long)size, attr->name, n);
	return true;
}

/* --- The allocations of one place, from the command line -------------------------------------- */

/* More frames than there are between any place in the kernel and the allocator. */
#define PLACE_DEPTH 32

static struct {
	uintptr_t address;
	long times; /* failures left, -1: no limit */
	unsigned long failures;
} place;

/* Parse "address,times". It takes effect now, because allocations of the boot count too. */
static int set_fail_site(const char *value, void *var)
{
	const size_t n = value ? strcspn(value, ",") : 0;
	unsigned long number;
	char address[24];
	long times = -1;

	if (n >= sizeof(address))
		return -EINVAL;
	memcpy(address, value, n);
	address[n] = '\0';
	if (kstrtoul(address, 16, &number) || !number)
		return -EINVAL;
	if (value[n] && (kstrtol(value + n + 1, 10, &times) || times < -1))
		return -EINVAL;
	place.address = number;
	place.times = times;
	fault_kinds = FAULT_ALL;
	return 0;
}

setup_param("fail_site", set_fail_site,
	    "address,times as in ffff800080001234,-1: a hexadecimal number other than 0, from -1",
	    "from the start of the boot: every allocation fails that this return address is in the "
	    "call chain of, at most so often (-1, if left out: no limit)");

static bool is_in_place(size_t size)
{
	uintptr_t chain[PLACE_DEPTH];
	unsigned int i, n = stack_trace_save(chain, PLACE_DEPTH, NULL);

	for (i = 0; i < n && chain[i] != place.address; i++)
		;
	if (i == n)
		return false;
	if (place.times >= 0 && __atomic_fetch_sub(&place.times, 1, __ATOMIC_RELAXED) <= 0) {
		__atomic_store_n(&place.times, 0, __ATOMIC_RELAXED);
		return false;
	}
	n = (unsigned int)__atomic_add_fetch(&place.failures, 1, __ATOMIC_RELAXED);
	if (!(n & (n - 1)))
		pr_info("FAULT_INJECTION: forcing a failure of %lu bytes (fail_site at %pB, %u so "
			"far)\n",
			(unsigned long)size, (void *)place.address, n);
	return true;
}

/* --- Asking ----------------------------------------------------------------------------------- */

noinline bool __should_fail(unsigned int kind, size_t size)
{
	unsigned int i;

	if (READ_ONCE(single.armed))
		return kind & READ_ONCE(single.kinds) && is_one_of_them();
	if (place.address && is_in_place(size))
		return true;
	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		if (attrs[i].kind == kind && (started_kinds & kind))
			return is_chosen(&attrs[i], size);
	}
	return false;
}

/* Turn on the kinds that the command line asks for. */
static void set_kinds(void)
{
	unsigned int kinds = place.address ? FAULT_ALL : started_kinds;

	store_kinds(kinds);
}

void fault_inject_nth(unsigned int kinds, unsigned long nth, unsigned long count,
		      const struct task *task)
{
	unsigned int i;

	for (i = 0; i < FAULT_SITE_DEPTH; i++)
		single.site[i] = 0;
	single.nth = nth;
	single.count = count;
	single.task = task;
	WRITE_ONCE(single.kinds, kinds);
	WRITE_ONCE(single.seen, 0);
	WRITE_ONCE(single.armed, true);
	store_kinds(kinds);
}

unsigned long fault_inject_stop(uintptr_t site[FAULT_SITE_DEPTH])
{
	unsigned int i;

	set_kinds();
	WRITE_ONCE(single.armed, false);
	for (i = 0; site && i < FAULT_SITE_DEPTH; i++)
		site[i] = single.site[i];
	return READ_ONCE(single.seen);
}

void fault_inject_pause(void)
{
	started_kinds = 0;
	set_kinds();
}

void fault_inject_start(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		if (attrs[i].interval)
			started_kinds |= attrs[i].kind;
	}
	set_kinds();
}

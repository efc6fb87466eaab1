/* SPDX-License-Identifier: MIT */
/*
 * options.c - boot parameters of the runtime: one table that parses them and documents them.
 *
 * kasan=off leaves shadow and poison as they are, because instrumented code reads the shadow
 * whatever is said here and allocators rely on the hooks' return values. What stops is everything
 * behind a failed check, and what only serves reports: nothing is ever reported (checks of memcpy()
 * and friends let the operation go on), no stack is walked or stored, no freed object is held back.
 * Objects that are in the quarantine already stay there until kasan_cache_shrink().
 */
#include "report.h"

bool kasan_opt_stacktrace = true;
bool kasan_opt_off;
enum kasan_fault_mode kasan_opt_fault = KASAN_FAULT_REPORT;
unsigned int kasan_opt_multi_shot;

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* "on", "off". Return: false if it is neither. */
static bool parse_switch(const char *value, bool *on)
{
	if (!value)
		return false;
	if (equal(value, "on") || equal(value, "1")) {
		*on = true;
		return true;
	}
	if (equal(value, "off") || equal(value, "0")) {
		*on = false;
		return true;
	}
	return false;
}

/* "512K", "2M": decimal, an optional unit, nothing else. Return: false if it is no size in bounds. */
static bool parse_size(const char *value, size_t low, size_t high, size_t *size)
{
	static const char units[] = "KMG";
	unsigned int shift = 0;
	size_t number = 0, i;

	if (!value || *value < '0' || *value > '9')
		return false;
	for (; *value >= '0' && *value <= '9'; value++) {
		if (__builtin_mul_overflow(number, (size_t)10, &number) ||
		    __builtin_add_overflow(number, (size_t)(*value - '0'), &number))
			return false;
	}
	for (i = 0; *value && units[i]; i++) {
		if ((*value & ~0x20) == units[i]) {
			shift = 10 * ((unsigned int)i + 1);
			value++;
			break;
		}
	}
	if (*value || number > SIZE_MAX >> shift)
		return false;
	number <<= shift;
	if (number < low || number > high)
		return false;
	*size = number;
	return true;
}

#define STRING2(x) #x
#define STRING(x)  STRING2(x)

static bool set_quarantine_size(const char *value)
{
	size_t size;

	if (!parse_size(value, 0, SIZE_MAX, &size))
		return false;
	kasan_quarantine_set_size(size);
	return true;
}

static bool set_depot_size(const char *value)
{
	size_t size;

	if (!parse_size(value, 65536, CONFIG_KASAN_DEPOT_MAX_MIB * (1UL << 20), &size))
		return false;
	kasan_depot_set_size(size);
	return true;
}

static bool set_kasan(const char *value)
{
	bool on;

	if (!parse_switch(value, &on))
		return false;
	kasan_opt_off = !on;
	kasan_update_active();
	return true;
}

static bool set_stacktrace(const char *value)
{
	return parse_switch(value, &kasan_opt_stacktrace);
}

static bool set_multi_shot(const char *value)
{
	bool on = true;

	/* The field gives this one without a value. */
	if (value && !parse_switch(value, &on))
		return false;
	__atomic_store_n(&kasan_opt_multi_shot, on, __ATOMIC_RELAXED);
	return true;
}

static bool set_fault(const char *value)
{
	static const struct {
		const char *name;
		enum kasan_fault_mode mode;
	} modes[] = {
		{"report", KASAN_FAULT_REPORT},
		{"panic", KASAN_FAULT_PANIC},
		{"panic_on_write", KASAN_FAULT_PANIC_ON_WRITE},
	};
	size_t i;

	for (i = 0; value && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (equal(value, modes[i].name)) {
			kasan_opt_fault = modes[i].mode;
			return true;
		}
	}
	return false;
}

#define OPTIONS 6

static const struct kasan_option_doc docs[OPTIONS] = {
	{"kasan", "on|off", "off: no report is printed, no stack stored, no object held back"},
	{"kasan.fault", "report|panic|panic_on_write",
	 "what follows a report; panic_on_write: panic after bad writes and frees only"},
	{"kasan_multi_shot", "on|off", "report every bug, not only the first; without a value: on"},
	{"kasan.quarantine_size", "a size as in 512K or 16M, at most half of memory",
	 "bytes of freed objects to hold back; 0: none; by default 1/32 of memory"},
	{"kasan.depot_size",
	 "a size as in 512K or 16M, from 64K to " STRING(CONFIG_KASAN_DEPOT_MAX_MIB) "M",
	 "bytes that stack traces may take"},
	{"kasan.stacktrace", "on|off", "store the stacks of allocations and frees"},
};

static bool (*const setters[OPTIONS])(const char *value) = {
	set_kasan, set_fault, set_multi_shot, set_quarantine_size, set_depot_size, set_stacktrace,
};

static size_t find_option(const char *name)
{
	size_t i;

	for (i = 0; i < OPTIONS && !equal(name, docs[i].name); i++)
		;
	return i;
}

int kasan_option(const char *name, const char *value)
{
	const size_t i = find_option(name);

	if (i == OPTIONS)
		return KASAN_OPTION_UNKNOWN;
	return setters[i](value) ? 0 : KASAN_OPTION_INVALID;
}

const char *kasan_option_values(const char *name)
{
	const size_t i = find_option(name);

	return i == OPTIONS ? NULL : docs[i].values;
}

const struct kasan_option_doc *kasan_options(size_t *count)
{
	*count = OPTIONS;
	return docs;
}

/* SPDX-License-Identifier: MIT */
/*
 * options.c - boot parameters of the runtime: parses what options.h lists.
 *
 * kasan=off before kasan_init(), as on a kernel's command line, stops all work of KASAN: the hooks of
 * slabs, pages, vmalloc areas and pools return at once, so their memory is never poisoned and every check
 * passes. Simple heaps keep their headers and redzones, because they recognise their chunks by them. After
 * kasan_init() kasan=off can only silence KASAN, because objects have redzones and metadata by then:
 * nothing is reported (checks of memcpy() and friends let the operation go on), no stack is walked or
 * stored, no freed object is held back. kasan=on undoes it. Objects that are in the quarantine already stay
 * there until kasan_cache_shrink().
 */
#include "options.h"
#include "captured.h"

#include "../alloc/quarantine.h"
#include "../alloc/hw_sample.h"
#include "../alloc/whole_pages.h"
#include "../alloc/hw_slack.h"
#include "../tags/tags.h"
#include "../track/ring.h"

enum kasan_fault_mode kasan_opt_fault = KASAN_GO_ON;
unsigned int kasan_opt_multi_shot = CONFIG_KASAN_MULTI_SHOT;
bool kasan_opt_repeat_full;

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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The digits at @value. Return: the address behind them; NULL if there are none or too many for the type. */
static const char *parse_digits(const char *value, size_t *number)
{
	size_t sum = 0;

	if (!value || !is_digit(*value))
		return NULL;
	for (; is_digit(*value); value++) {
		if (__builtin_mul_overflow(sum, (size_t)10, &sum) ||
		    __builtin_add_overflow(sum, (size_t)(*value - '0'), &sum))
			return NULL;
	}
	*number = sum;
	return value;
}

/* "512K", "2M": decimal, an optional unit, nothing else. Return: false if it is not a size within bounds. */
static bool parse_size(const char *value, size_t low, size_t high, size_t *size)
{
	static const char units[] = "KMG";
	unsigned int shift = 0;
	size_t number, i;

	value = parse_digits(value, &number);
	if (!value)
		return false;
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

/* "10": decimal, no sign, no unit, within bounds. */
static bool parse_number(const char *value, size_t low, size_t high, size_t *number)
{
	value = parse_digits(value, number);
	return value && !*value && *number >= low && *number <= high;
}

/* The index of @value among @count names. Return: false if it is none of them. */
static bool parse_choice(const char *value, const char *const *names, size_t count, size_t *index)
{
	for (*index = 0; value && *index < count; ++*index) {
		if (equal(value, names[*index]))
			return true;
	}
	return false;
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* --- Setters: check @value, and apply it if @apply --- */

static bool set_switch(const char *value, bool apply, bool *variable)
{
	bool on;

	if (!parse_switch(value, &on))
		return false;
	if (apply)
		*variable = on;
	return true;
}

static bool set_kasan(const char *value, bool apply)
{
	bool on;

	if (!parse_switch(value, &on))
		return false;
	if (!apply)
		return true;
	if (__atomic_load_n(&kasan_reporting, __ATOMIC_ACQUIRE) == KASAN_NOT_YET) {
		kasan_set_hooks_off(!on);
		return true;
	}
	/* Nothing has been poisoned since the start, so nothing could be checked from now on. */
	if (on && !kasan_on())
		return false;
	kasan_set_reporting(on ? KASAN_LIVE : KASAN_SILENT);
	kasan_known_update();
#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_SLAB
	kasan_quarantine_update();
#endif
	return true;
}

static bool set_quarantine_size(const char *value, bool apply)
{
	size_t size;

	if (!parse_size(value, 0, SIZE_MAX, &size))
		return false;
#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_SLAB
	if (apply)
		kasan_quarantine_set_size(size);
#else
	(void)apply; /* the tag modes have no quarantine, and simple heaps have their own */
#endif
	return true;
}

static bool set_depot_size(const char *value, bool apply)
{
	size_t size;

	if (!parse_size(value, KASAN_DEPOT_LEAST, KASAN_DEPOT_MOST, &size))
		return false;
	if (apply)
		kasan_depot_set_size(size);
	return true;
}

static bool set_stacktrace(const char *value, bool apply)
{
	const bool drop = value && equal(value, "collect");
	bool on = true;

	if (!drop && !parse_switch(value, &on))
		return false;
	if (apply) {
		kasan_opt_stacktrace = on;
		kasan_opt_stack_drop = drop;
		kasan_known_update();
		kasan_slab_set_flag(KASAN_SLAB_TRACES, on);
	}
	return true;
}

static bool set_multi_shot(const char *value, bool apply)
{
	bool on = true;

	/* By custom this one is given without a value. */
	if (value && !parse_switch(value, &on))
		return false;
	if (apply)
		__atomic_store_n(&kasan_opt_multi_shot, on, __ATOMIC_RELAXED);
	return true;
}

static bool set_repeat(const char *value, bool apply)
{
	static const char *const names[] = {"brief", "full"};
	size_t i;

	if (!parse_choice(value, names, COUNT(names), &i))
		return false;
	if (apply)
		kasan_opt_repeat_full = i;
	return true;
}

static bool set_ignore(const char *value, bool apply)
{
	(void)apply; /* all modes have the list */
	return CONFIG_KASAN_IGNORE && kasan_ignore_set(value);
}

static bool set_fault(const char *value, bool apply)
{
	/* In the order of enum kasan_fault_mode. */
	static const char *const names[] = {"report", "panic", "panic_on_write"};
	size_t i;

	if (!parse_choice(value, names, COUNT(names), &i))
		return false;
	if (apply)
		kasan_opt_fault = (enum kasan_fault_mode)i;
	return true;
}

static bool set_mode(const char *value, bool apply)
{
	/* In the order of enum kasan_hw_mode. */
	static const char *const names[] = {"sync", "async", "asymm"};
	size_t i;

	if (!parse_choice(value, names, COUNT(names), &i))
		return false;
	if (apply)
		kasan_opt_hw_mode = (enum kasan_hw_mode)i;
	return true;
}

static bool set_vmalloc(const char *value, bool apply)
{
	return set_switch(value, apply, &kasan_opt_vmalloc);
}

static bool set_write_only(const char *value, bool apply)
{
	return set_switch(value, apply, &kasan_opt_write_only);
}

static bool set_number(const char *value, bool apply, size_t low, size_t high,
		       unsigned int *variable)
{
	size_t number;

	if (!parse_number(value, low, high, &number))
		return false;
	if (apply)
		*variable = (unsigned int)number;
	return true;
}

static bool set_stack_ring_size(const char *value, bool apply)
{
	return set_number(value, apply, 16, 4194304, &kasan_opt_stack_ring_size);
}

static bool set_tag_policy(const char *value, bool apply)
{
	/* In the order of enum kasan_tag_policy. */
	static const char *const names[] = {"adjacent", "random"};
	size_t i;

	if (!parse_choice(value, names, COUNT(names), &i))
		return false;
	if (apply)
		kasan_set_tag_policy((enum kasan_tag_policy)i);
	return true;
}

/* Only caches that are made from now on take it. */
static bool set_slack(const char *value, bool apply)
{
	static const char *const names[] = {"off", "check"};
	size_t i;

	if (!parse_choice(value, names, COUNT(names), &i))
		return false;
	if (apply)
		kasan_opt_slack = i;
	return true;
}

static bool set_sample(const char *value, bool apply)
{
	return set_number(value, apply, 1, INT32_MAX, &kasan_opt_sample);
}

static bool set_sample_order(const char *value, bool apply)
{
	return set_number(value, apply, 0, 64, &kasan_opt_sample_order);
}

/* --- The table --- */

#if defined(CONFIG_KASAN_GENERIC)
#define THIS_MODE KASAN_IN_GENERIC
#elif defined(CONFIG_KASAN_SW_TAGS)
#define THIS_MODE KASAN_IN_SW_TAGS
#else
#define THIS_MODE KASAN_IN_HW_TAGS
#endif

/* The words of the table. */
#define MODES_TEXT(modes)                                               \
	((modes) == KASAN_IN_ALL       ? "all"                          \
	 : (modes) == KASAN_IN_GENERIC ? "Generic"                      \
	 : (modes) == KASAN_IN_TAGS    ? "software tags, hardware tags" \
	 : (modes) == KASAN_IN_HW_TAGS ? "hardware tags"                \
				       : "software tags")

/* Not static: tools read the table out of an image by this name. */
extern const struct kasan_option_doc kasan_option_docs[];
#if CONFIG_KASAN_OPTION_TEXTS
#define DOC(name, modes, setter, values, fallback, help) \
	{name, values, help, fallback, MODES_TEXT(modes)},
#else
#define DOC(name, modes, setter, values, fallback, help) {name, NULL, NULL, NULL, NULL},
#endif
const struct kasan_option_doc kasan_option_docs[] = {KASAN_OPTIONS(DOC)};

#define ACTION(name, modes, setter, values, fallback, help) {set_##setter, modes},
static const struct {
	bool (*set)(const char *value, bool apply);
	unsigned int modes;
} actions[] = {KASAN_OPTIONS(ACTION)};

#define OPTIONS COUNT(actions)

/* As on a kernel's command line, '-' and '_' are the same in names, but not in values. */
static bool same_name(const char *a, const char *b)
{
	while (*a && (*a == *b || (*a == '-' && *b == '_'))) {
		a++;
		b++;
	}
	return *a == *b;
}

static size_t find_option(const char *name)
{
	size_t i;

	for (i = 0; i < OPTIONS && !same_name(name, kasan_option_docs[i].name); i++)
		;
	return i;
}

int kasan_option(const char *name, const char *value)
{
	const size_t i = find_option(name);
	bool mine;

	if (i == OPTIONS)
		return KASAN_OPTION_UNKNOWN;
	mine = actions[i].modes & THIS_MODE;
	/* Where the CPU has no tags, nothing can be switched on, and the user has been told. */
	if (!kasan_tags_possible())
		mine = false;
	if (!actions[i].set(value, mine))
		return KASAN_OPTION_INVALID;
	return mine || !kasan_tags_possible() ? 0 : KASAN_OPTION_NO_EFFECT;
}

const char *kasan_option_values(const char *name)
{
	const size_t i = find_option(name);

	return i == OPTIONS ? NULL : kasan_option_docs[i].values;
}

const struct kasan_option_doc *kasan_options(size_t *count)
{
	*count = OPTIONS;
	return kasan_option_docs;
}

#ifdef CONFIG_KASAN_HW_TAGS
void kasan_hw_options(struct kasan_hw_options *options)
{
	options->enabled = kasan_tags_possible() && kasan_on();
	options->mode = kasan_opt_hw_mode;
	options->vmalloc = kasan_opt_vmalloc;
	options->stacktrace = kasan_opt_stacktrace;
	options->write_only = kasan_opt_write_only;
}
#endif

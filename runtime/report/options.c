/* SPDX-License-Identifier: MIT */
/*
 * options.c - boot parameters of the runtime: parses what options.h lists.
 *
 * kasan=off before kasan_init(), as on a kernel's command line, stops all work of KASAN: the hooks of slabs, pages,
 * vmalloc areas and pools return at once, so their memory is never poisoned and every check passes. Simple heaps keep
 * their headers and redzones, because they recognise their chunks by them. After kasan_init() objects have redzones and
 * metadata, so kasan=off can only silence KASAN: nothing is reported (memcpy() and its relatives carry out every
 * operation), no stack is walked or stored, no freed object is held back. kasan=on undoes that. Objects that are in the
 * quarantine stay there until kasan_cache_shrink().
 */
#include "options.h"
#include "captured.h"

#include "../alloc/quarantine.h"
#include "../alloc/hw_sample.h"
#include "../alloc/whole_pages.h"
#include "../alloc/hw_slack.h"
#include "../alloc/sampled.h"
#include "../tags/tags.h"
#include "../track/ring.h"

unsigned int kasan_opt_fault = KASAN_GO_ON;
unsigned int kasan_opt_multi_shot = CONFIG_KASAN_MULTI_SHOT;
unsigned int kasan_opt_repeat_full;

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parses the digits at @value. Return: the address after them; NULL if there are none, or too many for the type. */
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

/* Parses "10", and with @units also "512K" and "2M". Return: false if it is not such a number within the bounds. */
static bool parse_number(const char *value, bool units, size_t low, size_t high, size_t *number)
{
	static const char letters[] = "KMG";
	unsigned int shift = 0, i;
	size_t sum;

	value = parse_digits(value, &sum);
	if (!value)
		return false;
	for (i = 0; units && *value && letters[i]; i++) {
		if ((*value & ~0x20) == letters[i]) {
			shift = 10 * (i + 1);
			value++;
			break;
		}
	}
	if (*value || sum > SIZE_MAX >> shift)
		return false;
	*number = sum << shift;
	return *number >= low && *number <= high;
}

/* @index: filled with the place of @value in @words, as in "a|b|c". Return: false if it is none of them. */
static bool parse_word(const char *value, const char *words, size_t *index)
{
	size_t i;

	for (*index = 0; value; ++*index) {
		for (i = 0; value[i] && value[i] != '|' && value[i] == words[i]; i++)
			;
		if (!value[i] && (!words[i] || words[i] == '|'))
			return true;
		while (*words && *words != '|')
			words++;
		if (!*words++)
			break;
	}
	return false;
}

/* --- What is more than to set a variable --- */

static bool apply_kasan(size_t on)
{
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

static bool apply_quarantine_size(size_t size)
{
#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_SLAB
	kasan_quarantine_set_size(size);
#else
	(void)size; /* the tag modes have no quarantine, and simple heaps have their own */
#endif
	return true;
}

static bool apply_depot_size(size_t size)
{
	kasan_depot_set_size(size);
	return true;
}

#define SWITCH_WORDS "off|on|0|1" /* bit 0 of the place tells */
#define COLLECT	     4U

static bool apply_stacktrace(size_t word)
{
	kasan_opt_stack_drop = word == COLLECT;
	kasan_opt_stacktrace = word == COLLECT || word & 1;
	kasan_known_update();
	kasan_slab_set_flag(KASAN_SLAB_TRACES, kasan_opt_stacktrace);
	return true;
}

static bool apply_tag_policy(size_t policy)
{
	kasan_set_tag_policy((enum kasan_tag_policy)policy);
	return true;
}

/* --- The table --- */

#if defined(CONFIG_KASAN_GENERIC)
#define THIS_MODE KASAN_IN_GENERIC
#elif defined(CONFIG_KASAN_SW_TAGS)
#define THIS_MODE KASAN_IN_SW_TAGS
#else
#define THIS_MODE KASAN_IN_HW_TAGS
#endif

#define MODES_TEXT(modes)                                               \
	((modes) == KASAN_IN_ALL       ? "all"                          \
	 : (modes) == 0		       ? "CONFIG_KASAN_SAMPLE"          \
	 : (modes) == KASAN_IN_GENERIC ? "Generic"                      \
	 : (modes) == KASAN_IN_TAGS    ? "software tags, hardware tags" \
	 : (modes) == KASAN_IN_HW_TAGS ? "hardware tags"                \
				       : "software tags")

/* Not static: tools read the table from an image by this name. */
extern const struct kasan_option_doc kasan_option_docs[];
#define DOC(name, modes, kind, low, high, target, values, fallback, help) \
	{name, values, help, fallback, MODES_TEXT(modes)},
const struct kasan_option_doc kasan_option_docs[] = {KASAN_OPTIONS(DOC)};

/**
 * struct setting - how a value is read, and what it sets
 * @kind: a switch; a switch that is on without a value; one of some words, as in "a|b|c"; kasan.stacktrace=; a number;
 * a number that may have a unit; the list that kasan_ignore_set() reads.
 * @low, @high: bounds of a number.
 * @variable: gets the number, or the place of the word.
 * @apply: if not NULL it gets that instead, sets @variable if there is one, and returns whether that is possible now.
 */
struct setting {
	enum { SWITCH, FLAG, WORDS, TRACES, NUMBER, SIZE, LIST } kind;
	unsigned int modes;
	size_t low, high;
	unsigned int *variable;
	bool (*apply)(size_t value);
};

#define SETS(name)	       .variable = &kasan_opt_##name
#define APPLIES(name)	       .apply = apply_##name
#define APPLIES_AND_SETS(name) .variable = &kasan_opt_##name, .apply = apply_##name
#define SETTING(name, modes_of, kind_of, least, most, target, values, fallback, help) \
	{kind_of, modes_of, least, most, target},
static const struct setting settings[] = {KASAN_OPTIONS(SETTING)};

/* @words: for the kind WORDS. */
static bool set(const struct setting *setting, const char *words, const char *value, bool apply)
{
	size_t number = 0;

	switch (setting->kind) {
	case LIST:
		return CONFIG_KASAN_IGNORE && kasan_ignore_set(value);
	case FLAG:
		/* By custom this one may have no value. */
		if (!value) {
			number = 1;
			break;
		}
		__attribute__((__fallthrough__));
	case SWITCH:
		if (!parse_word(value, SWITCH_WORDS, &number))
			return false;
		number &= 1;
		break;
	case TRACES:
		if (!parse_word(value, SWITCH_WORDS "|collect", &number))
			return false;
		break;
	case WORDS:
		if (!parse_word(value, words, &number))
			return false;
		break;
	default:
		if (!parse_number(value, setting->kind == SIZE, setting->low, setting->high,
				  &number))
			return false;
	}
	if (!apply)
		return true;
	if (setting->apply)
		return setting->apply(number);
	__atomic_store_n(setting->variable, (unsigned int)number, __ATOMIC_RELAXED);
	return true;
}

#define OPTIONS (sizeof(settings) / sizeof(settings[0]))

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
	mine = settings[i].modes & THIS_MODE;
	/* Where the CPU has no tags nothing can be switched on, and the user has been told. */
	if (!kasan_tags_possible())
		mine = false;
	if (!set(&settings[i], kasan_option_docs[i].values, value, mine))
		return KASAN_OPTION_INVALID;
	return mine || !kasan_tags_possible() ? 0 : KASAN_OPTION_NO_EFFECT;
}

const char *kasan_option_values(const char *name)
{
	const size_t i = find_option(name);

	return i == OPTIONS ? NULL : kasan_option_docs[i].values;
}

bool kasan_option_number(const char *name, unsigned int *number)
{
	const size_t i = find_option(name);

	if (i == OPTIONS || !settings[i].variable)
		return false;
	*number = __atomic_load_n(settings[i].variable, __ATOMIC_RELAXED);
	return true;
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
	options->mode = (enum kasan_hw_mode)kasan_opt_hw_mode;
	options->vmalloc = kasan_opt_vmalloc;
	options->stacktrace = kasan_opt_stacktrace;
	options->write_only = kasan_opt_write_only;
}
#endif

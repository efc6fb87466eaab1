/* SPDX-License-Identifier: MIT */
/*
 * params.c - the kernel command line: splits it into parameters, and sets each of them.
 */
#include <kasan/kasan.h>
#include <kernel/ctype.h>
#include <kernel/kallsyms.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/string.h>

/**
 * next_word() - cut one word off the text, in place
 * @text: advanced past the word.
 * @escapes: inside quotes, \" means a quote and \\ means a backslash.
 * @bare: set to false if the word had quotes.
 *
 * Quotes group text anywhere in the word, and are removed.
 *
 * Return: the word, NUL-terminated; NULL at the end of the text.
 */
static char *next_word(char **text, bool escapes, bool *bare)
{
	char *from = skip_spaces(*text), *to = from, *word = from;
	bool quoted = false, end;

	*bare = true;
	if (!*from) {
		*text = from;
		return NULL;
	}
	for (; *from && (quoted || !isspace((u8)*from)); from++) {
		if (*from == '"') {
			quoted = !quoted;
			*bare = false;
			continue;
		}
		if (escapes && quoted && *from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		*to++ = *from;
	}
	/* Test this before the NUL is written, because that may overwrite the byte at @from. */
	end = !*from;
	*to = '\0';
	*text = end ? from : from + 1;
	return word;
}

/* In names of parameters '-' and '_' are the same. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return false;
	}
	return *a == *b;
}

#if defined(CONFIG_KASAN) || defined(KASAN_ALONE)
#define IS_ENABLED_KASAN true
#else
#define IS_ENABLED_KASAN false
#endif

/* --- Settings -------------------------------------------------------------------------------- */

/* The value that was last accepted for each parameter. The array is larger than the number of
 * parameters. */
static struct setting {
	const char *name, *value;
} settings[64];
static unsigned int nr_settings;

static struct setting *find_setting(const char *name)
{
	for (unsigned int i = 0; i < nr_settings; i++) {
		if (same_name(name, settings[i].name))
			return &settings[i];
	}
	return NULL;
}

static void note_setting(const char *name, const char *value)
{
	struct setting *setting = find_setting(name);

	if (!setting && nr_settings < ARRAY_SIZE(settings))
		setting = &settings[nr_settings++];
	if (setting)
		*setting = (struct setting){.name = name, .value = value};
}

static void warn_malformed(const char *name, const char *value, const char *expected)
{
	const struct setting *kept = find_setting(name);
	const char *text = value ? value : "", *quote = value ? "\"" : "";

	/* Print name, or name="value". The message has no level, so that it is printed with any
	 * loglevel=. */
	if (!kept)
		printk("Malformed kernel parameter %s%s%s%s%s: expected %s; keeping the default\n",
		       name, value ? "=" : "", quote, text, quote, expected);
	else if (kept->value)
		printk("Malformed kernel parameter %s%s%s%s%s: expected %s; keeping %s=\"%s\"\n",
		       name, value ? "=" : "", quote, text, quote, expected, kept->name,
		       kept->value);
	else
		printk("Malformed kernel parameter %s%s%s%s%s: expected %s; keeping %s\n", name,
		       value ? "=" : "", quote, text, quote, expected, kept->name);
}

/* --- Setting a parameter ---------------------------------------------------------------------- */

/* Warn of names that are not functions of the kernel. The runtime accepts any name, because it looks
 * for names in traces only, so a typing mistake would go unnoticed. */
static void warn_strange_functions(const char *list)
{
	size_t length;

	for (; *list; list += length + (list[length] == ',')) {
		const char *comma = strchr(list, ',');

		length = comma ? (size_t)(comma - list) : strlen(list);
		if (!kallsyms_matches(list, length))
			printk("kasan.ignore: the kernel has no function %.*s (inlined, or of a "
			       "module?)\n",
			       (int)length, list);
	}
}

/* Hand the parameter to the KASAN runtime. Return: true if it is one of its options. */
static bool set_kasan_option(const char *name, const char *value)
{
	int err = kasan_option(name, value);

	if (err == KASAN_OPTION_INVALID)
		warn_malformed(name, value, kasan_option_values(name));
	/* Without KASAN the names of options are not known: any name that looks like one counts as
	 * one. */
	if (!IS_ENABLED_KASAN && !strncmp(name, "kasan", 5) && strchr("._-", name[5]))
		err = KASAN_OPTION_NO_EFFECT;
	if (!err)
		note_setting(name, value);
	if (err == KASAN_OPTION_NO_EFFECT)
		printk("Kernel parameter %s has no effect in this build\n", name);
	if (!err && !strcmp(name, "kasan.ignore"))
		warn_strange_functions(value);
	return err != KASAN_OPTION_UNKNOWN;
}

static void set_param(char *name, char *value)
{
	const struct kernel_param *param;

	for (param = __init_params_start; param < __init_params_end; param++) {
		if (!same_name(name, param->name))
			continue;
		if (param->set(value, param->var) < 0)
			warn_malformed(param->name, value, param->values);
		else
			note_setting(param->name, value);
		return;
	}
	if (set_kasan_option(name, value))
		return;
	if (value)
		printk("Unknown kernel command line parameter \"%s=%s\", ignored\n", name, value);
	else
		printk("Unknown kernel command line parameter \"%s\", ignored\n", name);
}

char *parse_params(char *cmdline)
{
	char *name, *value;
	bool bare;

	while ((name = next_word(&cmdline, false, &bare))) {
		if (bare && strcmp(name, "--") == 0)
			return cmdline;
		value = strchr(name, '=');
		if (value)
			*value++ = '\0';
		set_param(name, value);
	}
	return NULL;
}

/* Set @name from the word of @length bytes at @word, if it is that parameter with a short value. */
static void set_early(const char *name, const char *word, size_t length)
{
	const struct kernel_param *param;
	char copy[64], *value;

	if (length >= sizeof(copy))
		return;
	memcpy(copy, word, length);
	copy[length] = '\0';
	value = strchr(copy, '=');
	if (!value)
		return;
	*value++ = '\0';
	if (!same_name(copy, name))
		return;
	for (param = __init_params_start; param < __init_params_end; param++) {
		if (same_name(name, param->name))
			param->set(value, param->var);
	}
}

void param_early(const char *cmdline, const char *name)
{
	for (;;) {
		const char *word = cmdline = skip_spaces(cmdline);
		bool quoted = false;

		for (; *cmdline && (quoted || !isspace((u8)*cmdline)); cmdline++)
			quoted ^= *cmdline == '"';
		if (word == cmdline || (cmdline - word == 2 && !strncmp(word, "--", 2)))
			return;
		set_early(name, word, (size_t)(cmdline - word));
	}
}

int split_args(char *text, char **argv, int max)
{
	int argc = 0;
	char *word;
	bool bare;

	if (!text)
		return 0;
	while ((word = next_word(&text, true, &bare))) {
		if (argc == max)
			return -E2BIG;
		argv[argc++] = word;
	}
	return argc;
}

/* --- Types ------------------------------------------------------------------------------------ */

/* Do not use kstrtobool(), which looks at the first letters only. */
int param_set_bool(const char *value, void *var)
{
	bool on = !value || !strcmp(value, "on") || !strcmp(value, "1");

	if (!on && strcmp(value, "off") != 0 && strcmp(value, "0") != 0)
		return -EINVAL;
	*(bool *)var = on;
	return 0;
}

int param_set_range(const char *value, void *var)
{
	const struct param_range *range = var;
	unsigned int number;
	int err = value ? kstrtouint(value, 0, &number) : -EINVAL;

	if (!err && (number < range->low || number > range->high))
		err = -ERANGE;
	if (!err)
		*range->variable = number;
	return err;
}

int param_parse_size(const char *value, size_t *size)
{
	static const char units[] = "kmg";
	unsigned int shift = 0;
	size_t number = 0;
	const char *unit;

	if (!value || !isdigit((u8)*value))
		return -EINVAL;
	for (; isdigit((u8)*value); value++) {
		if (__builtin_mul_overflow(number, (size_t)10, &number) ||
		    __builtin_add_overflow(number, (size_t)(*value - '0'), &number))
			return -ERANGE;
	}
	unit = *value ? strchr(units, tolower((u8)*value)) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		value++;
	}
	if (*value)
		return -EINVAL;
	if (number > SIZE_MAX >> shift)
		return -ERANGE;
	*size = number << shift;
	return 0;
}

int param_set_ulong(const char *value, void *var)
{
	return value ? kstrtoul(value, 0, var) : -EINVAL;
}

int param_set_charp(const char *value, void *var)
{
	if (!value || !*value)
		return -EINVAL;
	*(const char **)var = value;
	return 0;
}

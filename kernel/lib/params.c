/* SPDX-License-Identifier: MIT */
/*
 * params.c - the kernel command line: cutting it up, and finding who wants each piece.
 */
#include <kasan/kasan.h>
#include <kernel/ctype.h>
#include <kernel/kallsyms.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/string.h>

/**
 * next_word() - cut one word off the text, in place
 * @text: advanced behind it.
 * @escapes: inside quotes, \" and \\ stand for themselves.
 * @bare: set to false if the word had quotes.
 *
 * Quotes group and vanish, wherever in the word they are.
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
	/* Before the NUL, which may land on the byte that @from looks at. */
	end = !*from;
	*to = '\0';
	*text = end ? from : from + 1;
	return word;
}

/* Parameter names do not tell '-' from '_'. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return false;
	}
	return *a == *b;
}

#ifdef CONFIG_KASAN
#define IS_ENABLED_KASAN true
#else
#define IS_ENABLED_KASAN false
#endif

static void warn_malformed(const char *name, const char *value, const char *expected)
{
	/* Without a level: who asked for what there is not hears of it whatever loglevel= says. */
	if (value)
		printk("Malformed kernel parameter %s=\"%s\": expected %s; keeping the default\n",
		       name, value, expected);
	else
		printk("Malformed kernel parameter %s: expected %s; keeping the default\n", name,
		       expected);
}

/* The runtime takes any name, because it looks for names in traces only; a slip of the pen would show in
 * nothing. */
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
	/* Without KASAN nobody knows the names: whatever looks like one is taken for one. */
	if (!IS_ENABLED_KASAN && !strncmp(name, "kasan", 5) && strchr("._-", name[5]))
		err = KASAN_OPTION_NO_EFFECT;
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

int param_set_bool(const char *value, void *var)
{
	if (!value) {
		*(bool *)var = true;
		return 0;
	}
	return kstrtobool(value, var);
}

int param_set_int(const char *value, void *var)
{
	return value ? kstrtoint(value, 0, var) : -EINVAL;
}

int param_set_uint(const char *value, void *var)
{
	return value ? kstrtouint(value, 0, var) : -EINVAL;
}

int param_set_ulong(const char *value, void *var)
{
	return value ? kstrtoul(value, 0, var) : -EINVAL;
}

int param_set_charp(const char *value, void *var)
{
	if (!value)
		return -EINVAL;
	*(const char **)var = value;
	return 0;
}

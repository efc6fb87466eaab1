/* SPDX-License-Identifier: MIT */
/*
 * param.h - boot parameters.
 *
 * A parameter is "name" or "name=value" on the kernel command line; '"' groups a value with spaces.
 * Names treat '-' and '_' alike. The text after " -- " is for the program.
 *
 *	static bool verbose;
 *	core_param("foo.verbose", verbose, bool, "on|off", "print every step");
 */
#ifndef KERNEL_PARAM_H
#define KERNEL_PARAM_H

#include <kernel/types.h>

/**
 * struct kernel_param - one parameter
 * @set: parses @value (NULL: there was no "=") and stores it at @var. Returns 0, or a negative error with
 *	the variable unchanged.
 * @values: the accepted values, for the warning: "on|off", "a number from 0 to 8".
 * @help: one line.
 */
struct kernel_param {
	const char *name;
	int (*set)(const char *value, void *var);
	void *var;
	const char *values;
	const char *help;
};

/* The linker collects these; it defines the start and end of the array. */
extern const struct kernel_param __init_params_start[];
extern const struct kernel_param __init_params_end[];

#define __param_concat2(a, b) a##b
#define __param_concat(a, b)  __param_concat2(a, b)
/* The alignment is that of the type, so the section is an array without gaps. */
#define __define_param(...)                                                 \
	static const struct kernel_param __param_concat(__param_, __LINE__) \
	__used __section(".init.params") __aligned(8) = {__VA_ARGS__}

/** core_param() - a parameter that sets a variable. @type: bool, ulong or charp. A charp gets a text of at
 *  least one character, which stays in place for ever. A bool is on, off, 1 or 0. "name" alone means true
 *  for a bool and is malformed for the others. */
#define core_param(param_name, variable, type, values_doc, help_text) \
	__define_param(param_name, param_set_##type, &(variable), values_doc, help_text)

/** struct param_range - an unsigned int and its bounds */
struct param_range {
	unsigned int *variable;
	unsigned int low, high;
};

/** range_param() - a parameter that sets an unsigned int from @low to @high, both plain numbers. @what: "a
 *  number of seconds". */
#define range_param(param_name, variable, low, high, what, help_text)                           \
	static struct param_range __param_concat(__param_range_, __LINE__) = {&(variable), low, \
									      high};            \
	__define_param(param_name, param_set_range, &__param_concat(__param_range_, __LINE__),  \
		       what " from " #low " to " #high, help_text)

/** setup_param() - a parameter that calls a function int fn(const char *value, void *var). */
#define setup_param(param_name, fn, values_doc, help_text) \
	__define_param(param_name, fn, NULL, values_doc, help_text)

/** __setup() - setup_param() without documentation. */
#define __setup(param_name, fn) setup_param(param_name, fn, "a valid value", "")

int param_set_bool(const char *value, void *var);
int param_set_range(const char *value, void *var);
int param_set_ulong(const char *value, void *var);
int param_set_charp(const char *value, void *var);

/** param_parse_size() - parse "4096", "512K", "16M", "1G": digits and an optional unit, nothing else. @size:
 *  filled.
 *  Return: 0; -EINVAL; -ERANGE: too large for the type. */
int param_parse_size(const char *value, size_t *size);

/**
 * parse_params() - set all parameters of a command line
 * @cmdline: cut into pieces in place; must stay for ever. Ends at " -- ".
 *
 * Warns about unknown and malformed parameters by name, tells which value is kept in place of a refused
 * one, and continues. Names of "kasan" go to kasan_option().
 *
 * Return: the text after " -- ", NULL if there is none.
 */
char *parse_params(char *cmdline);

/**
 * param_early() - set one parameter before the others are parsed
 * @cmdline: the whole command line; it is not changed.
 *
 * The last value that is right counts. parse_params() sets the parameter again, and warns of wrong values.
 */
void param_early(const char *cmdline, const char *name);

/**
 * split_args() - cut text into arguments, in place
 * @text: arguments separated by white space. '"' groups; inside of it \" and \\ mean the character itself.
 *	May be NULL.
 * @argv: filled with at most @max pointers.
 *
 * Return: number of arguments, -E2BIG if there are more than @max (the first @max are filled).
 */
int split_args(char *text, char **argv, int max);

#endif

// SPDX-License-Identifier: MIT
/*
 * host.c - what the host gives to programs besides files: standard input and an environment; and their output.
 *
 * The boot image has a file for each under PRIVATE, a folder that programs do not see:
 *
 *   environ  "NAME=VALUE" with a NUL after each; environ.N: instead of it, for program N of each.c
 *   arguments.N  of program N of each.c, with a NUL after each
 *   stdin    there is standard input, a "terminal" or a "pipe"
 *   save     names of files to save, see kernel/libc/save.c
 *
 * Standard input is read when a program asks for it, and not before: it may be a pipe without an end, and a program
 * that does not read must not take it away from somebody else.
 */
#include <kernel/console.h>
#include <kernel/host.h>
#include <kernel/initrd.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "internal.h"

#define PRIVATE ".redzone/"

/* What came last and was not read yet. Programs get copies, which KASAN checks. */
static const unsigned char *input;
static size_t input_pos, input_size;
static bool input_begun, input_locked;

/* The environment of the running program. */
static char *nothing[] = {NULL};
static char **environment = nothing;
/* The program, of many, whose environment is next; 0: all have the same. */
static unsigned int environment_of;

bool program_hides(const char *name)
{
	return strncmp(name, PRIVATE, sizeof(PRIVATE) - 1) == 0;
}

const char *program_setting(const char *name, size_t *size)
{
	char path[32];
	const struct initrd_file *file;

	scnprintf(path, sizeof(path), PRIVATE "%s", name);
	file = initrd_find(path);
	if (!file)
		return NULL;
	*size = file->size;
	return file->data;
}

const char *program_setting_of(const char *name, unsigned int number, size_t *size)
{
	char numbered[24];

	scnprintf(numbered, sizeof(numbered), "%s.%u", name, number);
	return program_setting(numbered, size);
}

/* --- Environment ------------------------------------------------------------------------------ */

void program_environ_choose(unsigned int number)
{
	environment_of = number;
}

bool program_environ_begin(void)
{
	size_t size, count = 0;
	const char *text = program_setting_of("environ", environment_of, &size);

	environment = nothing;
	if (!text)
		text = program_setting("environ", &size);
	if (!text)
		return true;
	for (size_t i = 0; i < size; i++)
		count += !text[i];
	/* Objects of the heap, so that a read past the end of a variable is reported. They stay: a thread that an
	 * earlier program has left behind may still use its own. */
	char **copy = kcalloc(count + 1, sizeof(*copy), GFP_KERNEL);

	if (!copy)
		return false;
	for (size_t i = 0; i < count; i++) {
		copy[i] = kstrdup(text, GFP_KERNEL);
		if (!copy[i]) {
			while (i--)
				kfree(copy[i]);
			kfree(copy);
			return false;
		}
		text += strlen(text) + 1;
	}
	environment = copy;
	return true;
}

char **program_environ(void)
{
	return environment;
}

size_t program_environ_size(void)
{
	size_t count = 0;

	while (environment[count])
		count++;
	return (count + 1) * sizeof(*environment);
}

/* --- Standard streams ------------------------------------------------------------------------- */

void program_output(const char *text, size_t size)
{
	console_write(text, size);
}

/* A mutex would stay locked for ever if the program is ended inside; program_input_reset() opens this one. */
static void lock_input(void)
{
	while (__atomic_exchange_n(&input_locked, true, __ATOMIC_ACQUIRE))
		yield();
}

static void unlock_input(void)
{
	__atomic_store_n(&input_locked, false, __ATOMIC_RELEASE);
}

/* Return: true if the host has standard input, false if it is empty. */
static bool has_input(void)
{
	size_t size;

	return program_setting("stdin", &size) != NULL;
}

static long read_input(unsigned char *buf, size_t size)
{
	if (input_pos == input_size && has_input()) {
		long got;

		input_begun = true;
		got = host_input(&input);
		if (got < 0)
			return -1;
		input_pos = 0;
		input_size = (size_t)got;
	}
	/* Take the bytes that are available now: a pipe may deliver the rest much later. */
	size = min(size, input_size - input_pos);
	memcpy(buf, input + input_pos, size);
	input_pos += size;
	return (long)size;
}

bool program_input_is_terminal(void)
{
	static const char terminal[] = "terminal";
	size_t size;
	const char *kind = program_setting("stdin", &size);

	return kind && size == sizeof(terminal) - 1 && !memcmp(kind, terminal, size);
}

long program_input(void *buf, size_t size)
{
	long count;

	if (!size)
		return 0;
	lock_input();
	count = read_input(buf, size);
	unlock_input();
	return count;
}

void program_input_reset(void)
{
	/* The next program reads it from its beginning. */
	if (input_begun)
		host_restart_input();
	input_begun = false;
	input_pos = input_size = 0;
	unlock_input();
}

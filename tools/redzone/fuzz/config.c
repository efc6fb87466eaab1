// SPDX-License-Identifier: MIT
/*
 * config.c - what the executable has to know: the file EXECUTABLE.conf, and the environment.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy.h"

struct config config = {.hang_ms = 5000, .boot_ms = 120000, .spin_us = 200};

void fail(const char *text, ...)
{
	va_list arguments;

	fprintf(stderr, "redzone: ");
	va_start(arguments, text);
	vfprintf(stderr, text, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	guest_stop();
	_exit(1);
}

/* The folder of the executable. */
static char here[4096];

/* Return: @value with each @here@ replaced, allocated. */
static char *with_here(const char *value)
{
	static const char name[] = "@here@";
	char *copy = strdup(value), *at;

	while (copy && (at = strstr(copy, name))) {
		char *longer;

		if (asprintf(&longer, "%.*s%s%s", (int)(at - copy), copy, here, at + strlen(name)) <
		    0)
			longer = NULL;
		free(copy);
		copy = longer;
	}
	if (!copy)
		fail("no memory for the configuration");
	return copy;
}

static void read_places(const char *value)
{
	char *path = with_here(value);
	FILE *file = fopen(path, "rb");

	config.places = calloc(config.counters, sizeof(*config.places));
	if (!file || !config.places ||
	    fread(config.places, sizeof(*config.places), config.counters, file) != config.counters)
		fail("'%s' does not have %zu addresses", path, config.counters);
	fclose(file);
	free(path);
}

static void set(const char *key, const char *value)
{
	static size_t words;

	if (!strcmp(key, "memory"))
		config.memory = strtoull(value, NULL, 0);
	else if (!strcmp(key, "ram"))
		config.ram = strtoull(value, NULL, 0);
	else if (!strcmp(key, "counters"))
		config.counters = strtoull(value, NULL, 0);
	else if (!strcmp(key, "places"))
		read_places(value);
	else if (!strcmp(key, "hang_ms"))
		config.hang_ms = (unsigned int)strtoul(value, NULL, 0);
	else if (!strcmp(key, "boot_ms"))
		config.boot_ms = (unsigned int)strtoul(value, NULL, 0);
	else if (!strcmp(key, "spin_us"))
		config.spin_us = (unsigned int)strtoul(value, NULL, 0);
	else if (!strcmp(key, "leaks"))
		config.leaks = strtoul(value, NULL, 0) != 0;
	else if (!strcmp(key, "word")) {
		config.command = realloc(config.command, (words + 2) * sizeof(*config.command));
		if (!config.command)
			fail("no memory for the configuration");
		config.command[words++] = with_here(value);
		config.command[words] = NULL;
	} else {
		fail("the configuration has an unknown key '%s'", key);
	}
}

/* An exported target may run where the emulator is elsewhere: in the environment, or beside the executable. */
static void choose_emulator(void)
{
	const char *given = getenv("REDZONE_QEMU"), *name = strrchr(config.command[0], '/');
	char *beside;

	if (asprintf(&beside, "%s/%s", here, name ? name + 1 : config.command[0]) < 0)
		fail("no memory for the configuration");
	if (given)
		config.command[0] = strdup(given);
	else if (access(beside, X_OK) == 0)
		config.command[0] = beside;
	if (!config.command[0])
		fail("no memory for the configuration");
}

void read_config(void)
{
	char path[4096], *line = NULL;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 8);
	size_t room = 0;
	FILE *file;

	if (length < 0)
		fail("the executable's name is unknown: %s", strerror(errno));
	strcpy(path + length, ".conf");
	strcpy(here, path);
	*strrchr(here, '/') = '\0';
	file = fopen(path, "r");
	if (!file)
		fail("'%s' cannot be read: %s", path, strerror(errno));
	while ((length = getline(&line, &room, file)) > 0) {
		char *value = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (!value)
			fail("'%s' has a line without a value: '%s'", path, line);
		*value = '\0';
		set(line, value + 1);
	}
	free(line);
	fclose(file);
	if (!config.command || !config.memory)
		fail("'%s' names no command or no memory", path);
	if (config.counters > KASAN_FUZZ_COUNTERS_MAX)
		config.counters = KASAN_FUZZ_COUNTERS_MAX;
	config.findings = getenv("REDZONE_FUZZ_FINDINGS");
	choose_emulator();
}

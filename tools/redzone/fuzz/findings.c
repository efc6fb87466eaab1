// SPDX-License-Identifier: MIT
/*
 * findings.c - stores inputs that found something, and makes them smaller.
 *
 * A finding is three files, NAME.input, NAME.console and NAME.title; the last one is written last. `./redzone fuzz` takes
 * them from there. NAME is a hash of the title, so a bug that is met a million times stays one finding.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy.h"

/* Bugs of one process. */
#define TITLES 1024

/* Hashes of the titles that were stored. Only the first report of a place has its traces. */
static uint64_t known[TITLES];
static size_t nr_known;

uint64_t title_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3ULL;
	return hash;
}

bool write_file(const char *folder, const char *name, const void *data, size_t size)
{
	static bool said;
	const char *bytes = data;
	char path[4096], temporary[4096];
	size_t done = 0;
	int file;

	snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", name);
	snprintf(temporary, sizeof(temporary), "%s.%d.part", path, (int)getpid());
	file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	while (file >= 0 && done < size) {
		ssize_t put = write(file, bytes + done, size - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			break;
		done += (size_t)put;
	}
	if (file >= 0 && close(file) == 0 && done == size && rename(temporary, path) == 0)
		return true;
	if (!said)
		fprintf(stderr, "redzone: '%s' cannot be written: %s\n", path, strerror(errno));
	said = true;
	unlink(temporary);
	return false;
}

bool findings_add(const char *title, uint64_t number, const uint8_t *data, size_t size,
		  const char *console)
{
	const uint64_t hash = title_hash(title);
	char name[64], lines[TITLE + 32];

	for (size_t i = 0; i < nr_known; i++)
		if (known[i] == hash)
			return false;
	if (nr_known == TITLES)
		return false;
	snprintf(name, sizeof(name), "%016llx.input", (unsigned long long)hash);
	if (!write_file(config.findings, name, data, size))
		return false;
	strcpy(strchr(name, '.'), ".console");
	if (!write_file(config.findings, name, console, strlen(console)))
		return false;
	strcpy(strchr(name, '.'), ".title");
	snprintf(lines, sizeof(lines), "%s\n%llu\n", title, (unsigned long long)number);
	if (!write_file(config.findings, name, lines, strlen(lines)))
		return false;
	/* Only now: what could not be written, as on a full disk, is tried again with the next such input. */
	known[nr_known++] = hash;
	return true;
}

/* --- Smaller inputs ---------------------------------------------------------------------------- */

/* Return: true if the input runs into something; @title names it. */
static bool title_of(const uint8_t *data, size_t size, char *title)
{
	enum end end = guest_run(data, size);

	if (end == END_GOOD)
		return false;
	verdict_title(end, guest_console(), title, TITLE);
	return end != END_KILLED;
}

static bool same(const uint8_t *data, size_t size, const char *wanted)
{
	char title[TITLE];

	return title_of(data, size, title) && !strcmp(title, wanted);
}

static uint8_t *read_input(const char *path, size_t *size)
{
	uint8_t *data = malloc(KASAN_FUZZ_INPUT_MAX);
	FILE *file = fopen(path, "rb");

	if (!file || !data)
		fail("'%s' cannot be read: %s", path, strerror(errno));
	*size = fread(data, 1, KASAN_FUZZ_INPUT_MAX, file);
	fclose(file);
	return data;
}

/* Try without each piece of @step bytes. @try: as large as @data. Return: the new size. */
static size_t without_pieces(uint8_t *data, size_t size, uint8_t *try, size_t step,
			     const char *title, uint64_t limit)
{
	for (size_t at = 0; at < size && now_ms() < limit;) {
		size_t piece = step < size - at ? step : size - at;

		memcpy(try, data, at);
		memcpy(try + at, data + at + piece, size - at - piece);
		if (same(try, size - piece, title)) {
			size -= piece;
			memcpy(data, try, size);
		} else {
			at += piece;
		}
	}
	return size;
}

int findings_minimize(const char *from, const char *to, uint64_t milliseconds)
{
	const uint64_t limit = now_ms() + milliseconds;
	size_t size, before, first;
	uint8_t *data = read_input(from, &size), *try = malloc(KASAN_FUZZ_INPUT_MAX);
	uint8_t *original = malloc(KASAN_FUZZ_INPUT_MAX);
	char title[TITLE];

	if (!try || !original)
		fail("no memory for an input");
	first = size;
	memcpy(original, data, size);
	if (!title_of(data, size, title))
		return 3;
	do {
		before = size;
		for (size_t step = (size + 1) / 2; step && now_ms() < limit; step /= 2)
			size = without_pieces(data, size, try, step, title, limit);
	} while (size < before && now_ms() < limit);
	/* Bytes that do not matter become '0', so that those that matter stand out. */
	for (size_t at = 0; at < size && now_ms() < limit; at++) {
		const uint8_t byte = data[at];

		if (byte == '0')
			continue;
		data[at] = '0';
		if (!same(data, size, title))
			data[at] = byte;
	}
	/* Reports of one boot may have helped each other: the result has to stand alone. */
	guest_stop();
	if (!same(data, size, title)) {
		data = original;
		size = first;
	}
	return write_file("", to, data, size) ? 0 : 1;
}

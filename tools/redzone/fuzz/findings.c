// SPDX-License-Identifier: MIT
/*
 * findings.c - stores inputs that found something, and makes them smaller.
 *
 * A finding is one file, so that it is there as a whole or not at all: KEY-PROCESS.finding. It has lines, then the input,
 * then the console. `./redzone fuzz` takes it from there. KEY is the bug's, so one that is met a million times stays one
 * finding. If it cannot be written, as on a full disk, it stays in memory and is tried again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy.h"

/* Bytes of findings that may wait for room on the disk. */
#define WAITING_MAX (64UL << 20)

/* Keys of the bugs that are stored or wait. Only the first report of a place has its traces. */
static uint64_t *known;
static size_t nr_known;

/* A finding that could not be written. */
struct waiting {
	struct waiting *next;
	uint64_t key;
	size_t size;
	char data[];
};
static struct waiting *waiting;
static size_t waiting_bytes;

static bool is_known(uint64_t key)
{
	for (size_t i = 0; i < nr_known; i++)
		if (known[i] == key)
			return true;
	return false;
}

static void remember(uint64_t key)
{
	if (nr_known % 1024 == 0) {
		uint64_t *more = realloc(known, (nr_known + 1024) * sizeof(*more));

		/* Without memory the finding is stored once more. */
		if (!more)
			return;
		known = more;
	}
	known[nr_known++] = key;
}

void findings_begin(void)
{
	const char *path = getenv("REDZONE_FUZZ_KNOWN");
	FILE *file = path ? fopen(path, "r") : NULL;
	unsigned long long key;

	if (path && !file)
		fail("'%s' cannot be read: %s", path, strerror(errno));
	while (file && fscanf(file, "%llx", &key) == 1)
		remember(key);
	if (file)
		fclose(file);
}

/* Write a file as a whole or not at all. Return: false if that fails; says why at the first of several failures. */
static bool write_file(const char *path, const void *data, size_t size)
{
	static bool said;
	const char *bytes = data;
	char temporary[4096 + 32];
	size_t done = 0;
	int file;

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
	/* The name must not reach the disk before the contents. */
	if (file >= 0 && done == size && fsync(file) == 0 && close(file) == 0 &&
	    rename(temporary, path) == 0) {
		said = false;
		return true;
	}
	if (!said)
		fprintf(stderr, "redzone: '%s' cannot be written: %s; it is tried again\n", path,
			strerror(errno));
	said = true;
	if (file >= 0)
		close(file);
	unlink(temporary);
	return false;
}

static bool store(uint64_t key, const void *data, size_t size)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%016llx-%d.finding", config.findings,
		 (unsigned long long)key, (int)getpid());
	return write_file(path, data, size);
}

void findings_retry(void)
{
	while (waiting && store(waiting->key, waiting->data, waiting->size)) {
		struct waiting *next = waiting->next;

		waiting_bytes -= waiting->size;
		free(waiting);
		waiting = next;
	}
}

bool findings_add(const struct verdict *verdict, uint64_t number, const uint8_t *data, size_t size,
		  const char *console)
{
	const size_t text = strlen(console);
	struct waiting *one;
	int lines;

	if (verdict->again || is_known(verdict->key))
		return false;
	one = malloc(sizeof(*one) + TITLE_MAX + 128 + size + text);
	/* Without memory it is no finding yet: the next such input is the next try. */
	if (!one)
		return false;
	lines = sprintf(one->data, "%s\n%llu %zu %zu\n", verdict->title, (unsigned long long)number,
			verdict->offset, size);
	memcpy(one->data + lines, data, size);
	memcpy(one->data + lines + size, console, text);
	one->size = (size_t)lines + size + text;
	one->key = verdict->key;
	if (!store(one->key, one->data, one->size)) {
		if (waiting_bytes + one->size > WAITING_MAX) {
			free(one);
			return false;
		}
		waiting_bytes += one->size;
		one->next = waiting;
		waiting = one;
		remember(verdict->key);
		return true;
	}
	free(one);
	remember(verdict->key);
	return true;
}

/* --- Smaller inputs ---------------------------------------------------------------------------- */

/* Return: true if the guest runs into the bug @wanted with the input. */
static bool same(const uint8_t *data, size_t size, uint64_t wanted)
{
	static struct verdict list[VERDICTS];
	enum end end = END_KILLED;
	size_t count;

	for (int i = 0; end == END_KILLED && i < RETRIES; i++)
		end = guest_run(data, size);
	if (end == END_GOOD || end == END_KILLED)
		return false;
	count = verdict_list(end, guest_console(), list, VERDICTS);
	for (size_t i = 0; i < count; i++)
		if (list[i].key == wanted)
			return true;
	return false;
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
static size_t without_pieces(uint8_t *data, size_t size, uint8_t *try, size_t step, uint64_t key,
			     uint64_t limit)
{
	for (size_t at = 0; at < size && now_ms() < limit;) {
		size_t piece = step < size - at ? step : size - at;

		memcpy(try, data, at);
		memcpy(try + at, data + at + piece, size - at - piece);
		if (same(try, size - piece, key)) {
			size -= piece;
			memcpy(data, try, size);
		} else {
			at += piece;
		}
	}
	return size;
}

int findings_minimize(const char *from, const char *to, uint64_t key, uint64_t milliseconds)
{
	const uint64_t limit = now_ms() + milliseconds;
	size_t size, before, first;
	uint8_t *data = read_input(from, &size), *try = malloc(KASAN_FUZZ_INPUT_MAX);
	uint8_t *original = malloc(KASAN_FUZZ_INPUT_MAX);

	if (!try || !original)
		fail("no memory for an input");
	/* Each input of this process has the same bug, and others that the guest would print instead. */
	config.reports_all = 1;
	first = size;
	memcpy(original, data, size);
	if (!same(data, size, key))
		return 3;
	do {
		before = size;
		for (size_t step = (size + 1) / 2; step && now_ms() < limit; step /= 2)
			size = without_pieces(data, size, try, step, key, limit);
	} while (size < before && now_ms() < limit);
	/* Bytes that do not matter become '0', so that those that matter stand out. */
	for (size_t at = 0; at < size && now_ms() < limit; at++) {
		const uint8_t byte = data[at];

		if (byte == '0')
			continue;
		data[at] = '0';
		if (!same(data, size, key))
			data[at] = byte;
	}
	/* Reports of one boot may have helped each other: the result has to stand alone. The original does. */
	if (size == first && !memcmp(data, original, size))
		return write_file(to, data, size) ? 0 : 1;
	guest_stop();
	if (!same(data, size, key)) {
		data = original;
		size = first;
	}
	return write_file(to, data, size) ? 0 : 1;
}

/* SPDX-License-Identifier: MIT
 * Pipes between threads, and locks of files, which always succeed: there is one process. Without a bug. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

#define BYTES	1000000UL
#define WRITERS 4

static int ends[2];
static volatile int signals;

static void on_signal(int sig)
{
	signals += sig;
}

static void simple(void)
{
	struct iovec pieces[2] = {{(char[]){"one "}, 4}, {(char[]){"two"}, 3}};
	struct stat read_end, write_end;
	char buf[100];

	CHECK(!pipe(ends) && ends[0] == 3 && ends[1] == 4);
	CHECK(writev(ends[1], pieces, 2) == 7 && read(ends[0], buf, 3) == 3 &&
	      !memcmp(buf, "one", 3));
	CHECK(read(ends[0], buf, sizeof(buf)) == 4 && !memcmp(buf, " two", 4));
	CHECK(read(ends[1], buf, 1) == -1 && errno == EBADF);
	CHECK(write(ends[0], buf, 1) == -1 && errno == EBADF);
	CHECK(lseek(ends[0], 0, SEEK_SET) == -1 && errno == ESPIPE);
	CHECK(!fstat(ends[0], &read_end) && S_ISFIFO(read_end.st_mode) &&
	      !fstat(ends[1], &write_end) && read_end.st_ino == write_end.st_ino);
	CHECK(!fcntl(ends[0], F_SETFL, O_NONBLOCK) && fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	CHECK(read(ends[0], buf, 1) == -1 && errno == EAGAIN);
	CHECK(write(ends[1], "end", 3) == 3 && !close(ends[1]));
	CHECK(read(ends[0], buf, sizeof(buf)) == 3 && read(ends[0], buf, 1) == 0 &&
	      !close(ends[0]));
	CHECK(!pipe2(ends, O_NONBLOCK | O_CLOEXEC) && !close(ends[0]));
	signal(SIGPIPE, on_signal);
	CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE && signals == SIGPIPE &&
	      !close(ends[1]));
	CHECK(pipe2(ends, 1) == -1 && errno == EINVAL);
}

/* Each writes numbers of its own, in records that stay whole. */
static void *producer(void *arg)
{
	uint32_t record[4], number = (uint32_t)(uintptr_t)arg;

	for (uint32_t i = 0; i < BYTES / WRITERS / sizeof(record); i++) {
		for (int k = 0; k < 4; k++)
			record[k] = number << 24 | i;
		CHECK(write(ends[1], record, sizeof(record)) == sizeof(record));
	}
	return NULL;
}

static void records(void)
{
	uint32_t next[WRITERS] = {0}, record[4];
	pthread_t thread[WRITERS];
	size_t total = 0;
	FILE *stream;

	CHECK(!pipe(ends));
	stream = fdopen(ends[0], "r");
	for (uintptr_t i = 0; i < WRITERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, producer, (void *)i));
	while (total < BYTES && fread(record, sizeof(record), 1, stream) == 1) {
		uint32_t from = record[0] >> 24;

		CHECK(from < WRITERS && record[3] == record[0] &&
		      (record[0] & 0xffffff) == next[from]);
		next[from < WRITERS ? from : 0]++;
		total += sizeof(record);
	}
	CHECK(total == BYTES);
	for (int i = 0; i < WRITERS; i++)
		CHECK(!pthread_join(thread[i], NULL));
	close(ends[1]);
	CHECK(fread(record, 1, 1, stream) == 0 && feof(stream) && !fclose(stream));
}

/* More than a pipe holds, in one call. */
static void *large_write(void *arg)
{
	CHECK(write(ends[1], arg, BYTES) == BYTES && !close(ends[1]));
	return NULL;
}

static void large(void)
{
	char *out = malloc(BYTES), *in = malloc(BYTES);
	pthread_t thread;
	size_t total = 0;
	long n;

	for (size_t i = 0; i < BYTES; i++)
		out[i] = (char)(i * 7 + i / 256);
	CHECK(!pipe(ends) && !pthread_create(&thread, NULL, large_write, out));
	while (total < BYTES && (n = read(ends[0], in + total, BYTES - total)) > 0)
		total += (size_t)n;
	CHECK(total == BYTES && !memcmp(in, out, BYTES) && read(ends[0], in, 1) == 0);
	CHECK(!pthread_join(thread, NULL) && !close(ends[0]));
	free(in);
	free(out);
}

static void locks(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
	int fd = open("/tmp/locked", O_RDWR | O_CREAT, 0600);

	CHECK(!fcntl(fd, F_SETLK, &lock) && !fcntl(fd, F_SETLKW, &lock) &&
	      !fcntl(fd, F_GETLK, &lock) && lock.l_type == F_UNLCK);
	CHECK(!flock(fd, LOCK_EX) && !flock(fd, LOCK_UN) && !lockf(fd, F_LOCK, 5) && !close(fd));
	CHECK(flock(fd, LOCK_EX) == -1 && errno == EBADF);
}

int main(void)
{
	simple();
	records();
	large();
	locks();
	puts(failed ? "pipes: bad" : "pipes: good");
	return failed;
}

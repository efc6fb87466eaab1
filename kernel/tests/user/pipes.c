// SPDX-License-Identifier: MIT
/*
 * pipes.c - pipes: alone, with bad pointers, between two processes, and with many on both sides.
 *
 * A child finds its ends of the pipes under the numbers IN and OUT. All others are close-on-exec, so the number
 * of readers and writers is always known.
 */
#include "user.h"

#define PIPE_SIZE 16384
#define PIPE_BUF  4096
#define IN	  10
#define OUT	  11

static char buffer[4 * PIPE_SIZE], copy[4 * PIPE_SIZE];

static long sys_read(int fd, const volatile void *to, size_t n)
{
	return syscall3(NR_read, fd, to, n);
}

static long sys_write(int fd, const void *from, size_t n)
{
	return syscall3(NR_write, fd, from, n);
}

static void sys_close(int fd)
{
	CHECK(syscall1(NR_close, fd) == 0);
}

static void open_pipe(int fds[2], int flags)
{
	CHECK(syscall2(NR_pipe2, fds, flags) == 0);
	CHECK(fds[0] > 2 && fds[1] > fds[0]);
}

static char pattern(unsigned long at)
{
	return (char)(at * 7 + at / 251);
}

static void fill(char *to, unsigned long at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = pattern(at + i);
}

static int is_pattern(const char *p, unsigned long at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != pattern(at + i))
			return 0;
	}
	return 1;
}

/* Give the other processes time to go to sleep. A test holds whether or not they do. */
static void rest(void)
{
	long t[2] = {0, 10000000};

	syscall2(NR_nanosleep, t, 0);
}

/* Start a child, user_tests NAME A B, with @in and @out as its ends; -1: none. Return: its number. */
static long start(const char *name, unsigned long a, unsigned long b, int in, int out)
{
	char texts[2][24];
	const char *argv[] = {"user_tests", name, decimal(a, texts[0]), decimal(b, texts[1]), NULL};
	long pid;

	if (in >= 0)
		CHECK(syscall3(NR_dup3, in, IN, 0) == IN);
	if (out >= 0)
		CHECK(syscall3(NR_dup3, out, OUT, 0) == OUT);
	pid = syscall2(NR_spawn, "user_tests", argv);
	if (in >= 0)
		sys_close(IN);
	if (out >= 0)
		sys_close(OUT);
	CHECK(pid > 0);
	return pid;
}

static int end_of(long pid)
{
	int status = -1;

	CHECK(syscall3(NR_wait4, pid, &status, 0) == pid);
	return status;
}

static int end_of_any(void)
{
	int status = -1;

	CHECK(syscall3(NR_wait4, -1, &status, 0) > 0);
	return status;
}

/* --- One process ----------------------------------------------------------------------------------- */

static void small_transfers(void)
{
	int fds[2];

	CHECK(syscall2(NR_pipe2, fds, 1) == -EINVAL);
	CHECK(syscall2(NR_pipe2, fds, O_NONBLOCK | 1UL << 32) == -EINVAL);
	open_pipe(fds, 0);
	CHECK(fds[0] == 3 && fds[1] == 4);
	CHECK(sys_read(fds[1], buffer, 1) == -EBADF);
	CHECK(sys_write(fds[0], buffer, 1) == -EBADF);
	CHECK(syscall3(NR_lseek, fds[0], 0, 0) == -ESPIPE);
	/* A read takes what there is, and never waits for nothing. */
	CHECK(sys_read(fds[0], buffer, 0) == 0);
	fill(buffer, 0, 10);
	CHECK(sys_write(fds[1], buffer, 10) == 10);
	CHECK(sys_read(fds[0], copy, 4) == 4 && is_pattern(copy, 0, 4));
	CHECK(sys_read(fds[0], copy, 100) == 6 && is_pattern(copy, 4, 6));
	/* A reader gets all that is in the pipe, although the writer has ended. */
	CHECK(sys_write(fds[1], buffer, 5) == 5);
	sys_close(fds[1]);
	CHECK(sys_read(fds[0], copy, 100) == 5 && is_pattern(copy, 0, 5));
	CHECK(sys_read(fds[0], copy, 100) == 0);
	CHECK(sys_read(fds[0], copy, 100) == 0);
	sys_close(fds[0]);
	CHECK(sys_read(fds[0], copy, 1) == -EBADF);
	CHECK(syscall1(NR_close, fds[0]) == -EBADF);

	open_pipe(fds, 0);
	CHECK(sys_write(fds[1], buffer, 10) == 10);
	sys_close(fds[0]);
	CHECK(sys_write(fds[1], buffer, 1) == -EPIPE);
	CHECK(sys_write(fds[1], buffer, PIPE_SIZE) == -EPIPE);
	CHECK(sys_write(fds[1], buffer, 0) == 0);
	sys_close(fds[1]);
}

static void full_pipe(void)
{
	int fds[2];

	open_pipe(fds, O_NONBLOCK);
	CHECK(sys_read(fds[0], copy, 1) == -EAGAIN);
	fill(buffer, 0, PIPE_SIZE + 1000);
	/* A large write is cut, a small one is not. */
	CHECK(sys_write(fds[1], buffer, PIPE_SIZE + 1) == PIPE_SIZE);
	CHECK(sys_write(fds[1], buffer, 1) == -EAGAIN);
	CHECK(sys_write(fds[1], buffer, PIPE_BUF + 1) == -EAGAIN);
	CHECK(sys_read(fds[0], copy, 1000) == 1000 && is_pattern(copy, 0, 1000));
	CHECK(sys_write(fds[1], buffer, 1001) == -EAGAIN);
	CHECK(sys_write(fds[1], buffer, PIPE_BUF) == -EAGAIN);
	CHECK(sys_write(fds[1], buffer + PIPE_SIZE, 990) == 990);
	CHECK(sys_write(fds[1], buffer + PIPE_SIZE + 990, PIPE_BUF + 1) == 10);
	CHECK(sys_read(fds[0], copy, sizeof(copy)) == PIPE_SIZE &&
	      is_pattern(copy, 1000, PIPE_SIZE));
	CHECK(sys_read(fds[0], copy, 1) == -EAGAIN);
	sys_close(fds[1]);
	CHECK(sys_read(fds[0], copy, 1) == 0);
	sys_close(fds[0]);
}

/* Every offset of the ring, with reads and writes of different sizes. */
static void around_the_ring(void)
{
	unsigned long written = 0, taken = 0;
	int fds[2];

	open_pipe(fds, O_NONBLOCK);
	while (taken < 40 * PIPE_SIZE) {
		size_t n = random_number() % 5000;
		long moved;

		fill(buffer, written, n);
		moved = sys_write(fds[1], buffer, n);
		CHECK(moved == (long)n || moved == -EAGAIN || (n > PIPE_BUF && moved > 0));
		written += moved > 0 ? (unsigned long)moved : 0;
		CHECK(written - taken <= PIPE_SIZE);
		n = random_number() % 5000;
		moved = sys_read(fds[0], copy, n);
		if (moved < 0) {
			CHECK(moved == -EAGAIN && written == taken);
			continue;
		}
		CHECK(moved == (long)(n < written - taken ? n : written - taken));
		CHECK(is_pattern(copy, taken, (size_t)moved));
		taken += (unsigned long)moved;
	}
	sys_close(fds[0]);
	sys_close(fds[1]);
}

static void descriptors(void)
{
	long fd, error;
	int fds[2];

	open_pipe(fds, 0);
	CHECK(syscall1(NR_dup, 99) == -EBADF && syscall1(NR_dup, 9) == -EBADF);
	CHECK(syscall3(NR_dup3, fds[1], fds[1], 0) == -EINVAL);
	CHECK(syscall3(NR_dup3, fds[1], 9, 1) == -EINVAL);
	CHECK(syscall3(NR_dup3, fds[1], 16, 0) == -EBADF);
	CHECK(syscall3(NR_dup3, fds[1], -1UL, 0) == -EBADF);
	CHECK(syscall3(NR_dup3, 9, fds[1], 0) == -EBADF);
	/* The end is open as long as one of its descriptors is. */
	fd = syscall1(NR_dup, fds[1]);
	CHECK(fd == 5);
	sys_close(fds[1]);
	CHECK(sys_write((int)fd, buffer, 3) == 3);
	CHECK(sys_read(fds[0], copy, 5) == 3);
	CHECK(syscall3(NR_dup3, fds[0], fd, O_CLOEXEC) == fd);
	CHECK(sys_read((int)fd, copy, 5) == 0);
	sys_close((int)fd);
	sys_close(fds[0]);

	/* The console's numbers are like all others. */
	sys_close(0);
	CHECK(syscall2(NR_pipe2, fds, 0) == 0 && fds[0] == 0 && fds[1] == 3);
	CHECK(sys_read(1, copy, 1) == -EBADF && sys_write(2, "", 0) == 0);
	sys_close(3);
	CHECK(sys_read(0, copy, 1) == 0);

	/* With one free descriptor left it fails, and keeps nothing. */
	while (!(error = syscall2(NR_pipe2, fds, 0)))
		CHECK(fds[1] < 15);
	CHECK(error == -EMFILE && fds[1] == 14);
	CHECK(syscall2(NR_pipe2, fds, 0) == -EMFILE);
	CHECK(syscall1(NR_dup, 1) == 15);
	CHECK(syscall1(NR_dup, 1) == -EMFILE && syscall2(NR_pipe2, fds, 0) == -EMFILE);
	for (int i = 3; i < 16; i++)
		syscall1(NR_close, i);
}

int case_pipe_calls(int argc, char **argv)
{
	random_seed(number(argv[2]));
	small_transfers();
	full_pipe();
	around_the_ring();
	descriptors();
	return 0;
}

/* A pointer that leads nowhere loses no data: what was not copied stays in the pipe, or never gets there. */
int case_pipe_pointers(int argc, char **argv)
{
	static const unsigned long bad[] = {0, 0x5000000000, 0xffff000040000000, -8UL};
	long page = map(2 * PAGE_SIZE, 3);
	char *end = (char *)page + PAGE_SIZE;
	int fds[2];

	CHECK(page > 0 && syscall2(NR_munmap, end, PAGE_SIZE) == 0);
	CHECK(syscall2(NR_pipe2, end - 4, 0) == -EFAULT);
	for (int i = 0; i < 4; i++)
		CHECK(syscall2(NR_pipe2, bad[i], 0) == -EFAULT);
	open_pipe(fds, O_NONBLOCK);
	CHECK(fds[0] == 3 && fds[1] == 4);
	for (int i = 0; i < 4; i++) {
		CHECK(syscall3(NR_write, fds[1], bad[i], 1) == -EFAULT);
		CHECK(syscall3(NR_write, fds[1], bad[i], PIPE_SIZE) == -EFAULT);
		CHECK(syscall3(NR_write, fds[1], bad[i], -1UL) == -EFAULT);
		CHECK(sys_read(fds[0], copy, 1) == -EAGAIN);
	}
	/* A small write is made as a whole or not at all; a large one up to the bad address. */
	fill((char *)page, 0, PAGE_SIZE);
	CHECK(sys_write(fds[1], end - 100, 101) == -EFAULT);
	CHECK(sys_read(fds[0], copy, 1) == -EAGAIN);
	CHECK(sys_write(fds[1], end - 100, PIPE_BUF + 1) == 100);
	CHECK(sys_write(fds[1], end - 100, 100) == 100);

	for (int i = 0; i < 4; i++)
		CHECK(syscall3(NR_read, fds[0], bad[i], 200) == -EFAULT);
	CHECK(sys_read(fds[0], end - 30, 200) == 30);
	CHECK(is_pattern(end - 30, PAGE_SIZE - 100, 30));
	CHECK(sys_read(fds[0], copy, 200) == 170);
	CHECK(is_pattern(copy, PAGE_SIZE - 70, 70) && is_pattern(copy + 70, PAGE_SIZE - 100, 100));

	/* The same where the bytes lie on both sides of the ring's end. */
	for (int i = 200; i < PIPE_SIZE - 50; i += 50) {
		CHECK(sys_write(fds[1], buffer, 50) == 50);
		CHECK(sys_read(fds[0], copy, 50) == 50);
	}
	fill((char *)page, 0, PAGE_SIZE);
	CHECK(sys_write(fds[1], end - 100, 101) == -EFAULT);
	CHECK(sys_write(fds[1], end - 100, PIPE_BUF + 1) == 100);
	CHECK(sys_read(fds[0], end - 60, 100) == 60);
	CHECK(sys_read(fds[0], end, 100) == -EFAULT);
	CHECK(sys_read(fds[0], copy, 100) == 40 && is_pattern(copy, PAGE_SIZE - 40, 40));
	return 0;
}

/* --- Two processes --------------------------------------------------------------------------------- */

/* pipe_echo ROUNDS: a number comes in and goes out, one higher. Ends at the end of file if ROUNDS is 0. */
int case_pipe_echo(int argc, char **argv)
{
	unsigned long rounds = number(argv[2]), value = 0, round = 0;
	long n;

	while ((n = sys_read(IN, &value, sizeof(value))) == sizeof(value)) {
		value++;
		CHECK(sys_write(OUT, &value, sizeof(value)) == sizeof(value));
		if (++round == rounds)
			return 0;
	}
	return n == 0 && !rounds ? 0 : 1;
}

/* pipe_pingpong ROUNDS */
int case_pipe_pingpong(int argc, char **argv)
{
	unsigned long rounds = number(argv[2]), value;
	int there[2], back[2];
	long child;

	open_pipe(there, O_CLOEXEC);
	open_pipe(back, O_CLOEXEC);
	child = start("pipe_echo", 0, 0, there[0], back[1]);
	sys_close(there[0]);
	sys_close(back[1]);
	for (unsigned long i = 0; i < rounds; i++) {
		value = i * 3;
		CHECK(sys_write(there[1], &value, sizeof(value)) == sizeof(value));
		CHECK(sys_read(back[0], &value, sizeof(value)) == sizeof(value));
		CHECK(value == i * 3 + 1);
	}
	/* Nothing comes without a question. */
	sys_close(there[1]);
	CHECK(end_of(child) == 0);
	CHECK(sys_read(back[0], &value, sizeof(value)) == 0);
	return 0;
}

/* pipe_source SEED BYTES: the pattern, in writes of all sizes. */
int case_pipe_source(int argc, char **argv)
{
	unsigned long at = 0, bytes = number(argv[3]);

	random_seed(number(argv[2]));
	while (at < bytes) {
		size_t n = random_number() % (random_number() % 2 ? 200 : sizeof(buffer));

		n = n < bytes - at ? n : bytes - at;
		fill(buffer, at, n);
		CHECK(sys_write(OUT, buffer, n) == (long)n);
		at += n;
	}
	return 0;
}

/* pipe_stream SEED BYTES: reads of all sizes get all of it, in order. */
int case_pipe_stream(int argc, char **argv)
{
	unsigned long at = 0, bytes = number(argv[3]);
	long child, n;
	int fds[2];

	open_pipe(fds, O_CLOEXEC);
	child = start("pipe_source", number(argv[2]), bytes, -1, fds[1]);
	sys_close(fds[1]);
	random_seed(number(argv[2]) + 1);
	while ((n = sys_read(fds[0], copy, 1 + random_number() % 20000)) > 0) {
		CHECK(is_pattern(copy, at, (size_t)n));
		at += (unsigned long)n;
	}
	CHECK(n == 0 && at == bytes);
	CHECK(end_of(child) == 0);
	return 0;
}

/* --- Blocked --------------------------------------------------------------------------------------- */

/* pipe_reader N: N reads of a byte, then the end of file. */
int case_pipe_reader(int argc, char **argv)
{
	for (unsigned long n = number(argv[2]); n; n--)
		CHECK(sys_read(IN, buffer, 1) == 1);
	return sys_read(IN, buffer, 1) == 0 ? 0 : 1;
}

/* pipe_writer: more than fits. The first write fills the pipe, and then the reader goes. */
int case_pipe_writer(int argc, char **argv)
{
	long n;

	fill(buffer, 0, 3 * PIPE_SIZE);
	n = sys_write(OUT, buffer, 3 * PIPE_SIZE);
	CHECK(n >= PIPE_SIZE && n <= PIPE_SIZE + PIPE_BUF);
	return sys_write(OUT, buffer, 1) == -EPIPE ? 0 : 1;
}

/* pipe_idle: only has its ends. */
int case_pipe_idle(int argc, char **argv)
{
	for (int i = 0; i < 3000; i++)
		rest();
	return 1;
}

static void the_other_end_goes(void)
{
	long readers[3], writer, idle;
	int fds[2];

	/* The last writer closes: readers that sleep get the end of the file. */
	open_pipe(fds, O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		readers[i] = start("pipe_reader", 0, 0, fds[0], -1);
	rest();
	sys_close(fds[1]);
	for (int i = 0; i < 3; i++)
		CHECK(end_of(readers[i]) == 0);
	sys_close(fds[0]);

	/* The last writer is killed. */
	open_pipe(fds, O_CLOEXEC);
	readers[0] = start("pipe_reader", 0, 0, fds[0], -1);
	idle = start("pipe_idle", 0, 0, fds[0], fds[1]);
	sys_close(fds[1]);
	sys_close(fds[0]);
	rest();
	CHECK(syscall3(NR_wait4, readers[0], 0, 1) == 0);
	CHECK(syscall2(NR_kill, idle, 9) == 0);
	CHECK(end_of(idle) == 9);
	CHECK(end_of(readers[0]) == 0);

	/* The last reader closes, with some of a large write done. */
	open_pipe(fds, O_CLOEXEC);
	writer = start("pipe_writer", 0, 0, -1, fds[1]);
	sys_close(fds[1]);
	CHECK(sys_read(fds[0], copy, PIPE_BUF) == PIPE_BUF && is_pattern(copy, 0, PIPE_BUF));
	rest();
	sys_close(fds[0]);
	CHECK(end_of(writer) == 0);
}

static void killed_while_blocked(void)
{
	long first, second, n = 0, got;
	int fds[2];

	/* A reader that is killed takes nothing, and the other one goes on. */
	open_pipe(fds, O_CLOEXEC);
	first = start("pipe_reader", 1, 0, fds[0], -1);
	second = start("pipe_reader", 1, 0, fds[0], -1);
	sys_close(fds[0]);
	rest();
	CHECK(syscall2(NR_kill, first, 9) == 0);
	CHECK(end_of(first) == 9);
	CHECK(sys_write(fds[1], buffer, 1) == 1);
	sys_close(fds[1]);
	CHECK(end_of(second) == 0);

	/* What a killed writer has written stays. */
	open_pipe(fds, O_CLOEXEC);
	first = start("pipe_writer", 0, 0, -1, fds[1]);
	sys_close(fds[1]);
	CHECK(sys_read(fds[0], copy, 1) == 1);
	rest();
	CHECK(syscall2(NR_kill, first, 9) == 0);
	CHECK(end_of(first) == 9);
	while ((got = sys_read(fds[0], copy, PIPE_BUF)) > 0) {
		CHECK(is_pattern(copy, (unsigned long)n + 1, (size_t)got));
		n += got;
	}
	CHECK(got == 0 && n >= PIPE_SIZE - 1 && n <= PIPE_SIZE);
	sys_close(fds[0]);
}

/* Both ends go at once: the only reader sleeps in one pipe and has the other one's end, and so on. */
static void both_ends_go(void)
{
	int there[2], back[2];
	long echo;

	open_pipe(there, O_CLOEXEC);
	open_pipe(back, O_CLOEXEC);
	echo = start("pipe_echo", 0, 0, there[0], back[1]);
	rest();
	sys_close(there[0]);
	sys_close(back[1]);
	sys_close(there[1]);
	sys_close(back[0]);
	CHECK(end_of(echo) == 0);
}

int case_pipe_blocked(int argc, char **argv)
{
	the_other_end_goes();
	killed_while_blocked();
	both_ends_go();
	return 0;
}

/* pipe_dies: has its ends, and dies in a system call that is registered to do so. */
int case_pipe_dies(int argc, char **argv)
{
	return (int)syscall1(NR_own, IN);
}

/* pipe_orphan: a task dies while it copies at both ends of a pipe that others wait for. */
int case_pipe_orphan(int argc, char **argv)
{
	long child;
	int fds[2];

	open_pipe(fds, O_CLOEXEC);
	CHECK(sys_write(fds[1], "abc", 3) == 3);
	child = start("pipe_dies", 0, 0, fds[0], fds[1]);
	/* Whichever of the two comes first. */
	CHECK(sys_read(fds[0], copy, 2) == 2 && copy[0] == 'a' && copy[1] == 'b');
	CHECK(sys_write(fds[1], "de", 2) == 2);
	CHECK(end_of(child) == 9);
	CHECK(sys_read(fds[0], copy, 8) == 3 && copy[0] == 'c' && copy[2] == 'e');
	CHECK(sys_write(fds[1], "f", 1) == 1);
	CHECK(sys_read(fds[0], copy, 8) == 1 && copy[0] == 'f');
	return 0;
}

/* --- Many ------------------------------------------------------------------------------------------ */

/* A record of which writes of at most PIPE_BUF bytes are made. */
struct record {
	unsigned short size; /* with this head */
	unsigned short writer;
	unsigned int number;
};

static void make_record(char *to, unsigned int writer, unsigned int nr, size_t size)
{
	struct record head = {(unsigned short)size, (unsigned short)writer, nr};

	memcpy(to, &head, sizeof(head));
	fill(to + sizeof(head), writer * 1000 + nr, size - sizeof(head));
}

/* Return: the record's head; the program ends if the bytes behind it are not its own. */
static struct record check_record(const char *from)
{
	struct record head;

	memcpy(&head, from, sizeof(head));
	CHECK(head.size >= sizeof(head) && head.size <= PIPE_BUF);
	CHECK(is_pattern(from + sizeof(head), head.writer * 1000UL + head.number,
			 head.size - sizeof(head)));
	return head;
}

#define RECORD	    100 /* does not divide PIPE_SIZE */
#define WRITERS_MAX 8

/* pipe_records WRITER N: N records of the fixed size, or with WRITER + 100 of all sizes. */
int case_pipe_records(int argc, char **argv)
{
	unsigned int writer = (unsigned int)number(argv[2]), n = (unsigned int)number(argv[3]);

	random_seed(writer + 1);
	for (unsigned int i = 1; i <= n; i++) {
		size_t size = writer < 100 ? RECORD
					   : sizeof(struct record) +
						     random_number() %
							     (PIPE_BUF + 1 - sizeof(struct record));

		make_record(buffer, writer % 100, i, size);
		CHECK(sys_write(OUT, buffer, size) == (long)size);
	}
	return 0;
}

/* pipe_collect: reads records until the end, and reports their number and the sum of their numbers. */
int case_pipe_collect(int argc, char **argv)
{
	unsigned int seen[WRITERS_MAX] = {0};
	unsigned long result[2] = {0, 0};
	long n;

	while ((n = sys_read(IN, buffer, RECORD)) > 0) {
		struct record head;

		CHECK(n == RECORD);
		head = check_record(buffer);
		/* In each writer's order, although others got some. */
		CHECK(head.writer < WRITERS_MAX && head.number > seen[head.writer]);
		seen[head.writer] = head.number;
		result[0]++;
		result[1] += head.number;
	}
	CHECK(n == 0);
	CHECK(sys_write(OUT, result, sizeof(result)) == sizeof(result));
	return 0;
}

/* pipe_many WRITERS RECORDS [READERS]: nothing is lost, doubled or mixed. */
int case_pipe_many(int argc, char **argv)
{
	unsigned long writers = number(argv[2]), records = number(argv[3]);
	unsigned long readers = argc > 4 ? number(argv[4]) : writers;
	unsigned long result[2], count = 0, sum = 0;
	int fds[2], results[2];

	CHECK(writers <= WRITERS_MAX);
	open_pipe(fds, O_CLOEXEC);
	open_pipe(results, O_CLOEXEC);
	for (unsigned long i = 0; i < readers; i++)
		start("pipe_collect", 0, 0, fds[0], results[1]);
	for (unsigned long i = 0; i < writers; i++)
		start("pipe_records", i, records, -1, fds[1]);
	sys_close(fds[0]);
	sys_close(fds[1]);
	sys_close(results[1]);
	for (unsigned long i = 0; i < readers; i++) {
		CHECK(sys_read(results[0], result, sizeof(result)) == sizeof(result));
		count += result[0];
		sum += result[1];
	}
	CHECK(sys_read(results[0], result, sizeof(result)) == 0);
	CHECK(count == writers * records && sum == writers * (records * (records + 1) / 2));
	for (unsigned long i = 0; i < readers + writers; i++)
		CHECK(end_of_any() == 0);
	return 0;
}

/* pipe_mix WRITERS RECORDS: records of all sizes up to PIPE_BUF are not mixed. */
int case_pipe_mix(int argc, char **argv)
{
	unsigned long writers = number(argv[2]), records = number(argv[3]);
	unsigned int seen[WRITERS_MAX] = {0};
	size_t have = 0, at;
	int fds[2];
	long n;

	CHECK(writers <= WRITERS_MAX);
	open_pipe(fds, O_CLOEXEC);
	for (unsigned long i = 0; i < writers; i++)
		start("pipe_records", 100 + i, records, -1, fds[1]);
	sys_close(fds[1]);
	random_seed(1);
	while ((n = sys_read(fds[0], buffer + have, 1 + random_number() % PIPE_SIZE)) > 0) {
		have += (size_t)n;
		for (at = 0; have - at >= sizeof(struct record);) {
			struct record head;

			memcpy(&head, buffer + at, sizeof(head));
			if (head.size > have - at)
				break;
			head = check_record(buffer + at);
			CHECK(head.writer < writers && head.number == seen[head.writer] + 1);
			seen[head.writer]++;
			at += head.size;
		}
		have -= at;
		memcpy(copy, buffer + at, have);
		memcpy(buffer, copy, have);
	}
	CHECK(n == 0 && have == 0);
	for (unsigned long i = 0; i < writers; i++)
		CHECK(seen[i] == records && end_of_any() == 0);
	return 0;
}

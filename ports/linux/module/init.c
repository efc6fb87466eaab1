// SPDX-License-Identifier: MIT
/*
 * init.c - /init of the initial RAM disk: counts what system calls cost, loads the modules that count inside the kernel,
 * and stops the machine. No C library.
 *
 * It prints `redzone-bench: NAME COUNT`: instructions of one round. Its arguments choose what to count.
 */
#include <stdbool.h>

#include "calls.h"

/* Write @value in decimal to the end of the 24 bytes @buf. Return: its first digit. */
static char *decimal(char *buf, uint64_t value)
{
	char *at = buf + 23;

	*at = 0;
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return at;
}

static void row(const char *name, uint64_t count)
{
	char buf[24];

	print("redzone-bench: ");
	print(name);
	print(" ");
	print(decimal(buf, count));
	print("\n");
}

static void finish(void)
{
	call(EXIT, 0, 0, 0, 0, 0);
	__builtin_trap();
}

static long fork(void)
{
	return need("fork", call(CLONE, SIGCHLD, 0, 0, 0, 0));
}

static void wait(void)
{
	need("wait", call(WAIT4, -1, 0, 0, 0, 0));
}

/* --- The works: each returns the number of its rounds --- */

static unsigned int getpid(void)
{
	for (unsigned int i = 0; i < 10000; i++)
		call(GETPID, 0, 0, 0, 0, 0);
	return 10000;
}

static unsigned int fork_exec(void)
{
	static const char *const arguments[] = {"/exit", NULL};

	for (unsigned int i = 0; i < 2000; i++) {
		if (!fork()) {
			call(EXECVE, (long)"/exit", (long)arguments, (long)(arguments + 1), 0, 0);
			finish();
		}
		wait();
	}
	return 2000;
}

static unsigned int pipe_ping_pong(void)
{
	const unsigned int rounds = 2000;
	int there[2], back[2];
	char byte = 0;

	need("pipe", call(PIPE2, (long)there, 0, 0, 0, 0));
	need("pipe", call(PIPE2, (long)back, 0, 0, 0, 0));
	if (!fork()) {
		for (unsigned int i = 0; i < rounds; i++) {
			call(READ, there[0], (long)&byte, 1, 0, 0);
			call(WRITE, back[1], (long)&byte, 1, 0, 0);
		}
		finish();
	}
	for (unsigned int i = 0; i < rounds; i++) {
		call(WRITE, there[1], (long)&byte, 1, 0, 0);
		call(READ, back[0], (long)&byte, 1, 0, 0);
	}
	wait();
	for (unsigned int i = 0; i < 2; i++) {
		call(CLOSE, there[i], 0, 0, 0, 0);
		call(CLOSE, back[i], 0, 0, 0, 0);
	}
	return rounds;
}

static unsigned int files(void)
{
	const unsigned int count = 2000;
	char name[24 + 3], buf[24];

	for (int remove = 0; remove < 2; remove++) {
		for (unsigned int i = 0; i < count; i++) {
			const char *digits = decimal(buf, i);
			size_t size = length(digits);

			name[0] = '/', name[1] = 't', name[2] = '/';
			for (size_t at = 0; at <= size; at++)
				name[3 + at] = digits[at];
			if (remove) {
				need("unlink", call(UNLINKAT, AT_FDCWD, (long)name, 0, 0, 0));
			} else {
				long file = need("create", call(OPENAT, AT_FDCWD, (long)name,
								O_CREAT | O_RDWR, 0600, 0));

				call(WRITE, file, (long)buf, sizeof(buf), 0, 0);
				call(CLOSE, file, 0, 0, 0, 0);
			}
		}
	}
	return count;
}

/* struct sockaddr_in and struct ifreq, as far as they are used here. */
struct address {
	uint16_t family;
	uint8_t port[2], host[4], rest[8];
};

struct interface {
	char name[16];
	uint16_t flags;
	char rest[22];
};

/* In MiB. */
static unsigned int loopback(void)
{
	static char data[64 << 10];
	struct address address = {2, {0x12, 0x34}, {127, 0, 0, 1}, {0}};
	struct interface lo = {"lo", 1, {0}};
	const unsigned int mib = 64;
	long server = need("socket", call(SOCKET, 2, 1, 0, 0, 0)), peer;

	need("lo", call(IOCTL, server, 0x8914, (long)&lo, 0, 0));
	need("bind", call(BIND, server, (long)&address, sizeof(address), 0, 0));
	need("listen", call(LISTEN, server, 1, 0, 0, 0));
	if (!fork()) {
		peer = need("socket", call(SOCKET, 2, 1, 0, 0, 0));
		need("connect", call(CONNECT, peer, (long)&address, sizeof(address), 0, 0));
		for (size_t left = (size_t)mib << 20; left;)
			left -= (size_t)need("send",
					     call(WRITE, peer, (long)data,
						  (long)(left < sizeof(data) ? left : sizeof(data)),
						  0, 0));
		finish();
	}
	peer = need("accept", call(ACCEPT, server, 0, 0, 0, 0));
	for (size_t left = (size_t)mib << 20; left;) {
		long size = need("receive", call(READ, peer, (long)data, sizeof(data), 0, 0));

		if (!size)
			break;
		left -= (size_t)size;
	}
	wait();
	call(CLOSE, peer, 0, 0, 0, 0);
	call(CLOSE, server, 0, 0, 0, 0);
	return mib;
}

/* Return: the instructions of all rounds of @work. */
static uint64_t measure(const char *name, unsigned int (*work)(void))
{
	const uint64_t start = now();
	const unsigned int rounds = work();
	const uint64_t count = now() - start;

	row(name, count / rounds);
	return count;
}

static void vmalloc_tests(void)
{
	/* It says that it cannot be loaded when it is done. */
	load("/test_vmalloc.ko",
	     "nr_threads=1 run_test_mask=31 test_repeat_count=1 test_loop_count=1000");
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* The works that are arguments; without arguments all. "boot" is done in any case. */
static bool wanted(const char *const *arguments, const char *name)
{
	if (!arguments[0])
		return true;
	for (; *arguments; arguments++) {
		if (same(*arguments, name))
			return true;
	}
	return false;
}

__attribute__((used)) void start(const uintptr_t *stack);

__attribute__((used)) void start(const uintptr_t *stack)
{
	static const struct {
		const char *name;
		unsigned int (*work)(void);
	} works[] = {
		{"getpid", getpid},
		{"fork_exec_exit", fork_exec},
		{"pipe_ping_pong", pipe_ping_pong},
		{"tmpfs_file", files},
		{"loopback_mib", loopback},
	};
	/* After the program's name. */
	const char *const *arguments = (const char *const *)stack + 2;
	uint64_t mix = 0;

	row("boot", now());
	/* This first: memory that is in use after the boot is one of its rows. */
	if (wanted(arguments, "measure"))
		need("measure.ko", load("/measure.ko", ""));
	need("mkdir", call(MKDIRAT, AT_FDCWD, (long)"/t", 0700, 0, 0));
	need("mount", call(MOUNT, (long)"tmpfs", (long)"/t", (long)"tmpfs", 0, 0));
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (wanted(arguments, works[i].name))
			mix += measure(works[i].name, works[i].work);
	}
	if (mix)
		row("mix", mix);
	if (wanted(arguments, "vmalloc"))
		vmalloc_tests();
	/* Only on request. */
	if (arguments[0] && wanted(arguments, "pages"))
		load("/pages.ko", "");
	print("redzone-bench: end 0\n");
	stop();
}

START(start);

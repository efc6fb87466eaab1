// SPDX-License-Identifier: MIT
/* calls.c - system calls with pointers that lead nowhere, with ranges that end too early, and with
 * anything at all. */
#include "user.h"

/* Every kind of address that a program has no right to. */
static unsigned long bad_addresses[] = {
	0x1000,		    /* near null */
	0x5000000000,	    /* unmapped */
	0x0000ffffffffffff, /* the last of user space, unmapped */
	0x0001000000000000, /* behind it */
	0x8000000000000000, /* neither half */
	0xdfff800000000000, /* where shadow offsets lie */
	0xffff000000000000, /* the kernel's linear map, */
	0xffff000040000000,
	0xffff600000000000, /* its shadow, */
	0xffff800080000000, /* its code, */
	0xfffffffffffffff0, /* and the end of everything */
	0xffffffffffffffff,
};

static const char text[] = "text that may be read but not written";

static void reads_from(unsigned long bad)
{
	CHECK(syscall3(NR_write, 1, bad, 1) == -EFAULT);
	CHECK(syscall3(NR_write, 1, bad, 100) == -EFAULT);
	CHECK(syscall3(NR_write, 1, bad, 100000) == -EFAULT);
	CHECK(syscall3(NR_write, 1, bad, -1UL) == -EFAULT);
	CHECK(syscall3(NR_openat, 0, bad, 0) == -EFAULT);
	CHECK(syscall2(NR_nanosleep, bad, 0) == -EFAULT);
	CHECK(syscall2(NR_spawn, bad, 0) == -EFAULT);
	CHECK(syscall2(NR_spawn, "user_tests", bad) == -EFAULT);
	{
		unsigned long argv[3] = {(unsigned long)"user_tests", bad, 0};

		CHECK(syscall2(NR_spawn, "user_tests", argv) == -EFAULT);
	}
}

static void writes_to(unsigned long bad)
{
	CHECK(syscall2(NR_clock_gettime, 0, bad) == -EFAULT);
	CHECK(syscall1(NR_uname, bad) == -EFAULT);
	CHECK(syscall2(NR_getcpu, bad, 0) == -EFAULT);
	CHECK(syscall2(NR_getcpu, 0, bad) == -EFAULT);
	CHECK(syscall2(NR_getrandom, bad, 1) == -EFAULT);
	CHECK(syscall2(NR_getrandom, bad, 100) == -EFAULT);
	CHECK(syscall2(NR_getrandom, bad, -1UL) == -EFAULT);
}

int case_bad_pointers(int argc, char **argv)
{
	long none = map(PAGE_SIZE, 0);

	for (size_t i = 0; i < sizeof(bad_addresses) / sizeof(bad_addresses[0]); i++) {
		reads_from(bad_addresses[i]);
		writes_to(bad_addresses[i]);
	}
	reads_from((unsigned long)none);
	writes_to((unsigned long)none);
	writes_to((unsigned long)text);
	writes_to((unsigned long)case_bad_pointers);
	CHECK(syscall0(5) == -ENOSYS);
	CHECK(syscall0(-1) == -ENOSYS);
	CHECK(syscall0(0x7fffffff) == -ENOSYS);
	return 0;
}

/* A page with nothing behind it: the call uses the bytes of the page, and its result gives their number. */
int case_partial(int argc, char **argv)
{
	long page = map(2 * PAGE_SIZE, 3);
	char *end = (char *)page + PAGE_SIZE;

	CHECK(page > 0);
	CHECK(syscall2(NR_munmap, end, PAGE_SIZE) == 0);
	memset((char *)page, 'x', PAGE_SIZE);
	for (long n = 0; n <= 70; n++) {
		CHECK(syscall2(NR_getrandom, end - n, 100) == (n ? n : -EFAULT));
		CHECK(syscall2(NR_getrandom, end - n, n) == n);
	}
	memset((char *)page, 'y', PAGE_SIZE);
	CHECK(syscall3(NR_write, 1, end - 20, 100) == 20);
	CHECK(syscall3(NR_write, 1, end - 600, 1000) == 600);
	/* A string that never ends. */
	CHECK(syscall3(NR_openat, 0, end - 10, 0) == -EFAULT);
	end[-1] = '\0';
	CHECK(syscall3(NR_openat, 0, end - 10, 0) == -2);
	/* Numbers that cross the end, and that do not. */
	CHECK(syscall2(NR_clock_gettime, 0, end - 16) == 0);
	CHECK(syscall2(NR_clock_gettime, 0, end - 8) == -EFAULT);
	CHECK(syscall2(NR_clock_gettime, 0, end - 12) == -EFAULT);
	CHECK(syscall2(NR_getcpu, end - 4, 0) == 0);
	CHECK(syscall2(NR_getcpu, end - 3, 0) == -EFAULT);
	return 0;
}

static unsigned long state;

static unsigned long next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static unsigned long something(unsigned long page)
{
	switch (next() % 8) {
	case 0:
		return next();
	case 1:
		return next() & 0xff;
	case 2:
		return page + next() % (2 * PAGE_SIZE);
	case 3:
		return -(next() & 0xffff);
	case 4:
		return bad_addresses[next() % (sizeof(bad_addresses) / sizeof(bad_addresses[0]))];
	case 5:
		return 1UL << (next() & 63);
	case 6:
		return 0x400000 + next() % 0x10000;
	default:
		return 0;
	}
}

/* fuzz SEED ROUNDS: system calls with anything in the registers. Calls that would end or stop this
 * program, or print, are left out. */
int case_fuzz(int argc, char **argv)
{
	static const short calls[] = {NR_openat,    NR_close,	      NR_lseek,	      NR_read,
				      NR_nanosleep, NR_clock_gettime, NR_sched_yield, NR_kill,
				      NR_uname,	    NR_getcpu,	      NR_getpid,      NR_brk,
				      NR_mmap,	    NR_wait4,	      NR_getrandom,   NR_spawn};
	unsigned long rounds = number(argv[3]);
	long page = map(PAGE_SIZE, 3);

	state = number(argv[2]) * 0x9e3779b97f4a7c15 + 1;
	while (rounds--) {
		long nr = next() % 16 ? calls[next() % (sizeof(calls) / sizeof(calls[0]))]
				      : (long)(next() & 0x3ff);
		unsigned long a = something((unsigned long)page),
			      b = something((unsigned long)page);
		unsigned long c = something((unsigned long)page);

		if (nr == NR_exit || nr == NR_exit_group || nr == NR_write || nr == NR_munmap)
			continue;
		/* A time that is mapped may be long. */
		if (nr == NR_nanosleep)
			a |= 1UL << 63;
		/* Sizes that would take much memory, and so time, are for others to test. */
		if (nr == NR_mmap && b < 1UL << 40)
			b &= 0xfffff;
		if (nr == NR_brk && a < 1UL << 40)
			a &= 0xffffff;
		/* Sizes that would take much memory, and so time, are for others to test. */
		if (nr == NR_mmap && b < 1UL << 40)
			b &= 0xfffff;
		if (nr == NR_brk && a < 1UL << 40)
			a &= 0xffffff;
		syscall6(nr, a, b, c, nr == NR_mmap ? 0x22 : next(), next(),
			 nr == NR_mmap ? 0 : next());
	}
	return 0;
}

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

/* --- At random ------------------------------------------------------------------------------------- */

/* An argument: often one that some call can use. Program memory that can be written is not among them, apart from
 * @page. */
static unsigned long something(unsigned long page)
{
	switch (random_number() % 16) {
	case 0:
		return random_number();
	case 1:
		return random_number() & 0xff;
	case 2:
		return -(random_number() & 0xffff);
	case 3:
		return bad_addresses[random_number() %
				     (sizeof(bad_addresses) / sizeof(bad_addresses[0]))];
	case 4:
		return 1UL << (random_number() & 63);
	case 5:
		return (unsigned long)case_partial + random_number() % 256;
	case 6:
		return (unsigned long)text + random_number() % sizeof(text);
	case 7:
		return 0;
	case 8:
		return page + random_number() % (2 * PAGE_SIZE);
	case 9:
	case 10:
	case 11:
		return page + random_number() % PAGE_SIZE;
	default:
		return random_number() & 15;
	}
}

static long some_number(void)
{
	static const short calls[] = {
		NR_dup,	  NR_dup3,	NR_openat,    NR_close,		NR_pipe2,	NR_lseek,
		NR_read,  NR_write,	NR_nanosleep, NR_clock_gettime, NR_sched_yield, NR_kill,
		NR_uname, NR_getcpu,	NR_getpid,    NR_brk,		NR_munmap,	NR_mmap,
		NR_wait4, NR_getrandom, NR_spawn};
	long nr;

	switch (random_number() % 16) {
	case 0:
		nr = (long)random_number();
		break;
	case 1:
		nr = (long)(random_number() & 0x7ff);
		break;
	default:
		nr = calls[random_number() % (sizeof(calls) / sizeof(calls[0]))];
	}
	/* Those that would end this program, and those that a suite has registered. */
	if (nr == NR_exit || nr == NR_exit_group || (nr >= NR_own && nr < NR_own + 8))
		nr = NR_getpid;
	return nr;
}

/* A system call with anything in the registers, apart from what would end or stop this program. @call: the number
 * and six arguments. */
static void some_call(unsigned long call[7], unsigned long page)
{
	call[0] = (unsigned long)some_number();
	for (int i = 1; i < 7; i++)
		call[i] = i < 4 ? something(page) : random_number();
	switch ((long)call[0]) {
	case NR_pipe2:
		/* This program has both ends, so a wait for the other one would not end. */
		call[2] = random_number() % 4 ? random_number() & O_CLOEXEC : call[2];
		call[2] |= O_NONBLOCK;
		break;
	case NR_nanosleep:
		/* A time that is mapped may be long. */
		call[1] |= 1UL << 63;
		break;
	case NR_munmap:
		/* What mmap() gave, but not the program, its stack and its page. */
		call[1] = page + 2 * PAGE_SIZE + (call[1] & 0xffffff);
		call[2] &= 0xfffff;
		break;
	case NR_mmap:
		/* Sizes that would take much memory, and so time, are for others to test. */
		if (call[2] < 1UL << 40)
			call[2] &= 0xfffff;
		if (random_number() % 8)
			call[1] = call[6] = 0, call[4] = 0x22;
		break;
	case NR_brk:
		if (call[1] < 1UL << 40)
			call[1] &= 0xffffff;
		break;
	}
}

/* Without the console nothing is printed, whatever is written to whatever descriptor. */
static unsigned long begin_random(const char *seed)
{
	long page;

	/* Other programs that do the same may have all memory. They give it back when they end. */
	while ((page = map(PAGE_SIZE, 3)) == -ENOMEM)
		syscall0(NR_sched_yield);
	CHECK(page > 0);
	for (int fd = 0; fd < 3; fd++)
		syscall1(NR_close, fd);
	random_seed(number(seed));
	return (unsigned long)page;
}

/* fuzz SEED ROUNDS */
int case_fuzz(int argc, char **argv)
{
	unsigned long page = begin_random(argv[2]), call[7];

	for (unsigned long rounds = number(argv[3]); rounds; rounds--) {
		some_call(call, page);
		syscall6((long)call[0], call[1], call[2], call[3], call[4], call[5], call[6]);
	}
	return 0;
}

/*
 * fuzz_stack SEED ROUNDS: the same by way of a system call of the suite, which puts a marker on the kernel stack
 * around the call; another one then looks for it. The program does not know the marker. Ends with 1 if one was found,
 * with 2 if the suite's calls failed.
 */
int case_fuzz_stack(int argc, char **argv)
{
	unsigned long page = begin_random(argv[2]), call[7];
	long found = 0;

	for (unsigned long rounds = number(argv[3]); rounds; rounds--) {
		long n;

		some_call(call, page);
		syscall2(NR_own + 1, call, random_number());
		n = syscall0(NR_own);
		if (n < 0)
			return 2;
		found += n;
	}
	return found != 0;
}

// SPDX-License-Identifier: MIT
/*
 * main.c - the program that KUnit runs in user mode: `user_tests CASE ARGUMENT...`. It returns 0 if all
 * was as it should be.
 */
#include "user.h"

static int case_hello(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		print(argv[i]);
		print(i + 1 < argc ? " " : "\n");
	}
	return 0;
}

static int case_exit(int argc, char **argv)
{
	return (int)number(argv[2]);
}

static int case_getpid(int argc, char **argv)
{
	long self = syscall0(NR_getpid);

	if (argc > 2)
		print_number((unsigned long)self);
	return self > 0 && self == (long)syscall0(178) ? 0 : 1;
}

static int case_spin(int argc, char **argv)
{
	volatile unsigned long turns = 0;

	while (argc)
		turns++;
	return 1;
}

static int case_sleep(int argc, char **argv)
{
	struct {
		long sec, nsec;
	} t = {(long)number(argv[2]), argc > 3 ? (long)number(argv[3]) : 0}, bad = {0, 1000000000};

	CHECK(syscall2(NR_nanosleep, &bad, 0) == -EINVAL);
	CHECK(syscall2(NR_nanosleep, &t, 0) == 0);
	return 0;
}

static int case_registers(int argc, char **argv)
{
	return (int)check_registers(number(argv[2]));
}

/* A number, to be tested for being unchanged when the kernel comes back. */
static int case_own(int argc, char **argv)
{
	unsigned long page = (unsigned long)map(PAGE_SIZE, 3);

	*(volatile unsigned long *)page = 0x1234567812345678;
	return (int)syscall3(NR_own + (long)number(argv[2]), page, argc > 3 ? number(argv[3]) : 0,
			     0);
}

static int case_own_twice(int argc, char **argv)
{
	return case_own(argc, argv) || case_own(argc, argv);
}

/* Start a child, wait for it, and look what became of it. */
static int child(const char *const *argv)
{
	int status = -1;
	long pid = syscall2(NR_spawn, "user_tests", argv);

	CHECK(pid > 0);
	CHECK(syscall3(NR_wait4, pid, &status, 0) == pid);
	CHECK(syscall3(NR_wait4, pid, &status, 0) == -ECHILD);
	return status;
}

static int case_family(int argc, char **argv)
{
	static const char *const exits[] = {"user_tests", "exit", "7", NULL};
	static const char *const spins[] = {"user_tests", "spin", NULL};
	static const char *const crashes[] = {"user_tests", "crash", "null", NULL};
	int status = -1;
	long pid;

	CHECK(syscall3(NR_wait4, -1, &status, 0) == -ECHILD);
	CHECK(child(exits) == 7 << 8);
	CHECK(child(crashes) == 11);
	pid = syscall2(NR_spawn, "user_tests", spins);
	CHECK(pid > 0);
	CHECK(syscall3(NR_wait4, -1, &status, 1) == 0);
	CHECK(syscall2(NR_kill, pid, 0) == 0);
	CHECK(syscall2(NR_kill, pid + 1, 9) == -ESRCH);
	CHECK(syscall2(NR_kill, 1, 9) == -ESRCH);
	CHECK(syscall2(NR_kill, pid, 9) == 0);
	CHECK(syscall3(NR_wait4, -1, &status, 0) == pid && status == 9);
	/* A child without a wait. */
	CHECK(syscall2(NR_spawn, "user_tests", exits) > 0);
	CHECK(syscall2(NR_spawn, "no such program", exits) == -2);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	int arguments;
} cases[] = {
	{"hello", case_hello, 0},
	{"exit", case_exit, 1},
	{"getpid", case_getpid, 0},
	{"spin", case_spin, 0},
	{"sleep", case_sleep, 1},
	{"registers", case_registers, 1},
	{"own", case_own, 1},
	{"own_twice", case_own_twice, 1},
	{"family", case_family, 0},
	{"memory", case_memory, 0},
	{"hog", case_hog, 0},
	{"isolation", case_isolation, 0},
	{"bad_pointers", case_bad_pointers, 0},
	{"partial", case_partial, 0},
	{"fuzz", case_fuzz, 2},
	{"fuzz_stack", case_fuzz_stack, 2},
	{"crash", case_crash, 1},
	{"pipe_calls", case_pipe_calls, 1},
	{"pipe_pointers", case_pipe_pointers, 0},
	{"pipe_echo", case_pipe_echo, 1},
	{"pipe_pingpong", case_pipe_pingpong, 1},
	{"pipe_source", case_pipe_source, 2},
	{"pipe_stream", case_pipe_stream, 2},
	{"pipe_reader", case_pipe_reader, 1},
	{"pipe_writer", case_pipe_writer, 0},
	{"pipe_dies", case_pipe_dies, 0},
	{"pipe_orphan", case_pipe_orphan, 0},
	{"pipe_idle", case_pipe_idle, 0},
	{"pipe_blocked", case_pipe_blocked, 0},
	{"pipe_records", case_pipe_records, 2},
	{"pipe_collect", case_pipe_collect, 0},
	{"pipe_many", case_pipe_many, 2},
	{"pipe_mix", case_pipe_mix, 2},
	{"calls", case_calls, 1},
	{"spin_calls", case_spin_calls, 0},
	{"random_calls", case_random_calls, 3},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && argc > 1; i++)
		if (!strcmp(argv[1], cases[i].name) && argc - 2 >= cases[i].arguments)
			return cases[i].run(argc, argv);
	return 98;
}

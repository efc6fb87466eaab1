/* SPDX-License-Identifier: MIT
 * Faults of the CPU as signals. Each bug is marked, is reported, and then comes to a handler, after which the program goes
 * on. With the argument "nested" a handler faults itself, with "again" it returns and changes nothing, and with "blocked" the
 * signal is blocked: each of these ends the program. */
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

#define PAGE 4096UL

/* The last handler's arguments. */
static struct seen {
	int sig, code;
	char *addr;
	uintptr_t pc;
	pthread_t thread;
} seen;
static _Thread_local sigjmp_buf back;
static volatile int calls;
static double sum;

static void note(int sig, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	calls++;
	/* Handlers may compute. */
	sum += sqrt((double)calls) * 1.5;
	fesetround(FE_TOWARDZERO);
	seen = (struct seen){sig, info->si_code, info->si_addr, at->uc_mcontext.pc, pthread_self()};
}

static void leave(int sig, siginfo_t *info, void *context)
{
	note(sig, info, context);
	fesetround(FE_TONEAREST);
	siglongjmp(back, 1);
}

/* Go on behind the instruction. */
static void skip(int sig, siginfo_t *info, void *context)
{
	note(sig, info, context);
	((ucontext_t *)context)->uc_mcontext.pc += 4;
}

static void install(int sig, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	CHECK(!sigaction(sig, &action, NULL));
}

static void bug(const char *name)
{
	printf("bug: %s\n", name);
	fflush(stdout);
	seen = (struct seen){0};
}

/* Without the byte that may be a tag. */
static uintptr_t place(const volatile void *addr)
{
	return (uintptr_t)addr << 8;
}

static int was(int sig, int code, const volatile void *addr)
{
	return seen.sig == sig && seen.code == code && place(seen.addr) == place(addr) &&
	       pthread_equal(seen.thread, pthread_self());
}

static int *volatile null;
static int *volatile wild = (int *)0x1234567812345678;
static const int constant = 5;
static const int *volatile constant_address = &constant;
static void (*volatile nowhere)(void);
static volatile int sink;

/* Calls with a fault, each of which ends in the handler. */
#define FAULTS(statement)                   \
	do {                                \
		if (!sigsetjmp(back, 1)) {  \
			statement;          \
			CHECK(!"no fault"); \
		}                           \
	} while (0)

static volatile size_t length = 8;

/* A section of its own is the program's code as well. */
__attribute__((noinline, section("text_own"))) static int of_a_section(const volatile int *from)
{
	return from[0] + 1;
}

static void simple(void)
{
	static const int sigs[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP};
	char *memory = malloc(64);
	sigset_t set;

	for (int i = 0; i < 4; i++)
		install(sigs[i], leave, 0);
	bug("null");
	FAULTS(sink = *null);
	CHECK(was(SIGSEGV, SEGV_MAPERR, NULL) && seen.pc > (uintptr_t)&exit - (64UL << 20));
	bug("null-write");
	FAULTS(null[3] = 1);
	CHECK(was(SIGSEGV, SEGV_MAPERR, &null[3]));
	bug("wild");
	FAULTS(sink = *wild);
	CHECK(seen.sig == SIGSEGV);
	/* At an address that was reported before: each is reported, also after a copy that is not done. */
	bug("null-again");
	FAULTS(sink = 1 + *null);
	CHECK(was(SIGSEGV, SEGV_MAPERR, NULL));
	bug("memcpy");
	if (!sigsetjmp(back, 1))
		memcpy(memory, (void *)null, length);
	bug("null-after");
	FAULTS(sink = 2 + *null);
	CHECK(was(SIGSEGV, SEGV_MAPERR, NULL));
	bug("memcmp");
	FAULTS(sink = memcmp(memory, (void *)null, length));
	CHECK(was(SIGSEGV, SEGV_MAPERR, NULL));
	bug("section");
	FAULTS(sink = of_a_section(null));
	CHECK(was(SIGSEGV, SEGV_MAPERR, NULL));
	bug("strlen");
	FAULTS(sink = (int)strlen((char *)null));
	CHECK(was(SIGSEGV, SEGV_MAPERR, NULL));
	bug("none");
	FAULTS(*(int *)(uintptr_t)constant_address = 6);
	CHECK(was(SIGSEGV, SEGV_ACCERR, &constant) && *constant_address == 5);
	bug("call");
	FAULTS(nowhere());
	CHECK(was(SIGSEGV, SEGV_MAPERR, NULL) && !seen.pc);
	bug("none");
	FAULTS(__asm__ __volatile__(".inst 0"));
	CHECK(seen.sig == SIGILL && seen.code == ILL_ILLOPC && seen.addr == (char *)seen.pc);
	FAULTS(__builtin_trap());
	CHECK(seen.sig == SIGTRAP && seen.code == TRAP_BRKPT && seen.addr == (char *)seen.pc);
	FAULTS(__asm__ __volatile__("ldxr x9, [%0]" ::"r"(memory + 13) : "x9"));
	CHECK(was(SIGBUS, BUS_ADRALN, memory + 13));
	sigprocmask(SIG_BLOCK, NULL, &set);
	CHECK(!sigismember(&set, SIGSEGV) && !sigismember(&set, SIGBUS));
	free(memory);
}

/* --- Mappings ------------------------------------------------------------------------------------ */

static char *map;

static void open_map(int sig, siginfo_t *info, void *context)
{
	note(sig, info, context);
	CHECK(!mprotect(map, PAGE, PROT_READ | PROT_WRITE));
}

static void mappings(void)
{
	volatile char *part;
	int before = calls;

	map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	part = map;
	part[1] = 1;
	/* No bug: a program may ask to be told. More often than a fault may repeat itself. */
	install(SIGSEGV, open_map, 0);
	bug("none");
	for (int i = 0; i < 200; i++) {
		mprotect(map, PAGE, i & 1 ? PROT_NONE : PROT_READ);
		part[1] += 1;
	}
	CHECK(calls == before + 200 && part[1] == (char)201 && was(SIGSEGV, SEGV_ACCERR, part + 1));
	install(SIGSEGV, leave, 0);
	mprotect(map + PAGE, PAGE, PROT_NONE);
	FAULTS(sink = part[PAGE]);
	CHECK(was(SIGSEGV, SEGV_ACCERR, part + PAGE));
	bug("behind");
	FAULTS(sink = part[4 * PAGE]);
	CHECK(was(SIGSEGV, SEGV_MAPERR, part + 4 * PAGE));
	CHECK(!munmap(map + 2 * PAGE, PAGE) && !part[3 * PAGE]);
	bug("part");
	FAULTS(sink = part[2 * PAGE]);
	CHECK(was(SIGSEGV, SEGV_MAPERR, part + 2 * PAGE));
	CHECK(!munmap(map, 4 * PAGE));
	bug("gone");
	FAULTS(part[0] = 1);
	CHECK(was(SIGSEGV, SEGV_MAPERR, part));
}

/* --- Floating point ------------------------------------------------------------------------------ */

static void registers(void)
{
	static double before[64], after[64];
	int round = calls;

	for (int i = 0; i < 64; i++)
		before[i] = 1.0 / (i + 3);
	install(SIGTRAP, skip, 0);
	bug("none");
	fesetround(FE_UPWARD);
	feclearexcept(FE_ALL_EXCEPT);
#define LOAD(n, m, at)	"ldp q" #n ", q" #m ", [%0, #" #at "]\n"
#define STORE(n, m, at) "stp q" #n ", q" #m ", [%1, #" #at "]\n"
#define ALL(op)                                                                                 \
	op(0, 1, 0) op(2, 3, 32) op(4, 5, 64) op(6, 7, 96) op(8, 9, 128) op(10, 11, 160)        \
		op(12, 13, 192) op(14, 15, 224) op(16, 17, 256) op(18, 19, 288) op(20, 21, 320) \
			op(22, 23, 352) op(24, 25, 384) op(26, 27, 416) op(28, 29, 448)         \
				op(30, 31, 480)
	__asm__ __volatile__(ALL(LOAD) "brk #42\n" ALL(STORE)::"r"(before), "r"(after)
			     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",
			       "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
			       "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
			       "v31", "memory");
	CHECK(calls == round + 1 && !memcmp(before, after, sizeof(before)));
	CHECK(fegetround() == FE_UPWARD && !fetestexcept(FE_INEXACT));
	/* The same for a signal that the program sends. */
	install(SIGUSR1, note, 0);
	raise(SIGUSR1);
	CHECK(calls == round + 2 && seen.sig == SIGUSR1 && fegetround() == FE_UPWARD &&
	      !fetestexcept(FE_INEXACT));
	fesetround(FE_TONEAREST);
}

/* --- Stacks and threads -------------------------------------------------------------------------- */

static char own_stack[16384];
static volatile uintptr_t handler_frame;

static void on_stack(int sig, siginfo_t *info, void *context)
{
	volatile char space[1000] = "";
	stack_t now;

	handler_frame = (uintptr_t)space;
	CHECK(!sigaltstack(NULL, &now) && now.ss_flags == SS_ONSTACK && now.ss_sp == own_stack);
	now.ss_flags = 0;
	CHECK(sigaltstack(&now, NULL) == -1 && errno == EPERM);
	if (sig == SIGSEGV)
		leave(sig, info, context);
	skip(sig, info, context);
	((ucontext_t *)context)->uc_mcontext.pc -= sig == SIGUSR1 ? 4 : 0;
}

static int near(uintptr_t a, uintptr_t b)
{
	return a - b < 65536 || b - a < 65536;
}

static void stacks(void)
{
	stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof(own_stack)}, old;
	volatile char here;

	CHECK(!sigaltstack(&stack, &old) && old.ss_flags == SS_DISABLE);
	install(SIGSEGV, on_stack, SA_ONSTACK);
	install(SIGTRAP, on_stack, SA_ONSTACK);
	install(SIGUSR1, on_stack, SA_ONSTACK);
	bug("on-stack");
	FAULTS(sink = null[1]);
	CHECK(was(SIGSEGV, SEGV_MAPERR, &null[1]) && !near(handler_frame, (uintptr_t)&here));
	handler_frame = 0;
	bug("none");
	__asm__ __volatile__("brk #1");
	CHECK(seen.sig == SIGTRAP && handler_frame && !near(handler_frame, (uintptr_t)&here));
	handler_frame = 0;
	raise(SIGUSR1);
	CHECK(seen.sig == SIGUSR1 && handler_frame && !near(handler_frame, (uintptr_t)&here));
	CHECK(!sigaltstack(NULL, &old) && old.ss_flags == 0 && old.ss_size == sizeof(own_stack));
	stack.ss_size = 1000;
	CHECK(sigaltstack(&stack, NULL) == -1 && errno == ENOMEM);
	stack.ss_flags = SS_DISABLE;
	CHECK(!sigaltstack(&stack, NULL));
	install(SIGSEGV, leave, 0);
}

static sem_t ready;
static volatile int stop;

static void *faulty(void *arg)
{
	stack_t stack = {.ss_sp = malloc(8192), .ss_size = 8192};

	CHECK(!sigaltstack(&stack, NULL));
	for (volatile int i = 0; i < 5; i++) {
		FAULTS(sink = null[(int)(intptr_t)arg]);
		CHECK(seen.sig == SIGSEGV);
	}
	sem_post(&ready);
	while (!stop)
		usleep(1000);
	free(stack.ss_sp);
	return NULL;
}

static void threads(void)
{
	pthread_t thread;

	install(SIGSEGV, leave, SA_ONSTACK);
	install(SIGUSR2, note, 0);
	sem_init(&ready, 0, 0);
	bug("thread");
	CHECK(!pthread_create(&thread, NULL, faulty, (void *)(intptr_t)2));
	sem_wait(&ready);
	CHECK(seen.sig == SIGSEGV && pthread_equal(seen.thread, thread));
	bug("none");
	CHECK(!pthread_kill(thread, SIGUSR2));
	while (seen.sig != SIGUSR2)
		usleep(1000);
	CHECK(pthread_equal(seen.thread, thread));
	stop = 1;
	CHECK(!pthread_join(thread, NULL));
	install(SIGSEGV, leave, 0);
}

static void fault_again(int sig, siginfo_t *info, void *context)
{
	printf("the handler\n");
	fflush(stdout);
	sink = null[4];
}

int main(int argc, char **argv)
{
	sigset_t set;

	if (argc > 1) {
		install(SIGSEGV, strcmp(argv[1], "nested") ? note : fault_again, 0);
		sigemptyset(&set);
		sigaddset(&set, SIGSEGV);
		if (!strcmp(argv[1], "blocked"))
			sigprocmask(SIG_BLOCK, &set, NULL);
		*null = 1;
		return 0;
	}
	simple();
	mappings();
	registers();
	stacks();
	threads();
	printf(failed ? "faults: bad\n" : "faults: good, %.3f\n", sum);
	return failed;
}

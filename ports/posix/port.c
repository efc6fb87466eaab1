/* SPDX-License-Identifier: MIT */
/*
 * port.c - every function of <kasan/port.h> over a Linux process.
 *
 * All of them live in this one file: the required ones pull it out of the archive, and with it the
 * optional ones, which would otherwise lose against the runtime's weak defaults.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <errno.h>

#include "internal.h"

/* Memory that the quarantine's bound is derived from: 1/32 of it is held back. */
#ifndef KASAN_POSIX_MEMORY
#define KASAN_POSIX_MEMORY (256UL << 20)
#endif

struct kasan_posix_hooks kasan_posix_hooks;

/* --- Virtual CPUs ---------------------------------------------------------------------------------- */

/*
 * The runtime believes that with interrupts off nothing else runs on its CPU, and keeps per-CPU data
 * without locks on that ground. A thread may be preempted anywhere, so here "interrupts off" means
 * holding the lock of a virtual CPU: threads that share one exclude each other.
 */
static struct {
	/* A cache line for each: threads on different CPUs share nothing. */
	_Alignas(64) atomic_uint held;
} cpu_locks[CONFIG_KASAN_NR_CPUS];
static atomic_uint next_cpu;

struct thread {
	unsigned int cpu_plus_one; /* 0: no CPU chosen so far */
	unsigned int held_cpu;	   /* the one whose lock we have while irq_depth > 0 */
	unsigned int irq_depth;
	uint32_t tid;
	bool stack_asked; /* bounds were looked up, with or without success */
	uintptr_t stack_start, stack_end;
	char name[16];
};
static __thread struct thread self;

unsigned int kasan_port_cpu(void)
{
	if (!self.cpu_plus_one)
		self.cpu_plus_one = 1 + atomic_fetch_add(&next_cpu, 1) % CONFIG_KASAN_NR_CPUS;
	return self.cpu_plus_one - 1;
}

unsigned long kasan_port_irq_save(void)
{
	if (self.irq_depth == 0) {
		unsigned int cpu = kasan_port_cpu();

		while (atomic_exchange_explicit(&cpu_locks[cpu].held, 1, memory_order_acquire))
			sched_yield();
		self.held_cpu = cpu;
	}
	return self.irq_depth++;
}

void kasan_port_irq_restore(unsigned long flags)
{
	self.irq_depth = flags;
	if (flags == 0)
		atomic_store_explicit(&cpu_locks[self.held_cpu].held, 0, memory_order_release);
}

void kasan_posix_set_cpu(unsigned int cpu)
{
	if (cpu >= CONFIG_KASAN_NR_CPUS || self.irq_depth)
		kasan_posix_die("kasan_posix_set_cpu: ", "no such CPU, or interrupts are off");
	self.cpu_plus_one = cpu + 1;
}

unsigned int kasan_posix_irq_depth(void)
{
	return self.irq_depth;
}

void kasan_posix_leave(void)
{
	/* Nobody would free them. */
	if (kasan_posix_locks_held())
		kasan_posix_die("kasan_posix_leave: ", "a lock of the runtime is held");
	if (self.irq_depth)
		kasan_port_irq_restore(0);
}

/* --- Tasks ----------------------------------------------------------------------------------------- */

bool kasan_posix_stack(uintptr_t *start, uintptr_t *end)
{
	if (!self.stack_asked) {
		pthread_attr_t attr;
		void *low;
		size_t size;

		/* Set first: the calls below may come back here through an instrumented allocator. */
		self.stack_asked = true;
		if (pthread_getattr_np(pthread_self(), &attr) == 0) {
			if (pthread_attr_getstack(&attr, &low, &size) == 0) {
				self.stack_start = (uintptr_t)low;
				self.stack_end = (uintptr_t)low + size;
			}
			pthread_attr_destroy(&attr);
		}
	}
	*start = self.stack_start;
	*end = self.stack_end;
	return self.stack_start != 0;
}

void kasan_port_task(struct kasan_port_task *task)
{
	KASAN_POSIX_CHECK_CALL();
	if (!self.tid) {
		self.tid = (uint32_t)syscall(SYS_gettid);
		prctl(PR_GET_NAME, self.name);
	}
	task->id = self.tid;
	task->name = self.name;
	kasan_posix_stack(&task->stack_start, &task->stack_end);
	if (kasan_posix_hooks.task)
		kasan_posix_hooks.task(task);
}

/* --- Memory ---------------------------------------------------------------------------------------- */

void *kasan_port_alloc(size_t size)
{
	void *mem;

	kasan_posix_check_call(__func__, KASAN_POSIX_NO_LOCK | KASAN_POSIX_LEAF);
	if (kasan_posix_hooks.alloc)
		return kasan_posix_hooks.alloc(size);
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return mem == MAP_FAILED ? NULL : mem;
}

/*
 * The kernel copies the signal set before it looks at @how: with a @how that is none the call fails
 * either way and changes nothing, but the error tells whether 8 bytes could be read.
 */
static bool word_readable(uintptr_t addr)
{
	return syscall(SYS_rt_sigprocmask, ~0, addr & ~7UL, NULL, 8) == -1 && errno != EFAULT;
}

bool kasan_port_readable(const void *addr, size_t size)
{
	uintptr_t first = (uintptr_t)addr, last = first + size - 1;
	int saved_errno = errno;
	bool ok = true;

	if (kasan_posix_hooks.readable)
		return kasan_posix_hooks.readable(addr, size);
	if (size == 0)
		return true;
	if (last < first)
		return false;
	for (uintptr_t page = first; ok; page = (page | 4095) + 1) {
		ok = word_readable(page);
		if ((page | 4095) >= last)
			break;
	}
	errno = saved_errno;
	return ok;
}

bool kasan_port_is_user(uintptr_t addr)
{
	KASAN_POSIX_CHECK_CALL();
	return kasan_posix_hooks.is_user && kasan_posix_hooks.is_user(addr);
}

unsigned int *kasan_port_task_depth(void)
{
	KASAN_POSIX_CHECK_CALL();
	return kasan_posix_hooks.task_depth ? kasan_posix_hooks.task_depth() : NULL;
}

bool kasan_port_find_object(const void *addr, struct kasan_object *obj)
{
	KASAN_POSIX_CHECK_CALL();
	return kasan_posix_hooks.find_object && kasan_posix_hooks.find_object(addr, obj);
}

bool kasan_port_find_area(const void *addr, struct kasan_area *area)
{
	KASAN_POSIX_CHECK_CALL();
	return kasan_posix_hooks.find_area && kasan_posix_hooks.find_area(addr, area);
}

/* --- Reports --------------------------------------------------------------------------------------- */

static size_t length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static void write_line(const char *text)
{
	char line[512];
	size_t n = length(text);

	/* One write per line keeps lines whole when several processes share a terminal. */
	if (n > sizeof(line) - 1)
		n = sizeof(line) - 1;
	__memcpy(line, text, n);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nowhere left to complain */
}

void kasan_port_print(const char *text)
{
	KASAN_POSIX_CHECK_CALL();
	if (kasan_posix_hooks.print)
		kasan_posix_hooks.print(text);
	else
		write_line(text);
}

bool kasan_port_symbol(uintptr_t pc, char *buf, size_t size, struct kasan_symbol *sym)
{
	KASAN_POSIX_CHECK_CALL();
	return kasan_posix_symbolize(pc, buf, size, sym);
}

void kasan_port_print_page(const void *addr)
{
	kasan_posix_check_call(__func__, KASAN_POSIX_REPORT_LOCK);
	if (kasan_posix_hooks.print_page)
		kasan_posix_hooks.print_page(addr);
}

void kasan_port_report_begin(void)
{
	kasan_posix_check_call(__func__, KASAN_POSIX_REPORT_LOCK);
	if (kasan_posix_hooks.report_begin)
		kasan_posix_hooks.report_begin();
}

void kasan_port_report_end(const struct kasan_report_info *info)
{
	kasan_posix_check_call(__func__, KASAN_POSIX_NO_LOCK);
	if (kasan_posix_hooks.report_end)
		kasan_posix_hooks.report_end(info);
}

_Noreturn void kasan_port_panic(const char *why)
{
	KASAN_POSIX_CHECK_CALL();
	if (kasan_posix_hooks.panic)
		kasan_posix_hooks.panic(why);
	kasan_posix_die("panic: ", why);
}

_Noreturn void kasan_posix_die(const char *what, const char *detail)
{
	char line[256];
	size_t n = 0;

	for (const char *s = "kasan: "; *s && n < sizeof(line) - 1; s++)
		line[n++] = *s;
	for (; *what && n < sizeof(line) - 1; what++)
		line[n++] = *what;
	for (; *detail && n < sizeof(line) - 1; detail++)
		line[n++] = *detail;
	line[n] = '\0';
	write_line(line);
	abort();
}

/* --- Start ----------------------------------------------------------------------------------------- */

/* KASAN_OPTIONS="kasan.fault=panic kasan_multi_shot": the boot parameters of a process. */
static void parse_options(const char *text)
{
	char name[64], value[64];

	while (*text) {
		size_t n = 0, v = 0;
		bool has_value = false;
		int err;

		while (*text == ' ')
			text++;
		while (*text && *text != ' ' && *text != '=') {
			if (n < sizeof(name) - 1)
				name[n++] = *text;
			text++;
		}
		if (*text == '=') {
			has_value = true;
			for (text++; *text && *text != ' '; text++)
				if (v < sizeof(value) - 1)
					value[v++] = *text;
		}
		name[n] = value[v] = '\0';
		if (!n)
			continue;
		err = kasan_option(name, has_value ? value : NULL);
		if (err < 0)
			write_line("kasan: option not accepted, its default stays:");
		else if (err == KASAN_OPTION_NO_EFFECT)
			write_line("kasan: option without effect in this build:");
		if (err)
			write_line(name);
	}
}

static void start(int argc, char **argv, char **envp)
{
	static const char key[] = "KASAN_OPTIONS=";

	kasan_posix_reserve_shadow();
	kasan_posix_symbols_init();
	for (; envp && *envp; envp++) {
		size_t i = 0;

		while (i < sizeof(key) - 1 && (*envp)[i] == key[i])
			i++;
		if (i == sizeof(key) - 1)
			parse_options(*envp + i);
	}
	kasan_init(KASAN_POSIX_MEMORY);
}

/*
 * Constructors of instrumented files register their globals, so shadow must exist before the first
 * of them: .preinit_array runs ahead of every constructor, of every priority, in every library.
 */
__attribute__((section(".preinit_array"), used)) static void (*const start_entry)(int, char **,
										  char **) = start;

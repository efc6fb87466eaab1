/* SPDX-License-Identifier: MIT */
/*
 * port.c - the smallest port, for UBSan without KASAN, on this machine. It has no tasks, no interrupts and no symbols.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <kasan/kasan.h>
#include <kasan/port.h>
#include <kasan/ubsan.h>

void kasan_port_print(const char *text)
{
	puts(text);
	/* The next instruction may end the process. */
	fflush(stdout);
}

void kasan_port_panic(const char *why)
{
	printf("panic: %s\n", why);
	fflush(stdout);
	_exit(3);
}

void kasan_port_task(struct kasan_port_task *task)
{
	task->id = 1;
	task->name = "kinds";
}

unsigned long kasan_port_irq_save(void)
{
	return 0;
}

void kasan_port_irq_restore(unsigned long flags)
{
	(void)flags;
}

unsigned int kasan_port_cpu(void)
{
	return 0;
}

/* Traps of UBSan are undefined instructions on x86_64. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const struct kasan_regs at = {.pc = (uintptr_t)regs[REG_RIP],
				      .sp = (uintptr_t)regs[REG_RSP],
				      .fp = (uintptr_t)regs[REG_RBP]};

	(void)signal;
	(void)info;
	printf("%s\n", kasan_report_undefined_trap(&at) ? "trapped" : "trap of something else");
	fflush(stdout);
	_exit(4);
}

void run_alone(void (*run)(void));
void run_alone(void (*run)(void))
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	int status = 0;
	pid_t child = fork();

	if (child < 0)
		abort();
	if (!child) {
		sigaction(SIGILL, &action, NULL);
		kasan_option("kasan_multi_shot", NULL);
		kasan_init(0);
		run();
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (!WIFEXITED(status))
		printf("signal %d\n", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		printf("status %d\n", WEXITSTATUS(status));
}

/* SPDX-License-Identifier: MIT */
/*
 * bugs.c - plants bugs in xv6, for the demonstration and the tests: `mkdir bug:NAME` in xv6's shell runs one of them in the
 * system call. Instrumented as all of xv6.
 */
#include <kasan/kasan.h>
#include "types.h"
#include "param.h"
#include "memlayout.h"
#include "riscv.h"
#include "spinlock.h"
#include "proc.h"
#include "defs.h"

#define NOINLINE __attribute__((noinline))

uint64 __real_sys_mkdir(void);
void __real_yield(void);

extern struct proc proc[];

static char table[10] = "ten bytes";
static volatile int armed;

/* Hides a value from the compiler: it would see the bug, and remove it. */
static uint64 runtime(uint64 value)
{
	asm volatile("" : "+r"(value));
	return value;
}

/* A page with a redzone behind it: each eighth is one. */
static NOINLINE char *page_before_redzone(void)
{
	char *page[16], *found = 0;
	int n = 0, i;

	while (n < 16 && !found) {
		page[n] = kalloc();
		if (!kasan_byte_accessible(page[n] + PGSIZE))
			found = page[n];
		else
			n++;
	}
	for (i = 0; i < n; i++)
		kfree(page[i]);
	return found;
}

/* --- Pages ------------------------------------------------------------------------------------------ */

static NOINLINE void page_overflow(void)
{
	char *page = page_before_redzone();

	page[runtime(PGSIZE)] = 1;
	kfree(page);
}

static NOINLINE void page_far_overflow(void)
{
	char *page = page_before_redzone();

	table[0] = ((volatile char *)page)[runtime(PGSIZE + 2000)];
	kfree(page);
}

static NOINLINE void page_copy_overflow(void)
{
	char *page = page_before_redzone();

	memmove(page + PGSIZE - 16, (void *)KERNBASE, runtime(64));
	kfree(page);
}

static NOINLINE void page_use_after_free(void)
{
	uint64 *page = kalloc();

	kfree(page);
	page[runtime(7)] = 1;
}

static NOINLINE void page_fill_after_free(void)
{
	char *page = kalloc();

	kfree(page);
	memset(page, 0, runtime(100));
}

static NOINLINE void page_double_free(void)
{
	char *page = kalloc();

	kfree(page);
	kfree((void *)runtime((uint64)page));
}

static NOINLINE void page_invalid_free(void)
{
	char *page = kalloc();

	kfree(page + runtime(64));
	kfree(page);
}

static NOINLINE void image_free(void)
{
	kfree((void *)runtime(PGROUNDDOWN((uint64)table)));
}

/* --- The image and stacks --------------------------------------------------------------------------- */

static NOINLINE void global_overflow(void)
{
	char *entry = (char *)runtime((uint64)table);

	entry[sizeof(table)] = 1;
}

static NOINLINE void stack_overflow(void)
{
	char name[12];

	name[runtime(sizeof(name))] = 0;
	asm volatile("" : : "r"(name) : "memory");
}

static NOINLINE void stack_underread(void)
{
	volatile char name[12];

	asm volatile("" : : "r"(name) : "memory");
	table[0] = *((volatile char *)runtime((uint64)name) - 1);
}

/* By a function that is given too short a buffer. */
static NOINLINE void string_overflow(void)
{
	char name[8];

	safestrcpy(name, "more than eight characters", runtime(20));
	table[0] = name[0];
}

static NOINLINE void use_after_scope(void)
{
	volatile char *kept;

	{
		char scoped[16];

		kept = scoped;
		asm volatile("" : : "r"(kept) : "memory");
	}
	table[0] = kept[runtime(3)];
}

static NOINLINE void alloca_overflow(void)
{
	char bytes[runtime(21)];

	bytes[runtime(21)] = 0;
	asm volatile("" : : "r"(bytes) : "memory");
}

/* A pointer into the stack of a process that sleeps, at the redzone of a variable there. */
static NOINLINE void other_stack(void)
{
	volatile char *at = (volatile char *)proc[0].kstack;

	while (kasan_byte_accessible((void *)at))
		at++;
	table[0] = *at;
}

/* --- Interrupts ------------------------------------------------------------------------------------- */

static NOINLINE void tick(void)
{
	char *page = kalloc();

	kfree(page);
	page[runtime(0)] = 1;
}

/* The timer's handler, on the stack of the code that it interrupted. */
void __wrap_yield(void)
{
	if (armed && myproc() && myproc()->pid == armed) {
		armed = 0;
		tick();
	}
	__real_yield();
}

static NOINLINE void interrupted_here(void)
{
	armed = myproc()->pid;
	while (armed)
		;
}

/* --- Accesses that the MMU refuses: xv6 panics behind the report ------------------------------------- */

static NOINLINE void null_read(void)
{
	table[0] = *(volatile char *)runtime(8);
}

static NOINLINE void wild_write(void)
{
	*(volatile uint64 *)runtime(0x2000000000) = 1;
}

static NOINLINE void null_call(void)
{
	((void (*)(void))runtime(0))();
}

/* --- No bug ------------------------------------------------------------------------------------------- */

static NOINLINE void correct_use(void)
{
	char *page = kalloc(), text[16];

	memset(page, 'x', runtime(PGSIZE));
	safestrcpy(text, "sixteen is room", sizeof(text));
	memmove(page + PGSIZE - sizeof(text), text, runtime(sizeof(text)));
	table[runtime(9)] = page[runtime(PGSIZE - 1)];
	kfree(page);
}

#define BUG(name) {#name, name}
static const struct {
	char *name;
	void (*run)(void);
} bugs[] = {
	BUG(page_overflow),
	BUG(page_far_overflow),
	BUG(page_copy_overflow),
	BUG(page_use_after_free),
	BUG(page_fill_after_free),
	BUG(page_double_free),
	BUG(page_invalid_free),
	BUG(image_free),
	BUG(global_overflow),
	BUG(stack_overflow),
	BUG(stack_underread),
	BUG(string_overflow),
	BUG(use_after_scope),
	BUG(alloca_overflow),
	BUG(other_stack),
	BUG(interrupted_here),
	BUG(null_read),
	BUG(wild_write),
	BUG(null_call),
	BUG(correct_use),
};

uint64 __wrap_sys_mkdir(void)
{
	const char *wrong = kasan_check_offset();
	char path[MAXPATH];
	int i;

	if (argstr(0, path, MAXPATH) < 0 || strncmp(path, "bug:", 4))
		return __real_sys_mkdir();
	if (wrong)
		panic((char *)wrong);
	for (i = 0; i < NELEM(bugs); i++) {
		if (strncmp(path + 4, bugs[i].name, MAXPATH) == 0) {
			printf("planted: %s\n", bugs[i].name);
			bugs[i].run();
			return 0;
		}
	}
	return -1;
}

/* SPDX-License-Identifier: MIT */
/*
 * riscv_port.c - HARTS=n: the port of firmware in machine mode, with the blocks of <kasan/riscv_firmware.h>: start,
 * harts, their stacks' guards, traps, the console. Never instrumented.
 */
#include <kasan/riscv_firmware.h>

#include "board.h"
#include "heap.h"
#include "riscv.h"

#define POOL_SIZE (192UL << 10)

#define SHADOW_SIZE (0x700000 / 8)

/* Physical memory protection: without an entry that allows it, user mode may touch nothing. */
#define ALL_ALLOWED (KASAN_PMP_NAPOT | 7) /* read, write, execute */

extern char hart_vector[], hart_ended[], __stack_start[];
void hart_enter(void (*code)(void), uintptr_t mode);
void hart_start(uintptr_t number);
uintptr_t hart_trap(uintptr_t context);
void start_kasan(void);

uintptr_t early_tree;
unsigned int harts_started;
static struct hart harts[TEMPLATE_HARTS] __attribute__((__aligned__(16)));
static char trap_stacks[TEMPLATE_HARTS][TRAP_STACK] __attribute__((__aligned__(16)));
static char pool[POOL_SIZE] __attribute__((__aligned__(16)));
static struct kasan_console console;

_Static_assert(sizeof(struct hart) == HART_WORDS * sizeof(uintptr_t), "as riscv_start.S has it");
_Static_assert(offsetof(struct hart, resume) == HART_RESUME * sizeof(uintptr_t), "the same");

static void put(char c)
{
	const char text[2] = {c, 0};

	board_puts(text);
}

static void stop(const char *why)
{
	board_puts("panic: ");
	board_puts(why);
	board_puts("\n");
	board_exit(3);
}

KASAN_PORT_POOL(pool, POOL_SIZE);
KASAN_PORT_CONSOLE(put, stop);
KASAN_PORT_CONSOLE_LOCK(console);
KASAN_PORT_REPORT_STACKS(4096);
KASAN_WRAP_MACHINE_TRAP(hart_trap);
KASAN_EARLY_CALL(early_start, start_kasan);

void board_print(const char *text)
{
	kasan_console_lock(&console);
	board_puts(text);
	board_puts("\n");
	kasan_console_unlock(&console);
}

void kasan_port_task(struct kasan_port_task *task)
{
	const struct hart *hart = hart_now();

	task->name = "hart";
	task->id = kasan_port_cpu();
	if (hart) {
		task->stack_start = hart->low;
		task->stack_end = hart->high;
	}
}

bool kasan_port_image(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)__image_start;
	*end = (uintptr_t)__image_end;
	return true;
}

/* Also of the stack that begins above @addr, where its guard is: then it has overflowed. */
bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *task)
{
	const struct hart *hart;

	for (hart = harts; hart < harts + TEMPLATE_HARTS; hart++) {
		if ((uintptr_t)addr < hart->low - STACK_GUARD_SIZE || (uintptr_t)addr >= hart->high)
			continue;
		task->name = "hart";
		task->id = (uint32_t)hart->number;
		task->stack_start = hart->low;
		task->stack_end = hart->high;
		return true;
	}
	return false;
}

/* --- Start ------------------------------------------------------------------------------------------- */

/* Each hart has its own mscratch, vector and PMP entries. */
static void set_up(struct hart *hart)
{
	__asm__ volatile("csrw mscratch, %0" : : "r"(hart));
	__asm__ volatile("csrw mtvec, %0" : : "r"(hart_vector));
	/* A stack that is used up faults in machine mode too. */
	KASAN_PMP_SET(0, hart->low - STACK_GUARD_SIZE, STACK_GUARD_SIZE,
		      KASAN_PMP_NAPOT | KASAN_PMP_LOCK);
	/* The shadow is not user mode's, all else is. */
	KASAN_PMP_SET_RANGE(1, 2, (uintptr_t)__kasan_shadow_start,
			    (uintptr_t)__kasan_shadow_start + SHADOW_SIZE, KASAN_PMP_TOR);
	__asm__ volatile("csrw pmpaddr3, %0" : : "r"(~(uintptr_t)0));
	__asm__ volatile("csrs pmpcfg0, %0" : : "r"(ALL_ALLOWED << 24));
}

/* The first C function: before any that is instrumented. The image is relocated, other harts wait. */
void start_kasan(void)
{
	uintptr_t start = (uintptr_t)__kasan_window_start;
	unsigned int i;

	/* GCC would take the load offset, below, for the address of a symbol that is far away. */
	__asm__ volatile("" : "+r"(start));
	for (i = 0; i < TEMPLATE_HARTS; i++) {
		harts[i].number = i;
		harts[i].trap_top = (uintptr_t)trap_stacks[i + 1];
		harts[i].low = (uintptr_t)__stack_start + i * HART_STACK + STACK_GUARD_SIZE;
		harts[i].high = (uintptr_t)__stack_start + (i + 1) * HART_STACK;
	}
	set_up(&harts[0]);
	kasan_start(start, (uintptr_t)__kasan_window_end - start, (uintptr_t)__kasan_shadow_start);
	heap_watch();
	kasan_print_load_offset((void *)start, TEMPLATE_LINKED);
}

/* riscv_start.S: the first hart, with what the machine passed. */
_Noreturn void board_start_riscv(uintptr_t id, uintptr_t tree) __asm__("board_start");
_Noreturn void board_start_riscv(uintptr_t id, uintptr_t tree)
{
	(void)id;
	early_tree = tree;
	__atomic_store_n(&harts_started, 1, __ATOMIC_RELEASE);
	board_exit(main());
}

/* --- Harts ------------------------------------------------------------------------------------------- */

static void (*volatile job)(void);
static unsigned int jobs, ready, done;

/* riscv_start.S: each other hart, for ever. */
void hart_start(uintptr_t number)
{
	unsigned int seen = 0;

	set_up(&harts[number]);
	__atomic_fetch_add(&ready, 1, __ATOMIC_ACQ_REL);
	for (;;) {
		while (__atomic_load_n(&jobs, __ATOMIC_ACQUIRE) == seen)
			;
		seen++;
		hart_run(job);
		__atomic_fetch_add(&done, 1, __ATOMIC_ACQ_REL);
	}
}

unsigned int harts_go(void (*code)(void))
{
	while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < TEMPLATE_HARTS - 1)
		;
	job = code;
	__atomic_store_n(&done, 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(&jobs, 1, __ATOMIC_ACQ_REL);
	return TEMPLATE_HARTS - 1;
}

void harts_wait(void)
{
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < TEMPLATE_HARTS - 1)
		;
}

static struct kasan_console heap_lock;

unsigned long board_lock(void)
{
	const unsigned long flags = kasan_port_irq_save();

	kasan_console_lock(&heap_lock);
	return flags;
}

void board_unlock(unsigned long flags)
{
	kasan_console_unlock(&heap_lock);
	kasan_port_irq_restore(flags);
}

/* --- Traps ------------------------------------------------------------------------------------------- */

/* The runtime has reported what it had to. What raised the trap is given up: it goes on in hart_ended. */
uintptr_t __real_hart_trap(uintptr_t context)
{
	struct hart *hart = hart_now();

	__asm__ volatile("csrr %0, mcause" : "=r"(hart->cause));
	__asm__ volatile("csrw mepc, %0" : : "r"(hart_ended));
	__asm__ volatile("csrs mstatus, %0" : : "r"(0x1800UL));
	/* Its frames are gone, and with them what they have poisoned. */
	kasan_unpoison_stack((void *)hart->low, (void *)hart->high);
	return context;
}

uintptr_t hart_run_user(void (*code)(void))
{
	hart_enter(code, 0);
	return hart_now()->cause;
}

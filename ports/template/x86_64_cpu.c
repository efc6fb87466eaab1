/* SPDX-License-Identifier: MIT */
/*
 * x86_64_cpu.c - the CPUs: descriptor tables, stacks of interrupts, the local APIC with its timer and NMIs, the start of
 * the second one. Never instrumented: all of it runs before there is shadow, or in handlers.
 *
 * Numbers: Intel SDM volume 3, chapters 5 (descriptors), 6 (IDT, IST) and 10 (local APIC).
 */
#include <kasan/port.h>

#include "board.h"
#include "tasks.h"
#include "x86_64.h"
#include "x86_64_trap.h"

#define CPUS	  CONFIG_KASAN_NR_CPUS
#define NMI	  2
#define TIMER	  32
#define GATES	  33
#define IST_STACK 8192

/* Faults of the first kind come when a stack has no room; the others show that handlers may have stacks of their own.
 * Page faults use the stack that is there. */
enum { IST_DOUBLE_FAULT = 1, IST_NMI, IST_TIMER, IST_PROTECTION, IST_COUNT = IST_PROTECTION };

struct gate {
	uint16_t low, selector;
	uint8_t ist, type;
	uint16_t middle;
	uint32_t high, unused;
};

struct tss {
	uint32_t unused0;
	uint64_t rsp[3], unused1, ist[7], unused2;
	uint16_t unused3, io;
} __attribute__((packed));

/* @number comes first: inline_x86_64.h reads it through GS. */
static struct cpu {
	uint32_t number;
	struct tss tss __attribute__((__aligned__(16)));
	uint64_t gdt[5];
	char stacks[IST_COUNT][IST_STACK] __attribute__((__aligned__(16)));
} cpus[CPUS];

static struct gate idt[GATES];
static char second_stack[IST_STACK] __attribute__((__aligned__(16)));
static unsigned int running = 1;
static void (*volatile work)(void);

void (*volatile board_tick)(void);
void (*volatile board_nmi)(void);

/* --- Handlers --- */

#define APIC(offset)  (*(volatile uint32_t *)(X86_64_DIRECT + 0xfee00000 + (offset)))
#define APIC_ID	      0x20
#define APIC_EOI      0xb0
#define APIC_SPURIOUS 0xf0
#define APIC_ICR      0x300
#define APIC_ICR_TO   0x310
#define APIC_TIMER    0x320
#define APIC_COUNT    0x380
#define APIC_DIVIDER  0x3e0

void x86_64_timer(struct kasan_x86_64_frame *frame);
void x86_64_nmi(struct kasan_x86_64_frame *frame);
void x86_64_unexpected(struct kasan_x86_64_frame *frame);

void x86_64_timer(struct kasan_x86_64_frame *frame)
{
	(void)frame;
	if (board_tick)
		board_tick();
	APIC(APIC_EOI) = 0;
}

void x86_64_nmi(struct kasan_x86_64_frame *frame)
{
	(void)frame;
	if (board_nmi)
		board_nmi();
}

void x86_64_unexpected(struct kasan_x86_64_frame *frame)
{
	(void)frame;
	board_puts("unexpected exception\n");
	board_exit(5);
}

KASAN_X86_64_ENTRY(double_fault_entry, 8, 1, kasan_x86_64_trap);
KASAN_X86_64_ENTRY(stack_fault_entry, 12, 1, kasan_x86_64_trap);
KASAN_X86_64_ENTRY(protection_entry, 13, 1, kasan_x86_64_trap);
KASAN_X86_64_ENTRY(page_fault_entry, 14, 1, kasan_x86_64_trap);
KASAN_X86_64_ENTRY(nmi_entry, 2, 0, x86_64_nmi);
KASAN_X86_64_ENTRY(timer_entry, 32, 0, x86_64_timer);
KASAN_X86_64_ENTRY(unexpected_entry, 255, 0, x86_64_unexpected);

/* --- Tables --- */

static void set_gate(unsigned int vector, void (*entry)(void), unsigned int ist)
{
	const uintptr_t addr = (uintptr_t)entry;

	idt[vector] = (struct gate){.low = (uint16_t)addr,
				    .selector = X86_64_CODE_SELECTOR,
				    .ist = (uint8_t)ist,
				    .type = 0x8e, /* present, interrupt gate: interrupts off */
				    .middle = (uint16_t)(addr >> 16),
				    .high = (uint32_t)(addr >> 32)};
}

static void fill_idt(void)
{
	unsigned int i;

	for (i = 0; i < GATES; i++)
		set_gate(i, unexpected_entry, IST_DOUBLE_FAULT);
	set_gate(NMI, nmi_entry, IST_NMI);
	set_gate(KASAN_X86_64_DF, double_fault_entry, IST_DOUBLE_FAULT);
	set_gate(KASAN_X86_64_SS, stack_fault_entry, IST_PROTECTION);
	set_gate(KASAN_X86_64_GP, protection_entry, IST_PROTECTION);
	set_gate(KASAN_X86_64_PF, page_fault_entry, 0);
	set_gate(TIMER, timer_entry, IST_TIMER);
}

static void load_table(bool is_idt, const void *table, size_t size)
{
	const struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) pointer = {(uint16_t)(size - 1), (uintptr_t)table};

	if (is_idt)
		__asm__ volatile("lidt %0" : : "m"(pointer));
	else
		__asm__ volatile("lgdt %0" : : "m"(pointer));
}

void cpu_start(unsigned int number)
{
	struct cpu *const cpu = &cpus[number];
	const uintptr_t tss = (uintptr_t)&cpu->tss, base = (uintptr_t)cpu;
	unsigned int i;

	cpu->number = number;
	for (i = 0; i < IST_COUNT; i++)
		cpu->tss.ist[i] = (uintptr_t)cpu->stacks[i] + IST_STACK;
	cpu->tss.io = sizeof(cpu->tss);
	cpu->gdt[1] = 0x00af9b000000ffff; /* code, 64 bits */
	cpu->gdt[2] = 0x00cf93000000ffff; /* data */
	cpu->gdt[3] = (sizeof(cpu->tss) - 1) | (tss & 0xffffff) << 16 | 0x89ULL << 40 |
		      (tss >> 24 & 0xff) << 56;
	cpu->gdt[4] = tss >> 32;
	if (!number) {
		fill_idt();
		/* The old interrupt controllers: left as they are, their timer's interrupt is vector 8, as a double fault. */
		__asm__ volatile("outb %0, $0x21\n\toutb %0, $0xa1" : : "a"((uint8_t)0xff));
	}
	load_table(false, cpu->gdt, sizeof(cpu->gdt));
	load_table(true, idt, sizeof(idt));
	__asm__ volatile("ltr %0" : : "r"((uint16_t)24));
	__asm__ volatile("wrmsr"
			 :
			 : "c"(0xc0000101), "a"((uint32_t)base), "d"((uint32_t)(base >> 32)));
	APIC(APIC_SPURIOUS) =
		0x1ff; /* on; spurious interrupts, which have no gate, never come here */
}

bool cpu_stack(uintptr_t sp, uintptr_t *start, uintptr_t *end)
{
	const uintptr_t low = (uintptr_t)cpus[kasan_port_cpu()].stacks;
	const uintptr_t distance = sp - low;

	if (distance >= sizeof(cpus[0].stacks))
		return false;
	*start = low + distance / IST_STACK * IST_STACK;
	*end = *start + IST_STACK;
	return true;
}

/* --- Start --- */

/* A PIE has the addresses that it is linked for in these words, until they are corrected. */
static void relocate(uintptr_t offset)
{
	extern const struct relocation {
		uint64_t at, type, addend;
	} __rela_start[], __rela_end[];
	const struct relocation *next;

	for (next = __rela_start; next != __rela_end; next++) {
		if (next->type != 8) /* R_X86_64_RELATIVE */
			__builtin_trap();
		*(uint64_t *)(next->at + offset) = next->addend + offset;
	}
}

void x86_64_start(uintptr_t offset)
{
	const uintptr_t image = (uintptr_t)__image_start;

	relocate(offset);
	paging_start(offset);
	paging_map_shadow(image, (uintptr_t)__image_end - image);
	paging_map_shadow((uintptr_t)__heap_start, (size_t)(__heap_end - __heap_start));
	cpu_start(0);
	board_start();
}

/* --- The local APIC --- */

void cpu_timer_on(void)
{
	APIC(APIC_DIVIDER) = 0xb;	     /* by 1 */
	APIC(APIC_TIMER) = TIMER | 1U << 17; /* periodic */
	APIC(APIC_COUNT) = 1000000;	     /* of QEMU's gigahertz */
	__asm__ volatile("sti" : : : "memory");
}

static void send(unsigned int to, uint32_t command)
{
	APIC(APIC_ICR_TO) = to << 24;
	APIC(APIC_ICR) = command;
	while (APIC(APIC_ICR) & 1U << 12)
		__asm__ volatile("pause");
}

void cpu_nmi(void)
{
	send(APIC(APIC_ID) >> 24, 0x4400);
}

/* --- The second CPU --- */

/* Last in the trampoline. */
struct trampoline_words {
	uint64_t root, stack, code;
};

extern const char trampoline[], trampoline_end[];

unsigned int cpu_count(void)
{
	return __atomic_load_n(&running, __ATOMIC_ACQUIRE);
}

_Noreturn static void second(void)
{
	__asm__ volatile("mov %0, %%cr3" : : "r"((uint64_t)paging_root()) : "memory");
	cpu_start(1);
	__atomic_store_n(&running, 2, __ATOMIC_RELEASE);
	cpu_timer_on();
	cpu_idle();
}

/* QEMU's configuration device says how many CPUs there are. */
static bool has_second(void)
{
	uint8_t low;

	__asm__ volatile("outw %0, %1" : : "a"((uint16_t)5), "Nd"((uint16_t)0x510));
	__asm__ volatile("inb %1, %0" : "=a"(low) : "Nd"((uint16_t)0x511));
	return CPUS > 1 && low > 1;
}

void cpu_start_second(void)
{
	char *const copy = (char *)(X86_64_DIRECT + X86_64_TRAMPOLINE);
	const size_t size = (size_t)(trampoline_end - trampoline);
	struct trampoline_words *const words =
		(struct trampoline_words *)(copy + size - sizeof(*words));
	size_t i;

	if (!has_second())
		return;
	for (i = 0; i < size; i++)
		((volatile char *)copy)[i] = trampoline[i];
	words->root = paging_start_root();
	words->stack = (uintptr_t)second_stack + IST_STACK;
	words->code = (uintptr_t)second;
	send(1, 0x4500);			   /* INIT */
	send(1, 0x4600 | X86_64_TRAMPOLINE >> 12); /* and start there */
	while (cpu_count() < 2)
		__asm__ volatile("pause");
}

void cpu_idle(void)
{
	for (;;) {
		void (*const code)(void) = __atomic_load_n(&work, __ATOMIC_ACQUIRE);

		if (code) {
			task_run(2, code);
			__atomic_store_n(&work, NULL, __ATOMIC_RELEASE);
		}
		__asm__ volatile("pause");
	}
}

void cpu_call(void (*code)(void))
{
	if (cpu_count() < 2)
		code();
	else
		__atomic_store_n(&work, code, __ATOMIC_RELEASE);
}

void cpu_wait(void)
{
	while (__atomic_load_n(&work, __ATOMIC_ACQUIRE))
		__asm__ volatile("pause");
}

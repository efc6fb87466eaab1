/* SPDX-License-Identifier: MIT */
/*
 * port.c - the start, and the functions of <kasan/port.h> that have nothing to do with tasks. Never instrumented.
 */
#include "internal.h"

#ifdef __arm__
#include "cortexm_fault.h"
#endif

/* Tables of the runtime: stacks of allocations and frees, and the quarantine's queue. */
#ifndef KASAN_FREERTOS_POOL
#define KASAN_FREERTOS_POOL (80UL << 10)
#endif

/* Bytes of main()'s stack if neither the linker script nor FreeRTOSConfig.h says where it begins. */
#ifndef KASAN_FREERTOS_MAIN_STACK
#define KASAN_FREERTOS_MAIN_STACK 1024
#endif

static bool is_started;

/* --- Processors -------------------------------------------------------------------------------------------- */

#ifdef __arm__

/* Cortex-M: address of the vector table, whose first word is the initial stack pointer. */
#define VTOR (*(const volatile uintptr_t *)0xe000ed08)

unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(flags) : : "memory");
	return flags;
}

void kasan_port_irq_restore(unsigned long flags)
{
	__asm__ volatile("msr primask, %0" : : "r"(flags) : "memory");
}

/* FreeRTOS starts the main stack again at its top, which the vector table names. CMSIS's linker scripts say where
 * it ends. */
extern char __StackLimit[] __attribute__((weak));

static uintptr_t main_stack_end;

struct freertos_stack freertos_isr_stack(void)
{
	uintptr_t high = main_stack_end;
	const uintptr_t low = (uintptr_t)__StackLimit;

	/* Once: address 0 may be out of bounds later. */
	if (!high)
		high = main_stack_end = *(const volatile uintptr_t *)VTOR;

	if (low && low < high)
		return (struct freertos_stack){low, high};
	return (struct freertos_stack){high - KASAN_FREERTOS_MAIN_STACK, high};
}

/* Numbers of the handlers of faults. */
enum { HARDFAULT = 3, USAGEFAULT = 6 };

bool freertos_in_interrupt(void)
{
	const struct freertos_stack stack = freertos_isr_stack();
	const uintptr_t sp = kasan_cortexm_sp();
	unsigned long exception;

	__asm__ volatile("mrs %0, ipsr" : "=r"(exception));
	if (exception >= HARDFAULT && exception <= USAGEFAULT)
		return sp > stack.low && sp <= stack.high;
	return exception != 0;
}

#else

/* FreeRTOS's RISC-V port: the address above the stack of interrupts. */
extern const StackType_t xISRStackTop;

unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("csrrci %0, mstatus, 8" : "=r"(flags) : : "memory");
	return flags;
}

void kasan_port_irq_restore(unsigned long flags)
{
	__asm__ volatile("csrs mstatus, %0" : : "r"(flags & 8) : "memory");
}

struct freertos_stack freertos_isr_stack(void)
{
	const uintptr_t high = xISRStackTop;
#ifdef configISR_STACK_SIZE_WORDS
	return (struct freertos_stack){high - configISR_STACK_SIZE_WORDS * sizeof(StackType_t),
				       high};
#else
	return (struct freertos_stack){high - KASAN_FREERTOS_MAIN_STACK, high};
#endif
}

/* No register tells: a handler is what runs on the stack of interrupts. The runtime asks before it changes to the
 * stack of reports. */
bool freertos_in_interrupt(void)
{
	const struct freertos_stack stack = freertos_isr_stack();
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return here > stack.low && here <= stack.high;
}

#endif

/* --- Start ------------------------------------------------------------------------------------------------- */

void kasan_freertos_init(void)
{
	const uintptr_t start = (uintptr_t)__kasan_window_start;
	const size_t size = (size_t)(__kasan_window_end - __kasan_window_start);
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const char *wrong;

	if (is_started)
		return;
	is_started = true;
#ifdef __arm__
	kasan_cortexm_enable_faults();
#endif
	if (here - (uintptr_t)__kasan_shadow_start < size / 8)
		freertos_stop(
			"the boot stack lies in the shadow: end the RAM of the linker script at "
			"__kasan_window_end (KASAN_WINDOW_SIZE)");
	wrong = kasan_window_add(start, size, __kasan_shadow_start);
	if (wrong)
		freertos_stop(wrong);
	freertos_heap_add();
	freertos_guard_start();
	/* A session without a debugger shall show all bugs, not only the first. */
	kasan_option("kasan_multi_shot", "on");
	kasan_init(size);
}

/* Start files that run constructors run this before them. */
__attribute__((used, section(".preinit_array"))) static void (*const before_constructors)(void) =
	kasan_freertos_init;

/* --- The runtime asks -------------------------------------------------------------------------------------- */

unsigned int kasan_port_cpu(void)
{
	return 0;
}

void *kasan_port_alloc(size_t size)
{
	static char pool[KASAN_FREERTOS_POOL] __attribute__((__aligned__(16)));
	static size_t used;
	void *block = pool + used;

	if (size > sizeof(pool) - used)
		return NULL;
	used += size;
	return block;
}

void kasan_port_print(const char *text)
{
	while (*text)
		kasan_freertos_putc(*text++);
	kasan_freertos_putc('\r');
	kasan_freertos_putc('\n');
}

__attribute__((weak)) void kasan_freertos_panic(const char *why)
{
	(void)why;
}

_Noreturn void freertos_stop(const char *why)
{
	kasan_port_irq_save();
	kasan_port_print("KASAN: cannot go on:");
	kasan_port_print(why);
	kasan_freertos_panic(why);
	for (;;)
		;
}

/* "0x" and eight or sixteen digits. */
static char *put_hex(char *to, uintptr_t value)
{
	unsigned int shift = sizeof(value) * 8;

	*to++ = '0';
	*to++ = 'x';
	while (shift) {
		shift -= 4;
		*to++ = "0123456789abcdef"[value >> shift & 15];
	}
	return to;
}

_Noreturn void freertos_stop_range(const char *what, const void *start, size_t size,
				   const char *why)
{
	char line[96], *to = line;

	kasan_port_irq_save();
	while (*what && to < line + 48)
		*to++ = *what++;
	*to++ = ' ';
	to = put_hex(to, (uintptr_t)start);
	*to++ = '-';
	to = put_hex(to, (uintptr_t)start + size);
	*to = '\0';
	kasan_port_print(line);
	freertos_stop(why);
}

_Noreturn void kasan_port_panic(const char *why)
{
	freertos_stop(why);
}

static bool within(const void *addr, size_t size, const char *low, const char *high)
{
	const uintptr_t at = (uintptr_t)addr - (uintptr_t)low;

	return at < (uintptr_t)(high - low) && size <= (uintptr_t)(high - low) - at;
}

bool freertos_in_window(const void *addr, size_t size)
{
	return within(addr, size, __kasan_window_start, __kasan_window_end);
}

bool kasan_port_readable(const void *addr, size_t size)
{
	if (freertos_is_null((uintptr_t)addr))
		return false;
	return within(addr, size, __kasan_window_start, __kasan_window_end) ||
	       within(addr, size, __kasan_flash_start, __kasan_flash_end);
}

bool kasan_port_is_code(uintptr_t pc)
{
	return within((const void *)pc, 2, __kasan_flash_start, __kasan_flash_end) ||
	       within((const void *)pc, 2, __kasan_window_start, __kasan_window_end);
}

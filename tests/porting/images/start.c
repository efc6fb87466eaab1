/* SPDX-License-Identifier: MIT */
/*
 * start.c - the uninstrumented rest of the audit's images: vectors, the code from reset to app(), and the
 * port. The images are linked and audited, never booted, so the port prints and locks nothing.
 */
#include "kasan.h"

typedef void (*constructor)(void);

extern constructor __init_array_start[], __init_array_end[];
extern unsigned long __data_start[], __data_end[], __data_load[], __bss_start[], __bss_end[];
extern char __stack_top[];
#ifdef WITH_TABLE
extern const unsigned long symbols_start[], symbols_end[];
#endif

int app(int index, char *text);
void reset(void);
void hang(void);

#ifdef SECOND_BANK
long bank[16] __attribute__((section(".bank")));
#endif
static char message[16];
static unsigned long pool[1024];

#ifdef __arm__
__attribute__((used, section(".vectors"))) static const void *const vectors[] = {
	__stack_top, (const void *)reset, (const void *)hang, (const void *)hang};
#endif

void hang(void)
{
	for (;;)
		;
}

void reset(void)
{
	const unsigned long *from = __data_load;
	unsigned long *to;
	const constructor *next;

	for (to = __data_start; to < __data_end;)
		*to++ = *from++;
	for (to = __bss_start; to < __bss_end;)
		*to++ = 0;
	if (kasan_window_add(RAM_START, RAM_SIZE, (void *)SHADOW_START))
		hang();
#ifdef SECOND_BANK
	if (kasan_window_add(BANK_START, BANK_SIZE, (void *)BANK_SHADOW))
		hang();
#endif
#ifndef NOT_WALKED
	for (next = __init_array_start; next < __init_array_end; next++)
		(*next)();
#else
	(void)next;
#endif
	kasan_init(RAM_SIZE);
#ifdef WITH_TABLE
	{
		const unsigned long *symbol;

		/* Walk the symbols, as a module loader does. */
		for (symbol = symbols_start; symbol < symbols_end; symbol++)
			message[0] ^= (char)*symbol;
	}
#endif
	app(message[1], message);
	hang();
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

void kasan_port_task(struct kasan_port_task *task)
{
	task->name = "main";
}

void *kasan_port_alloc(size_t size)
{
	return size <= sizeof(pool) ? pool : NULL;
}

void kasan_port_print(const char *text)
{
	message[0] = *text;
}

_Noreturn void kasan_port_panic(const char *why)
{
	kasan_port_print(why);
	for (;;)
		;
}

#ifdef NUMBER
/* It may have the value of a constructor's address. */
__attribute__((used)) const uintptr_t number = NUMBER;
#endif

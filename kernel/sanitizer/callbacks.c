// SPDX-License-Identifier: MIT
/*
 * callbacks.c - which program's __asan_on_error() is called, and how a program's callbacks of <kasan/asan_interface.h>
 * are called.
 *
 * A program may use floating point, and a report may come from an exception anywhere in it: so its registers are kept.
 * Threads that have no such registers are not the program's, and call nothing of it.
 */
#include <kasan/asan_interface.h>
#include <kasan/kasan.h>
#include <kasan/port.h>
#include <kernel/arch.h>
#include <kernel/program.h>
#include <kernel/task.h>

void (*program_on_error)(void);
/* The callbacks are those of a program, and not of the kernel's tests. */
static bool are_of_program;

#ifdef CONFIG_KASAN
void __asan_on_error(void)
{
	void (*const call)(void) = READ_ONCE(program_on_error);

	if (call)
		call();
}

void kasan_port_callback(void (*call)(const void *with), const void *with)
{
	if (current->fpu)
		arch_fpu_call(call, with);
	else if (!READ_ONCE(are_of_program))
		call(with);
}
#endif

void program_start_callbacks(void (*on_error)(void))
{
	__asan_set_error_report_callback(NULL);
	__sanitizer_set_death_callback(NULL);
	WRITE_ONCE(program_on_error, on_error);
	WRITE_ONCE(are_of_program, true);
}

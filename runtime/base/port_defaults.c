/* SPDX-License-Identifier: MIT */
/*
 * port_defaults.c - weak defaults of the functions that <kasan/port.h> calls OPTIONAL. Those that need other parts are
 * elsewhere: memory primitives (mem.c), kasan_port_symbol() (ksyms.c), kasan_port_readable() (report/check.c),
 * kasan_port_print_banner() (report/print.c).
 *
 * Each answers for a system that knows nothing: no symbol, no object, no page. Reports are then shorter, but still
 * whole.
 */
#include "base.h"

/* The parameters are not used. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define DEFAULT(type, name, parameters, answer) \
	KASAN_WEAK type name parameters         \
	{                                       \
		return answer;                  \
	}

DEFAULT(bool, kasan_port_variable, (uintptr_t addr, char *buf, size_t size), false)
DEFAULT(uint64_t, kasan_port_clock, (void), 0)
DEFAULT(uint64_t, kasan_port_seed, (void), 0)
DEFAULT(bool, kasan_port_image, (uintptr_t *start, uintptr_t *end), false)
DEFAULT(bool, kasan_port_is_user, (uintptr_t addr), false)
DEFAULT(bool, kasan_port_find_object, (const void *addr, struct kasan_object *obj), false)
DEFAULT(bool, kasan_port_find_area, (const void *addr, struct kasan_area *area), false)
#ifdef CONFIG_KASAN_PERCPU
DEFAULT(bool, kasan_port_find_percpu, (uintptr_t addr, struct kasan_percpu *found), false)
#endif
DEFAULT(bool, kasan_port_stack_owner, (const void *addr, struct kasan_port_task *task), false)
DEFAULT(bool, kasan_port_stack_overflowed, (const struct kasan_port_task *task), false)
DEFAULT(void *, kasan_port_report_stack, (size_t *size), NULL)
DEFAULT(bool, kasan_port_is_interrupted, (uintptr_t before), false)
DEFAULT(unsigned int *, kasan_port_task_depth, (void), NULL)
DEFAULT(bool, kasan_port_page_tag, (const void *addr, uint8_t *tag), false)
DEFAULT(void, kasan_port_print_page, (const void *addr), )
DEFAULT(void, kasan_port_report_begin, (void), )
DEFAULT(void, kasan_port_report_end, (const struct kasan_report_info *info), )

#ifdef KASAN_ALONE
/* Nothing is remembered of allocations, apart from those that are sampled. */
DEFAULT(void *, kasan_port_alloc, (size_t size), NULL)
#endif

#pragma GCC diagnostic pop

KASAN_WEAK bool kasan_port_is_code(uintptr_t pc)
{
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
	/* In the default memory map, peripherals, external devices and system registers are never executed. */
	return pc < 0x40000000 || (pc >= 0x60000000 && pc < 0xa0000000);
#else
	(void)pc;
	return true;
#endif
}

/* SPDX-License-Identifier: MIT */
/*
 * port_defaults.c - the weak default of every function that <kasan/port.h> calls OPTIONAL, except those
 * that need other parts: memory primitives (mem.c), kasan_port_symbol() (ksyms.c), kasan_port_readable()
 * (report/check.c) and kasan_port_print_banner() (report/print.c).
 *
 * Each default is the answer of a system that knows nothing: no symbol, no object, no page. Reports are
 * then shorter, but still whole.
 */
#include "base.h"

KASAN_WEAK bool kasan_port_variable(uintptr_t addr, char *buf, size_t size)
{
	(void)addr;
	(void)buf;
	(void)size;
	return false;
}

KASAN_WEAK uint64_t kasan_port_clock(void)
{
	return 0;
}

KASAN_WEAK uint64_t kasan_port_seed(void)
{
	return 0;
}

KASAN_WEAK bool kasan_port_image(uintptr_t *start, uintptr_t *end)
{
	(void)start;
	(void)end;
	return false;
}

KASAN_WEAK bool kasan_port_is_user(uintptr_t addr)
{
	(void)addr;
	return false;
}

KASAN_WEAK bool kasan_port_find_object(const void *addr, struct kasan_object *obj)
{
	(void)addr;
	(void)obj;
	return false;
}

KASAN_WEAK bool kasan_port_find_area(const void *addr, struct kasan_area *area)
{
	(void)addr;
	(void)area;
	return false;
}

KASAN_WEAK bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *task)
{
	(void)addr;
	(void)task;
	return false;
}

KASAN_WEAK void *kasan_port_report_stack(size_t *size)
{
	(void)size;
	return NULL;
}

KASAN_WEAK bool kasan_port_is_code(uintptr_t pc)
{
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
	/* The default memory map: peripherals, external devices and the system's registers are never executed. */
	return pc < 0x40000000 || (pc >= 0x60000000 && pc < 0xa0000000);
#else
	(void)pc;
	return true;
#endif
}

KASAN_WEAK bool kasan_port_is_interrupted(uintptr_t before)
{
	(void)before;
	return false;
}

KASAN_WEAK unsigned int *kasan_port_task_depth(void)
{
	return NULL;
}

KASAN_WEAK bool kasan_port_page_tag(const void *addr, uint8_t *tag)
{
	(void)addr;
	(void)tag;
	return false;
}

KASAN_WEAK void kasan_port_print_page(const void *addr)
{
	(void)addr;
}

KASAN_WEAK void kasan_port_report_begin(void)
{
}

KASAN_WEAK void kasan_port_report_end(const struct kasan_report_info *info)
{
	(void)info;
}

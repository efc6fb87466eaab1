/* SPDX-License-Identifier: MIT */
/* asan_facts.c - <kasan/asan_interface.h>: the last report, and the callbacks. */
#include "../report/facts.h"

#include <kasan/asan_interface.h>

#if defined(CONFIG_KASAN) && !defined(KASAN_ALONE)

#if CONFIG_KASAN_CALLBACKS
#define FACT(member) (kasan_last_facts.member)
#else
#define FACT(member) ((__typeof__(((struct kasan_facts *)0)->member))0)
#endif

int __asan_report_present(void)
{
	return FACT(type) != NULL;
}

void *__asan_get_report_pc(void)
{
	return (void *)FACT(pc);
}

void *__asan_get_report_bp(void)
{
	return (void *)FACT(bp);
}

void *__asan_get_report_sp(void)
{
	return (void *)FACT(sp);
}

void *__asan_get_report_address(void)
{
	return (void *)FACT(pointer);
}

int __asan_get_report_access_type(void)
{
	return FACT(is_write);
}

size_t __asan_get_report_access_size(void)
{
	return FACT(size);
}

const char *__asan_get_report_description(void)
{
	return FACT(type) ? FACT(type) : "";
}

void __asan_set_error_report_callback(void (*callback)(const char *text))
{
#if CONFIG_KASAN_CALLBACKS
	/* Here, so that a system which never calls this is linked without it. Memory of kasan_port_alloc() may have
	 * shadow that refuses the callback's accesses. */
	static char text[CONFIG_KASAN_REPORT_TEXT];

	kasan_set_report_callback(callback, text, sizeof(text));
#else
	kasan_set_report_callback(callback, NULL, 0);
#endif
}

void __sanitizer_set_death_callback(void (*callback)(void))
{
	kasan_set_death_callback(callback);
}

void __asan_set_death_callback(void (*callback)(void))
{
	kasan_set_death_callback(callback);
}

#endif /* CONFIG_KASAN */

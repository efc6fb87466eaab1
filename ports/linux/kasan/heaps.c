// SPDX-License-Identifier: MIT
/*
 * heaps.c - what reports ask of the heaps that the runtime has for systems without an allocator. Linux uses none, so they
 * are left out (host/apply.py), which makes the kernel 18 KiB smaller.
 */
#include <linux/types.h>

#include "redzone.h"

struct redzone_heap_chunk;

void redzone_heap_new_report(void);
bool redzone_heap_lookup(unsigned long addr, struct redzone_heap_chunk *chunk);
bool redzone_find_object(const void *addr, struct redzone_object *object);

void redzone_heap_new_report(void)
{
}

bool redzone_heap_lookup(unsigned long addr, struct redzone_heap_chunk *chunk)
{
	return false;
}

bool redzone_find_object(const void *addr, struct redzone_object *object)
{
	return kasan_port_find_object(addr, object);
}

#ifndef CONFIG_KASAN_GENERIC
bool redzone_heap_name_at(unsigned long addr, const char **name);
bool redzone_find_page_tag(const void *addr, u8 *tag);

bool redzone_heap_name_at(unsigned long addr, const char **name)
{
	return false;
}

bool redzone_find_page_tag(const void *addr, u8 *tag)
{
	return kasan_port_page_tag(addr, tag);
}
#endif

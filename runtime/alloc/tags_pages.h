/* SPDX-License-Identifier: MIT */
/*
 * tags_pages.h - what memory pools share with the page hooks of the tag-based modes.
 */
#ifndef KASAN_TAGS_PAGES_H
#define KASAN_TAGS_PAGES_H

#include "../core/shadow.h"
#include "../core/tags.h"

#ifdef CONFIG_KASAN_TAGS

/** kasan_tags_end_pages() - free @ptr, of the allocation that starts at @base. Return: what is wrong with that,
 *  "double-free" or "invalid-free"; NULL: nothing, and of several CPUs that do it at once only one is told so.
 *  The allocation's first granule is then KASAN_TAG_INVALID, unless sampling has left it out. */
const char *kasan_tags_end_pages(const void *ptr, const void *base);

#endif
#endif /* KASAN_TAGS_PAGES_H */

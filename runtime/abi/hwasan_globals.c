/* SPDX-License-Identifier: MIT */
/*
 * hwasan_globals.c - called by the constructor of files whose globals Clang has tagged: __hwasan_init(). The linker
 * keeps one constructor for each image.
 *
 * Code that runs before it must not touch a tagged global through instrumented code: the tags do not match yet. A
 * system that has such code calls kasan_load_globals() by itself, earlier.
 */
#include "../alloc/globals.h"

#ifdef CONFIG_KASAN_SW_TAGS

/* The linker makes these names from the section's. Without tagged globals there is no such section. */
extern const struct kasan_global_descriptor __start_hwasan_globals[] __attribute__((weak));
extern const struct kasan_global_descriptor __stop_hwasan_globals[] __attribute__((weak));

void __hwasan_init(void);
KASAN_ABI void __hwasan_init(void)
{
	static struct kasan_globals_table image;

	/* A module's constructor comes here as well: its loader has registered its own. */
	if (!image.start)
		kasan_load_globals(&image, __start_hwasan_globals, __stop_hwasan_globals);
}

#endif /* CONFIG_KASAN_SW_TAGS */

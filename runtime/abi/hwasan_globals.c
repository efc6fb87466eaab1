/* SPDX-License-Identifier: MIT */
/*
 * hwasan_globals.c - __hwasan_init(), called by the constructor of files whose globals Clang has tagged. The linker
 * keeps one constructor for each image.
 *
 * Instrumented code that runs before it must not touch a tagged global, because the memory has no tag yet. A system
 * with such code calls kasan_load_globals() itself, earlier.
 */
#include "../alloc/globals.h"

#ifdef CONFIG_KASAN_SW_TAGS

/* The linker derives these names from the section's, which exists only with tagged globals. */
extern const struct kasan_global_descriptor __start_hwasan_globals[] __attribute__((weak));
extern const struct kasan_global_descriptor __stop_hwasan_globals[] __attribute__((weak));

void __hwasan_init(void);
KASAN_ABI void __hwasan_init(void)
{
	static struct kasan_globals_table image;

	/* A module's constructor calls it too, after its loader has registered the module's globals. */
	if (!image.start)
		kasan_load_globals(&image, __start_hwasan_globals, __stop_hwasan_globals);
}

#endif /* CONFIG_KASAN_SW_TAGS */

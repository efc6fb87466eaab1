// SPDX-License-Identifier: MIT
/*
 * export.c - the compiler's calls, for modules. The runtime defines them and knows nothing of Linux's exports.
 */
#include <linux/export.h>
#include <linux/kasan.h>

/* Only the names matter: no code here calls them. */
#define EXPORT_ABI(name) \
	void name(void); \
	EXPORT_SYMBOL(name)

#ifdef CONFIG_KASAN_GENERIC

#define EXPORT_SIZE(size)                               \
	EXPORT_ABI(__asan_load##size##_noabort);        \
	EXPORT_ABI(__asan_store##size##_noabort);       \
	EXPORT_ABI(__asan_report_load##size##_noabort); \
	EXPORT_ABI(__asan_report_store##size##_noabort)

EXPORT_SIZE(1);
EXPORT_SIZE(2);
EXPORT_SIZE(4);
EXPORT_SIZE(8);
EXPORT_SIZE(16);
EXPORT_ABI(__asan_loadN_noabort);
EXPORT_ABI(__asan_storeN_noabort);
EXPORT_ABI(__asan_report_load_n_noabort);
EXPORT_ABI(__asan_report_store_n_noabort);
EXPORT_ABI(__asan_handle_no_return);
EXPORT_ABI(__asan_register_globals);
EXPORT_ABI(__asan_unregister_globals);
EXPORT_ABI(__asan_poison_stack_memory);
EXPORT_ABI(__asan_unpoison_stack_memory);
EXPORT_ABI(__asan_alloca_poison);
EXPORT_ABI(__asan_allocas_unpoison);
EXPORT_ABI(__asan_set_shadow_00);
EXPORT_ABI(__asan_set_shadow_f1);
EXPORT_ABI(__asan_set_shadow_f2);
EXPORT_ABI(__asan_set_shadow_f3);
EXPORT_ABI(__asan_set_shadow_f5);
EXPORT_ABI(__asan_set_shadow_f8);
#ifdef CONFIG_CC_HAS_KASAN_MEMINTRINSIC_PREFIX
EXPORT_ABI(__asan_memcpy);
EXPORT_ABI(__asan_memmove);
EXPORT_ABI(__asan_memset);
#endif

#endif

#ifdef CONFIG_KASAN_SW_TAGS

#define EXPORT_SIZE(size)                          \
	EXPORT_ABI(__hwasan_load##size##_noabort); \
	EXPORT_ABI(__hwasan_store##size##_noabort)

EXPORT_SIZE(1);
EXPORT_SIZE(2);
EXPORT_SIZE(4);
EXPORT_SIZE(8);
EXPORT_SIZE(16);
EXPORT_SIZE(N);
EXPORT_ABI(__hwasan_tag_memory);
#ifdef CONFIG_CC_HAS_KASAN_MEMINTRINSIC_PREFIX
EXPORT_ABI(__hwasan_memcpy);
EXPORT_ABI(__hwasan_memmove);
EXPORT_ABI(__hwasan_memset);
#endif

#endif

#ifdef CONFIG_KASAN_HW_TAGS
/* For a module that measures: symbol_get() finds only such symbols. */
void redzone_sample_stats(void);
EXPORT_SYMBOL_GPL(redzone_sample_stats);
#endif

/* SPDX-License-Identifier: MIT */
/* abi.h - the compilers' ABI as C declarations. No header of the runtime declares these symbols, because compilers call
 * them by name. abi_symbols.def lists them. */
#ifndef UNIT_ABI_H
#define UNIT_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ABI_ACCESS(name, size, is_write)       void name(uintptr_t addr);
#define ABI_SIZED(name, is_write)	       void name(uintptr_t addr, size_t size);
#define ABI_REPORT(name, size, is_write)       void name(uintptr_t addr);
#define ABI_REPORT_N(name, is_write)	       void name(uintptr_t addr, size_t size);
#define ABI_ACCESS_ABORT(name, size, is_write) ABI_ACCESS(name, size, is_write)
#define ABI_SIZED_ABORT(name, is_write)	       ABI_SIZED(name, is_write)
#define ABI_REPORT_ABORT(name, size, is_write) ABI_REPORT(name, size, is_write)
#define ABI_REPORT_N_ABORT(name, is_write)     ABI_REPORT_N(name, is_write)
#define ABI_OTHER(name)
#include "abi_symbols.def"

void __asan_handle_no_return(void);
void __ubsan_handle_type_mismatch_v1(const void *data, uintptr_t addr);
void __ubsan_handle_alignment_assumption(void *data, uintptr_t addr, uintptr_t alignment,
					 uintptr_t offset);
void __asan_register_globals(void *globals, size_t count);
void __asan_unregister_globals(void *globals, size_t count);
void __asan_alloca_poison(uintptr_t addr, size_t size);
void __asan_allocas_unpoison(uintptr_t top, uintptr_t bottom);
void __asan_set_shadow_00(uintptr_t shadow, size_t size);
void __asan_set_shadow_01(uintptr_t shadow, size_t size);
void __asan_set_shadow_02(uintptr_t shadow, size_t size);
void __asan_set_shadow_03(uintptr_t shadow, size_t size);
void __asan_set_shadow_04(uintptr_t shadow, size_t size);
void __asan_set_shadow_05(uintptr_t shadow, size_t size);
void __asan_set_shadow_06(uintptr_t shadow, size_t size);
void __asan_set_shadow_07(uintptr_t shadow, size_t size);
void __asan_set_shadow_f1(uintptr_t shadow, size_t size);
void __asan_set_shadow_f2(uintptr_t shadow, size_t size);
void __asan_set_shadow_f3(uintptr_t shadow, size_t size);
void __asan_set_shadow_f5(uintptr_t shadow, size_t size);
void __asan_set_shadow_f8(uintptr_t shadow, size_t size);
void __asan_poison_stack_memory(uintptr_t addr, size_t size);
void __asan_unpoison_stack_memory(uintptr_t addr, size_t size);
void *__asan_memcpy(void *dst, const void *src, size_t n);
void *__asan_memmove(void *dst, const void *src, size_t n);
void *__asan_memset(void *dst, int c, size_t n);
void __sanitizer_ptr_cmp(uintptr_t a, uintptr_t b);
void __sanitizer_ptr_sub(uintptr_t a, uintptr_t b);
extern int __asan_option_detect_stack_use_after_return;
#define FAKE_STACK_CLASSES(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10)
#define DECLARE_FAKE_STACK(n)                           \
	uintptr_t __asan_stack_malloc_##n(size_t size); \
	void __asan_stack_free_##n(uintptr_t frame, size_t size);
FAKE_STACK_CLASSES(DECLARE_FAKE_STACK)
#undef DECLARE_FAKE_STACK
extern uintptr_t __asan_shadow_memory_dynamic_address;

/* The fixed-size access callbacks that return after a report. Ends with a NULL name. */
struct access_fn {
	const char *name;
	void (*call)(uintptr_t addr);
	size_t size;
	bool is_write;
};
extern const struct access_fn access_fns[];

#endif

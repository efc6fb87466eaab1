/* SPDX-License-Identifier: MIT */
/*
 * minimal.c - the functions that code built with -fsanitize-minimal-runtime calls, Clang's small form of UBSan: they get
 * no data, so the place is the function that calls them, and the report has no values.
 */
#include "data.h"

#ifdef CONFIG_KASAN_UBSAN

static kasan_noinline void found(unsigned int check, uintptr_t ip, uintptr_t fp)
{
	struct kasan_undefined bug;

	kasan_clear(&bug);
	bug.ip = ip;
	bug.fp = fp;
	kasan_report_undefined(ubsan_check_name(check), &bug);
}

/* @...: after the report. */
#define DEFINE(check, name, returns, ...)                           \
	returns void __ubsan_handle_##name(void);                   \
	returns KASAN_ABI void __ubsan_handle_##name(void)          \
	{                                                           \
		found(check, KASAN_CALLER_IP(), KASAN_CALLER_FP()); \
		__VA_ARGS__;                                        \
	}
/* Nothing follows the calls of these. */
#define DEFINE_END(check, name) DEFINE(check, name, _Noreturn, kasan_end_system(UBSAN_ABORT_WHY))
#define DEFINE_BOTH(check, name)        \
	DEFINE(check, name##_minimal, ) \
	DEFINE_END(check, name##_minimal_abort)

/* The numbers are those of the checks in trap.c. */
DEFINE_BOTH(0, add_overflow)
DEFINE_END(1, builtin_unreachable_minimal)
DEFINE_BOTH(3, divrem_overflow)
DEFINE_BOTH(5, float_cast_overflow)
DEFINE_BOTH(6, function_type_mismatch)
DEFINE_BOTH(7, implicit_conversion)
DEFINE_BOTH(8, invalid_builtin)
DEFINE_BOTH(10, load_invalid_value)
DEFINE_END(11, missing_return_minimal)
DEFINE_BOTH(12, mul_overflow)
DEFINE_BOTH(13, negate_overflow)
DEFINE_BOTH(14, nullability_arg)
DEFINE_BOTH(15, nullability_return)
DEFINE_BOTH(16, nonnull_arg)
DEFINE_BOTH(17, nonnull_return)
DEFINE_BOTH(18, out_of_bounds)
DEFINE_BOTH(19, pointer_overflow)
DEFINE_BOTH(20, shift_out_of_bounds)
DEFINE_BOTH(21, sub_overflow)
DEFINE_BOTH(22, type_mismatch)
DEFINE_BOTH(23, alignment_assumption)
DEFINE_BOTH(24, vla_bound_not_positive)

#endif /* CONFIG_KASAN_UBSAN */

/* SPDX-License-Identifier: MIT */
/*
 * minimal.c - the functions that code built with -fsanitize-minimal-runtime calls, Clang's small form of UBSan: they get
 * no data, so the place is the function that calls them, and the report has no values.
 */
#include "ubsan.h"

#ifdef CONFIG_UBSAN

static kasan_noinline void found(unsigned int check, uintptr_t ip, uintptr_t fp)
{
	struct kasan_undefined bug;

	kasan_clear(&bug);
	kasan_report_undefined(ubsan_check_name(check), &bug, ip, fp);
}

#define DEFINE_MINIMAL(check, name)                                          \
	void __ubsan_handle_##name##_minimal(void);                          \
	KASAN_ABI void __ubsan_handle_##name##_minimal(void)                 \
	{                                                                    \
		found(check, KASAN_CALLER_IP(), KASAN_CALLER_FP());          \
	}                                                                    \
	_Noreturn void __ubsan_handle_##name##_minimal_abort(void);          \
	_Noreturn KASAN_ABI void __ubsan_handle_##name##_minimal_abort(void) \
	{                                                                    \
		found(check, KASAN_CALLER_IP(), KASAN_CALLER_FP());          \
		kasan_port_panic(UBSAN_ABORT_WHY);                           \
	}

/* Nothing follows these calls. They have no _abort form. */
#define DEFINE_END(check, name)                                        \
	_Noreturn void __ubsan_handle_##name##_minimal(void);          \
	_Noreturn KASAN_ABI void __ubsan_handle_##name##_minimal(void) \
	{                                                              \
		found(check, KASAN_CALLER_IP(), KASAN_CALLER_FP());    \
		kasan_port_panic(UBSAN_ABORT_WHY);                     \
	}

/* The numbers are those of the checks in trap.c. */
DEFINE_MINIMAL(0, add_overflow)
DEFINE_END(1, builtin_unreachable)
DEFINE_MINIMAL(3, divrem_overflow)
DEFINE_MINIMAL(5, float_cast_overflow)
DEFINE_MINIMAL(6, function_type_mismatch)
DEFINE_MINIMAL(7, implicit_conversion)
DEFINE_MINIMAL(8, invalid_builtin)
DEFINE_MINIMAL(10, load_invalid_value)
DEFINE_END(11, missing_return)
DEFINE_MINIMAL(12, mul_overflow)
DEFINE_MINIMAL(13, negate_overflow)
DEFINE_MINIMAL(14, nullability_arg)
DEFINE_MINIMAL(15, nullability_return)
DEFINE_MINIMAL(16, nonnull_arg)
DEFINE_MINIMAL(17, nonnull_return)
DEFINE_MINIMAL(18, out_of_bounds)
DEFINE_MINIMAL(19, pointer_overflow)
DEFINE_MINIMAL(20, shift_out_of_bounds)
DEFINE_MINIMAL(21, sub_overflow)
DEFINE_MINIMAL(22, type_mismatch)
DEFINE_MINIMAL(23, alignment_assumption)
DEFINE_MINIMAL(24, vla_bound_not_positive)

#endif /* CONFIG_UBSAN */

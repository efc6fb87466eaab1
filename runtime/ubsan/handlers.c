/* SPDX-License-Identifier: MIT */
/*
 * handlers.c - the functions that code built with -fsanitize=undefined (integer, nullability, float-divide-by-zero, ...)
 * calls when a check has failed: __ubsan_handle_* and, for code built with -fno-sanitize-recover, the same with _abort.
 *
 * Each chooses the type of the bug and the sentence that says which values made it. A sentence has two letters after
 * each '$': ubsan_add_sentence() says what they mean.
 *
 * C++'s checks of dynamic types (vptr) need the compiler's type information, which freestanding C++ does not have:
 * __ubsan_handle_dynamic_type_cache_miss() is not here.
 */
#include "data.h"

#ifdef CONFIG_KASAN_UBSAN

/**
 * struct call - what a function of the compiler got
 * @types: those in its data; NULL: none. @type, @sentence: chosen by it; NULL: there is no sentence.
 */
struct call {
	const struct ubsan_place *at;
	const struct ubsan_type *const *types;
	const char *type, *sentence;
	uintptr_t a, b, c;
};

static kasan_noinline void found(const struct call *call, uintptr_t ip, uintptr_t fp)
{
	struct kasan_undefined bug;

	kasan_clear(&bug);
	bug.file = call->at->file;
	bug.line = call->at->line;
	bug.column = call->at->column;
	bug.add = call->sentence ? ubsan_add_sentence : NULL;
	bug.sentence = call->sentence;
	bug.types = call->types;
	bug.values[0] = call->a;
	bug.values[1] = call->b;
	bug.values[2] = call->c;
	bug.ip = ip;
	bug.fp = fp;
	kasan_report_undefined(call->type, &bug);
}

/* Its members are stored one by one: an initialiser may become a call of memset(). */
#define FOUND(at_, types_, type_, sentence_, a_, b_, c_)            \
	{                                                           \
		struct call call;                                   \
                                                                    \
		call.at = at_;                                      \
		call.types = types_;                                \
		call.type = type_;                                  \
		call.sentence = sentence_;                          \
		call.a = a_;                                        \
		call.b = b_;                                        \
		call.c = c_;                                        \
		found(&call, KASAN_CALLER_IP(), KASAN_CALLER_FP()); \
	}

/* The function @name and its form that does not return. */
#define DEFINE_CALL(name, body, data, ...)                                              \
	void __ubsan_handle_##name(data, ##__VA_ARGS__);                                \
	KASAN_ABI void __ubsan_handle_##name(data, ##__VA_ARGS__)                       \
		body _Noreturn void __ubsan_handle_##name##_abort(data, ##__VA_ARGS__); \
	_Noreturn KASAN_ABI void __ubsan_handle_##name##_abort(data, ##__VA_ARGS__)     \
	{                                                                               \
		body kasan_end_system(UBSAN_ABORT_WHY);                                 \
	}

/* For data that has types after the place, and for data that has not. */
#define TYPED const struct ubsan_data *data
#define PLACE const struct ubsan_place *data
#define A     uintptr_t a
#define B     uintptr_t b
#define DEFINE_1(name, type, sentence) \
	DEFINE_CALL(name, FOUND(&data->at, data->types, type, sentence, a, 0, 0), TYPED, A)
#define DEFINE_2(name, type, sentence) \
	DEFINE_CALL(name, FOUND(&data->at, data->types, type, sentence, a, b, 0), TYPED, A, B)

/* --- Numbers --- */

static const char *overflow_of(const struct ubsan_data *data)
{
	return data->types[0]->info & 1 ? "signed-integer-overflow" : "unsigned-integer-overflow";
}

DEFINE_2(add_overflow, overflow_of(data), "$1A + $2A cannot be represented in type $tA")
DEFINE_2(sub_overflow, overflow_of(data), "$1A - $2A cannot be represented in type $tA")
DEFINE_2(mul_overflow, overflow_of(data), "$1A * $2A cannot be represented in type $tA")
DEFINE_1(negate_overflow, overflow_of(data), "minus $1A cannot be represented in type $tA")

static bool is_minus_one(const struct ubsan_data *data, uintptr_t b)
{
	return ubsan_small(data->types[0], b) == -1;
}

DEFINE_2(divrem_overflow, is_minus_one(data, b) ? "signed-integer-overflow" : "division-by-zero",
	 is_minus_one(data, b) ? "$1A / $2A cannot be represented in type $tA"
			       : "$1A of type $tA is divided by zero")

static const char *shift_of(const struct ubsan_data *data, uintptr_t a, uintptr_t b)
{
	const int by = ubsan_small(data->types[1], b);

	if (by < 0 || (unsigned int)by >= ubsan_bits(data->types[0]))
		return "shift by $2B, but type $tA has $bA bits";
	return ubsan_is_negative(data->types[0], a)
		       ? "$1A << $2B shifts a negative value"
		       : "$1A << $2B cannot be represented in type $tA";
}

DEFINE_2(shift_out_of_bounds, "shift-out-of-bounds", shift_of(data, a, b))
DEFINE_1(out_of_bounds, "array-index-out-of-bounds", "index $1B is outside of an array of type $tA")
DEFINE_1(vla_bound_not_positive, "vla-bound-not-positive",
	 "a variable-length array has the length $1A")
DEFINE_1(load_invalid_value, "invalid-load", "type $tA has no value $1A")
DEFINE_1(float_cast_overflow, "float-cast-overflow", "$1A of type $tA is out of range for type $tB")
DEFINE_2(implicit_conversion, "implicit-conversion", "$1A of type $tA becomes $2B of type $tB")

static const char *builtin_of(const struct ubsan_builtin *data)
{
	return data->kind == 0	 ? "__builtin_ctz() of 0 has no result"
	       : data->kind == 1 ? "__builtin_clz() of 0 has no result"
				 : "what __builtin_assume() was told is false";
}

DEFINE_CALL(invalid_builtin, FOUND(&data->at, NULL, "invalid-builtin", builtin_of(data), 0, 0, 0),
	    const struct ubsan_builtin *data)

/* --- Pointers --- */

static bool is_misaligned(const struct ubsan_type_mismatch *data, uintptr_t addr)
{
	return addr & (((uintptr_t)1 << data->log_alignment) - 1);
}

static const char *mismatch_of(const struct ubsan_type_mismatch *data, uintptr_t addr)
{
	if (!addr)
		return "null-ptr-deref";
	return is_misaligned(data, addr) ? "misaligned-access" : "object-size-mismatch";
}

/* A member is accessed if it is neither of the two. */
#define MISMATCH(rest)                                             \
	(data->access == UBSAN_LOAD    ? "load of type $tA " rest  \
	 : data->access == UBSAN_STORE ? "store of type $tA " rest \
				       : "access to a member of type $tA " rest)

static const char *sentence_of(const struct ubsan_type_mismatch *data, uintptr_t addr)
{
	if (!addr)
		return MISMATCH("through a null pointer");
	if (is_misaligned(data, addr))
		return MISMATCH("at $1p, which is not a multiple of $2u");
	return MISMATCH("at $1p, where its object has too few bytes");
}

/* KASAN's own report of such an access has more to say. */
DEFINE_CALL(
	type_mismatch_v1,
	{
		if (!ubsan_check_misaligned(data, a, KASAN_CALLER_IP(), KASAN_CALLER_FP()))
			FOUND(&data->at, &data->type, mismatch_of(data, a), sentence_of(data, a), a,
			      (uintptr_t)1 << data->log_alignment, 0)
	},
	const struct ubsan_type_mismatch *data, A)

DEFINE_CALL(alignment_assumption,
	    FOUND(data, NULL, "alignment-assumption",
		  c ? "$1p minus $3u was assumed to be a multiple of $2u"
		    : "$1p was assumed to be a multiple of $2u",
		  a, b, c),
	    PLACE, A, B, uintptr_t c)

static const char *arithmetic_of(uintptr_t base, uintptr_t result)
{
	if (!base)
		return result ? "an offset of $2u is added to a null pointer"
			      : "an offset of zero is added to a null pointer";
	return result ? "an offset from $1p wraps around to $2p"
		      : "an offset from $1p gives a null pointer";
}

DEFINE_CALL(pointer_overflow, FOUND(data, NULL, "pointer-overflow", arithmetic_of(a, b), a, b, 0),
	    PLACE, A, B)
DEFINE_1(function_type_mismatch, "function-type-mismatch",
	 "$1S is called as a function of type $tA")

#define NULL_ARGUMENT                                                           \
	FOUND(&data->at, NULL, "null-argument",                                 \
	      "argument $1u is a null pointer, which its declaration excludes", \
	      (uintptr_t)data->index, 0, 0)
DEFINE_CALL(nonnull_arg, NULL_ARGUMENT, const struct ubsan_argument *data)
DEFINE_CALL(nullability_arg, NULL_ARGUMENT, const struct ubsan_argument *data)

/* The data is where the attribute stands, the argument where the function returns. */
#define NULL_RETURN                                  \
	FOUND(((void)data, at), NULL, "null-return", \
	      "the function returns a null pointer, which its declaration excludes", 0, 0, 0)
DEFINE_CALL(nonnull_return_v1, NULL_RETURN, PLACE, const struct ubsan_place *at)
DEFINE_CALL(nullability_return_v1, NULL_RETURN, PLACE, const struct ubsan_place *at)

/* --- Places where no program may come, so that nothing follows the call --- */

#define DEFINE_END(name, type)                                \
	_Noreturn void __ubsan_handle_##name(PLACE);          \
	_Noreturn KASAN_ABI void __ubsan_handle_##name(PLACE) \
	{                                                     \
		FOUND(data, NULL, type, NULL, 0, 0, 0)        \
		kasan_end_system(UBSAN_ABORT_WHY);            \
	}
DEFINE_END(builtin_unreachable, "unreachable-code")
DEFINE_END(missing_return, "missing-return")

#endif /* CONFIG_KASAN_UBSAN */

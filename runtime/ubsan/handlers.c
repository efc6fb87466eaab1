/* SPDX-License-Identifier: MIT */
/*
 * handlers.c - the functions that code built with -fsanitize=undefined (integer, nullability, float-divide-by-zero, ...)
 * calls when a check has failed: __ubsan_handle_* and, for code built with -fno-sanitize-recover, the same with _abort.
 *
 * Each chooses the type of the bug and the sentence that says which values made it. The sentence is built when the
 * report is captured: a bug that is ignored costs nothing, and the caller's stack needs no room for text.
 *
 * C++'s checks of dynamic types (vptr) need the compiler's type information, which freestanding C++ does not have:
 * __ubsan_handle_dynamic_type_cache_miss() is not here.
 */
#include "ubsan.h"

#ifdef CONFIG_UBSAN

/* Appends the sentence about a bug; its data and values are those of the function that was called. */
typedef void add_fn(struct kasan_line *line, const struct kasan_undefined *bug);

static kasan_noinline void found(const char *type, const struct ubsan_place *at, add_fn *add,
				 const void *data, uintptr_t a, uintptr_t b, uintptr_t ip,
				 uintptr_t fp)
{
	struct kasan_undefined bug;

	kasan_clear(&bug);
	bug.file = at->file;
	bug.line = at->line;
	bug.column = at->column;
	bug.add = add;
	bug.data = data;
	bug.values[0] = a;
	bug.values[1] = b;
	kasan_report_undefined(type, &bug, ip, fp);
}

/* The function @name and its form that does not return, for data of @type. */
#define DEFINE(name, type, ...)                                                           \
	void __ubsan_handle_##name(type *data, ##__VA_ARGS__);                            \
	KASAN_ABI void __ubsan_handle_##name(type *data, ##__VA_ARGS__)                   \
		BODY_##name _Noreturn void __ubsan_handle_##name##_abort(type *data,      \
									 ##__VA_ARGS__);  \
	_Noreturn KASAN_ABI void __ubsan_handle_##name##_abort(type *data, ##__VA_ARGS__) \
	{                                                                                 \
		BODY_##name kasan_port_panic(UBSAN_ABORT_WHY);                            \
	}

#define FOUND(type, at, add, a, b)                                                      \
	{                                                                               \
		found(type, at, add, data, a, b, KASAN_CALLER_IP(), KASAN_CALLER_FP()); \
	}

/* --- Integers --- */

static void add_operation(struct kasan_line *line, const struct kasan_undefined *bug, char sign)
{
	const struct ubsan_overflow *data = bug->data;

	ubsan_add_value(line, data->type, bug->values[0]);
	kasan_line_add(line, " %c ", sign);
	ubsan_add_value(line, data->type, bug->values[1]);
	kasan_line_add(line, " cannot be represented in type ");
	ubsan_add_type(line, data->type);
}

static void add_sum(struct kasan_line *line, const struct kasan_undefined *bug)
{
	add_operation(line, bug, '+');
}

static void add_difference(struct kasan_line *line, const struct kasan_undefined *bug)
{
	add_operation(line, bug, '-');
}

static void add_product(struct kasan_line *line, const struct kasan_undefined *bug)
{
	add_operation(line, bug, '*');
}

static void add_negation(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_overflow *data = bug->data;

	kasan_line_add(line, "minus ");
	ubsan_add_value(line, data->type, bug->values[0]);
	kasan_line_add(line, " cannot be represented in type ");
	ubsan_add_type(line, data->type);
}

static const char *overflow_of(const struct ubsan_type *type)
{
	return type->info & 1 ? "signed-integer-overflow" : "unsigned-integer-overflow";
}

#define BODY_add_overflow    FOUND(overflow_of(data->type), &data->at, add_sum, a, b)
#define BODY_sub_overflow    FOUND(overflow_of(data->type), &data->at, add_difference, a, b)
#define BODY_mul_overflow    FOUND(overflow_of(data->type), &data->at, add_product, a, b)
#define BODY_negate_overflow FOUND(overflow_of(data->type), &data->at, add_negation, a, 0)
DEFINE(add_overflow, const struct ubsan_overflow, uintptr_t a, uintptr_t b)
DEFINE(sub_overflow, const struct ubsan_overflow, uintptr_t a, uintptr_t b)
DEFINE(mul_overflow, const struct ubsan_overflow, uintptr_t a, uintptr_t b)
DEFINE(negate_overflow, const struct ubsan_overflow, uintptr_t a)

static bool is_overflow(const struct ubsan_type *type, uintptr_t divisor)
{
	return ubsan_is(type, divisor, -1);
}

static void add_quotient(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_overflow *data = bug->data;

	if (is_overflow(data->type, bug->values[1])) {
		add_operation(line, bug, '/');
		return;
	}
	ubsan_add_value(line, data->type, bug->values[0]);
	kasan_line_add(line, " of type ");
	ubsan_add_type(line, data->type);
	kasan_line_add(line, " is divided by zero");
}

#define BODY_divrem_overflow                                                               \
	FOUND(is_overflow(data->type, b) ? "signed-integer-overflow" : "division-by-zero", \
	      &data->at, add_quotient, a, b)
DEFINE(divrem_overflow, const struct ubsan_overflow, uintptr_t a, uintptr_t b)

static void add_shift(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_two_types *data = bug->data;
	const unsigned int bits = ubsan_bits(data->first);
	const bool possible = ubsan_below(data->second, bug->values[1], bits);

	if (!possible) {
		kasan_line_add(line, "shift by ");
		ubsan_add_value(line, data->second, bug->values[1]);
		kasan_line_add(line, ", but type ");
		ubsan_add_type(line, data->first);
		kasan_line_add(line, " has %u bits", bits);
		return;
	}
	ubsan_add_value(line, data->first, bug->values[0]);
	kasan_line_add(line, " << ");
	ubsan_add_value(line, data->second, bug->values[1]);
	if (ubsan_is_negative(data->first, bug->values[0])) {
		kasan_line_add(line, " shifts a negative value to the left");
		return;
	}
	kasan_line_add(line, " cannot be represented in type ");
	ubsan_add_type(line, data->first);
}

#define BODY_shift_out_of_bounds FOUND("shift-out-of-bounds", &data->at, add_shift, a, b)
DEFINE(shift_out_of_bounds, const struct ubsan_two_types, uintptr_t a, uintptr_t b)

static void add_index(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_two_types *data = bug->data;

	kasan_line_add(line, "index ");
	ubsan_add_value(line, data->second, bug->values[0]);
	kasan_line_add(line, " is outside of an array of type ");
	ubsan_add_type(line, data->first);
}

#define BODY_out_of_bounds FOUND("array-index-out-of-bounds", &data->at, add_index, a, 0)
DEFINE(out_of_bounds, const struct ubsan_two_types, uintptr_t a)

static void add_length(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_overflow *data = bug->data;

	kasan_line_add(line, "a variable-length array has the length ");
	ubsan_add_value(line, data->type, bug->values[0]);
}

#define BODY_vla_bound_not_positive FOUND("vla-bound-not-positive", &data->at, add_length, a, 0)
DEFINE(vla_bound_not_positive, const struct ubsan_overflow, uintptr_t a)

static void add_invalid(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_overflow *data = bug->data;

	kasan_line_add(line, "type ");
	ubsan_add_type(line, data->type);
	kasan_line_add(line, " has no value ");
	ubsan_add_value(line, data->type, bug->values[0]);
}

#define BODY_load_invalid_value FOUND("invalid-load", &data->at, add_invalid, a, 0)
DEFINE(load_invalid_value, const struct ubsan_overflow, uintptr_t a)

static void add_float_cast(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_two_types *data = bug->data;

	ubsan_add_value(line, data->first, bug->values[0]);
	kasan_line_add(line, " of type ");
	ubsan_add_type(line, data->first);
	kasan_line_add(line, " is out of range for type ");
	ubsan_add_type(line, data->second);
}

#define BODY_float_cast_overflow FOUND("float-cast-overflow", &data->at, add_float_cast, a, 0)
DEFINE(float_cast_overflow, const struct ubsan_two_types, uintptr_t a)

static void add_conversion(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_conversion *data = bug->data;

	ubsan_add_value(line, data->from, bug->values[0]);
	kasan_line_add(line, " of type ");
	ubsan_add_type(line, data->from);
	kasan_line_add(line, data->kind == UBSAN_SIGN ? " changes its sign to " : " becomes ");
	ubsan_add_value(line, data->to, bug->values[1]);
	kasan_line_add(line, " of type ");
	ubsan_add_type(line, data->to);
}

#define BODY_implicit_conversion FOUND("implicit-conversion", &data->at, add_conversion, a, b)
DEFINE(implicit_conversion, const struct ubsan_conversion, uintptr_t a, uintptr_t b)

static void add_builtin(struct kasan_line *line, const struct kasan_undefined *bug)
{
	static const char *const sentences[] = {
		"__builtin_ctz() of 0 has no result",
		"__builtin_clz() of 0 has no result",
		"what __builtin_assume() was told is false",
	};
	const struct ubsan_builtin *data = bug->data;

	kasan_line_add(line, "%s", sentences[data->kind < 2 ? data->kind : 2]);
}

#define BODY_invalid_builtin FOUND("invalid-builtin", &data->at, add_builtin, 0, 0)
DEFINE(invalid_builtin, const struct ubsan_builtin)

/* --- Pointers --- */

static const char *mismatch_of(const struct ubsan_type_mismatch *data, uintptr_t addr)
{
	if (!addr)
		return "null-ptr-deref";
	return addr & (((uintptr_t)1 << (data->log_alignment & 31)) - 1) ? "misaligned-access"
									 : "object-size-mismatch";
}

static void add_mismatch(struct kasan_line *line, const struct kasan_undefined *bug)
{
	static const char *const uses[] = {
		"load of",	  "store of",	     "reference to",	"member access in",
		"member call on", "construction of", "downcast to",	"downcast to",
		"upcast of",	  "virtual cast of", "_Nonnull use of", "dynamic use of",
	};
	const struct ubsan_type_mismatch *data = bug->data;
	const uintptr_t addr = bug->values[0];
	const uint8_t use = data->access;

	kasan_line_add(line, "%s type ",
		       use < sizeof(uses) / sizeof(uses[0]) ? uses[use] : "use of");
	ubsan_add_type(line, data->type);
	if (!addr)
		kasan_line_add(line, " through a null pointer");
	else if (addr & (((uintptr_t)1 << (data->log_alignment & 31)) - 1))
		kasan_line_add(line, " at %p, which is not a multiple of %lu", (const void *)addr,
			       1UL << (data->log_alignment & 31));
	else
		kasan_line_add(line, " at %p, where its object has too few bytes",
			       (const void *)addr);
}

/* KASAN's own report of such an access has more to say. */
#define BODY_type_mismatch_v1                                                               \
	{                                                                                   \
		if (!ubsan_check_misaligned(data, a, KASAN_CALLER_IP(), KASAN_CALLER_FP())) \
			FOUND(mismatch_of(data, a), &data->at, add_mismatch, a, 0)          \
	}
DEFINE(type_mismatch_v1, const struct ubsan_type_mismatch, uintptr_t a)

static void add_alignment(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const uintptr_t *values = bug->data;

	kasan_line_add(line, "%p", (const void *)values[0]);
	if (values[2])
		kasan_line_add(line, " - %lu", (unsigned long)values[2]);
	kasan_line_add(line, " was assumed to be a multiple of %lu", (unsigned long)values[1]);
}

#define BODY_alignment_assumption                                                     \
	{                                                                             \
		const uintptr_t values[] = {a, alignment, offset};                    \
                                                                                      \
		found("alignment-assumption", &data->at, add_alignment, values, 0, 0, \
		      KASAN_CALLER_IP(), KASAN_CALLER_FP());                          \
	}
DEFINE(alignment_assumption, const struct ubsan_assumption, uintptr_t a, uintptr_t alignment,
       uintptr_t offset)

static void add_arithmetic(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const uintptr_t base = bug->values[0], result = bug->values[1];

	if (!base && !result)
		kasan_line_add(line, "an offset of zero is added to a null pointer");
	else if (!base)
		kasan_line_add(line, "an offset of 0x%lx is added to a null pointer",
			       (unsigned long)result);
	else if (!result)
		kasan_line_add(line, "an offset from %p gives a null pointer", (const void *)base);
	else
		kasan_line_add(line, "an offset from %p wraps around to %p", (const void *)base,
			       (const void *)result);
}

#define BODY_pointer_overflow FOUND("pointer-overflow", data, add_arithmetic, a, b)
DEFINE(pointer_overflow, const struct ubsan_place, uintptr_t a, uintptr_t b)

static void add_call(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_overflow *data = bug->data;

	kasan_line_add(line, "%pS is called as a function of type ", (const void *)bug->values[0]);
	ubsan_add_type(line, data->type);
}

#define BODY_function_type_mismatch FOUND("function-type-mismatch", &data->at, add_call, a, 0)
DEFINE(function_type_mismatch, const struct ubsan_overflow, uintptr_t a)

static void add_null_argument(struct kasan_line *line, const struct kasan_undefined *bug)
{
	const struct ubsan_argument *data = bug->data;

	kasan_line_add(line, "argument %d is a null pointer, which its declaration excludes",
		       data->index);
}

#define BODY_nonnull_arg     FOUND("null-argument", &data->at, add_null_argument, 0, 0)
#define BODY_nullability_arg FOUND("null-argument", &data->at, add_null_argument, 0, 0)
DEFINE(nonnull_arg, const struct ubsan_argument)
DEFINE(nullability_arg, const struct ubsan_argument)

static void add_null_return(struct kasan_line *line, const struct kasan_undefined *bug)
{
	(void)bug;
	kasan_line_add(line, "the function returns a null pointer, which its declaration excludes");
}

/* The data is where the attribute stands, the argument where the function returns. */
#define BODY_nonnull_return_v1	   FOUND("null-return", at, add_null_return, 0, 0)
#define BODY_nullability_return_v1 FOUND("null-return", at, add_null_return, 0, 0)
DEFINE(nonnull_return_v1, const struct ubsan_place, const struct ubsan_place *at)
DEFINE(nullability_return_v1, const struct ubsan_place, const struct ubsan_place *at)

/* --- Places where no program may come, so that nothing follows the call --- */

#define DEFINE_END(name, type)                                                         \
	_Noreturn void __ubsan_handle_##name(const struct ubsan_place *data);          \
	_Noreturn KASAN_ABI void __ubsan_handle_##name(const struct ubsan_place *data) \
	{                                                                              \
		FOUND(type, data, NULL, 0, 0)                                          \
		kasan_port_panic(UBSAN_ABORT_WHY);                                     \
	}
DEFINE_END(builtin_unreachable, "unreachable-code")
DEFINE_END(missing_return, "missing-return")

#endif /* CONFIG_UBSAN */

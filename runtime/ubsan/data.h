/* SPDX-License-Identifier: MIT */
/*
 * data.h - the data that compilers pass to the functions of UBSan, as they lay it out, and how its values become text.
 *
 * Clang 19 and 22 and GCC 12 agree on all of it. Everything is constant, but lies in memory that a bug may have changed;
 * so names are copied with kasan_copy_string(), and values are read if they can be.
 */
#ifndef KASAN_UBSAN_DATA_H
#define KASAN_UBSAN_DATA_H

#include "../report/captured.h"
#include "../report/check.h"

/** struct ubsan_type - @kind: UBSAN_*. @info: integer: twice the logarithm of its bits, plus its sign; float: its bits.
 *  @name: in quotes, as users know it. After that of a _BitInt comes the exact number of its bits. */
struct ubsan_type {
	uint16_t kind;
	uint16_t info;
	char name[];
};

#define UBSAN_INTEGER 0
#define UBSAN_FLOAT   1
#define UBSAN_BITINT  2 /* Clang 22 */

struct ubsan_place {
	const char *file;
	uint32_t line, column;
};

/* --- What the functions get. Those that are not here have only the place --- */

/** struct ubsan_data - @types: one or two. More may follow, which the sentences do not need. */
struct ubsan_data {
	struct ubsan_place at;
	const struct ubsan_type *types[2];
};

struct ubsan_type_mismatch {
	struct ubsan_place at;
	const struct ubsan_type *type;
	uint8_t log_alignment;
	uint8_t access; /* UBSAN_LOAD, UBSAN_STORE, or what else is done with the pointer */
};

#define UBSAN_LOAD  0
#define UBSAN_STORE 1

struct ubsan_argument {
	struct ubsan_place at, declared;
	int32_t index;
};

struct ubsan_builtin {
	struct ubsan_place at;
	uint8_t kind;
};

#if (defined(CONFIG_KASAN_GENERIC) && !defined(KASAN_UBSAN_ALONE)) || defined(CONFIG_KASAN_SW_TAGS)
#define UBSAN_KNOWS_MEMORY 1
/** ubsan_check_misaligned() - alignment.c: report the misaligned access if KASAN's inline check has missed it. Return:
 *  true if it was bad. */
bool ubsan_check_misaligned(const struct ubsan_type_mismatch *data, uintptr_t addr, uintptr_t ip,
			    uintptr_t fp);
#else
#define ubsan_check_misaligned(data, addr, ip, fp) \
	((void)(data), (void)(addr), (void)(ip), (void)(fp), false)
#endif

/* --- values.c --- */

/**
 * ubsan_add_sentence() - append the sentence of @bug, with what stands for two letters after each '$'
 *
 * "tA", "tB": the name of its first or second type; "bA": the bits of that; "1A": its first value as a number of its
 * first type; "1p", "1u", "1S": as an address, an unsigned number, a function; and so on.
 */
struct kasan_undefined;
void ubsan_add_sentence(struct kasan_line *line, const struct kasan_undefined *bug);

/** ubsan_bits() - Return: the bits of an integer type. */
unsigned int ubsan_bits(const struct ubsan_type *type);

/** ubsan_is_negative() - is the integer @value of @type below zero? */
bool ubsan_is_negative(const struct ubsan_type *type, uintptr_t value);

/** ubsan_small() - Return: the integer @value of @type if it has at most 16 bits and a sign, else UBSAN_LARGE. */
int ubsan_small(const struct ubsan_type *type, uintptr_t value);
#define UBSAN_LARGE (1 << 16)

/* --- trap.c --- */

/** ubsan_check_name() - Return: the type of a bug that Clang's check of this number finds, or "undefined-behaviour" if
 *  the number is not known. */
const char *ubsan_check_name(unsigned int check);

#define UBSAN_ABORT_WHY "UBSAN: undefined behaviour in code built without recovery"

#endif /* KASAN_UBSAN_DATA_H */

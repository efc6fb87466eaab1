/* SPDX-License-Identifier: MIT */
/*
 * test_abi.c - every symbol of the compilers' ABI exists, can be called, and does what its name says.
 *
 * If a symbol is missing, the program does not link; abi_symbols.py lists all missing ones.
 */
#include <string.h>
#include <sys/mman.h>

#include "../../runtime/base/base.h"
#include "abi.h"
#include "unit.h"

static char *arena; /* 4 KiB: the first 1000 bytes accessible */

static void set_up(void)
{
	arena = unit_watched(8192);
	kasan_poison(arena + 1000, 8192 - 1000, KASAN_SLAB_REDZONE);
}

static void bad_access(const char *name, size_t size, bool is_write, uintptr_t addr)
{
	CHECKF(unit_reports() == 1, "%s: %u reports", name, unit_reports());
	CHECKF(unit_last()->size == size, "%s: size %zu", name, unit_last()->size);
	CHECKF(unit_last()->addr == addr, "%s: address", name);
	CHECKF(unit_last()->is_write == is_write, "%s: reported as a %s", name,
	       unit_last()->is_write ? "write" : "read");
	CHECKF(!unit_last()->is_free, "%s: reported as a free", name);
}

/* Good memory gives no report. Bad memory gives one report with this size and direction, and the call returns. */
static void noabort_functions(void)
{
	uintptr_t good, bad;

	set_up();
	good = (uintptr_t)arena + 512;
	bad = (uintptr_t)arena + 2048;
#define ABI_ACCESS(name, size, is_write) \
	EXPECT_NO_REPORT(name(good));    \
	unit_clear();                    \
	name(bad);                       \
	bad_access(#name, size, is_write, bad);
#define ABI_SIZED(name, is_write)         \
	EXPECT_NO_REPORT(name(good, 37)); \
	unit_clear();                     \
	name(bad, 37);                    \
	bad_access(#name, 37, is_write, bad);
#define ABI_REPORT(name, size, is_write) \
	unit_clear();                    \
	name(bad);                       \
	bad_access(#name, size, is_write, bad);
#define ABI_REPORT_N(name, is_write) \
	unit_clear();                \
	name(bad, 37);               \
	bad_access(#name, 37, is_write, bad);
#define ABI_ACCESS_ABORT(name, size, is_write)
#define ABI_SIZED_ABORT(name, is_write)
#define ABI_REPORT_ABORT(name, size, is_write)
#define ABI_REPORT_N_ABORT(name, is_write)
#define ABI_OTHER(name)
#include "abi_symbols.def"
}

/* The same without _noabort: these functions must not return, because compiled code does not expect it. */
static void aborting_functions(void)
{
	uintptr_t good, bad;

	set_up();
	good = (uintptr_t)arena + 512;
	bad = (uintptr_t)arena + 2048;
#define ABI_ACCESS(name, size, is_write)
#define ABI_SIZED(name, is_write)
#define ABI_REPORT(name, size, is_write)
#define ABI_REPORT_N(name, is_write)
#define ABI_ACCESS_ABORT(name, size, is_write) \
	EXPECT_NO_REPORT(name(good));          \
	unit_clear();                          \
	EXPECT_PANIC(name(bad));               \
	bad_access(#name, size, is_write, bad);
#define ABI_SIZED_ABORT(name, is_write)   \
	EXPECT_NO_REPORT(name(good, 37)); \
	unit_clear();                     \
	EXPECT_PANIC(name(bad, 37));      \
	bad_access(#name, 37, is_write, bad);
#define ABI_REPORT_ABORT(name, size, is_write) \
	unit_clear();                          \
	EXPECT_PANIC(name(bad));               \
	bad_access(#name, size, is_write, bad);
#define ABI_REPORT_N_ABORT(name, is_write) \
	unit_clear();                      \
	EXPECT_PANIC(name(bad, 37));       \
	bad_access(#name, 37, is_write, bad);
#define ABI_OTHER(name)
#include "abi_symbols.def"
}

static void set_shadow_functions(void)
{
	static const struct {
		void (*set)(uintptr_t shadow, size_t size);
		uint8_t value;
	} fns[] = {
		{__asan_set_shadow_00, 0x00}, {__asan_set_shadow_01, 0x01},
		{__asan_set_shadow_02, 0x02}, {__asan_set_shadow_03, 0x03},
		{__asan_set_shadow_04, 0x04}, {__asan_set_shadow_05, 0x05},
		{__asan_set_shadow_06, 0x06}, {__asan_set_shadow_07, 0x07},
		{__asan_set_shadow_f1, 0xf1}, {__asan_set_shadow_f2, 0xf2},
		{__asan_set_shadow_f3, 0xf3}, {__asan_set_shadow_f5, 0xf5},
		{__asan_set_shadow_f8, 0xf8},
	};
	uint8_t *shadow;

	set_up();
	shadow = kasan_shadow_of(arena);
	for (size_t f = 0; f < sizeof(fns) / sizeof(fns[0]); f++)
		for (size_t size = 0; size < 70; size++) {
			memset(shadow, 0xaa, 128);
			fns[f].set((uintptr_t)(shadow + 16), size);
			for (size_t i = 0; i < 128; i++)
				CHECK_EQ(shadow[i], i >= 16 && i < 16 + size ? fns[f].value : 0xaa);
		}
}

/* GCC's use-after-scope: a variable followed by its redzone, as the frame's prologue lays them out. */
static void stack_memory_functions(void)
{
	for (size_t size = 1; size <= 64; size++) {
		size_t granules = (size + 7) / 8;
		char *variable;

		arena = unit_watched(8192);
		variable = arena + 64;
		kasan_poison(arena, 256, KASAN_STACK_MID);
		kasan_unpoison(variable, size);
		__asan_poison_stack_memory((uintptr_t)variable, size);
		for (size_t i = 0; i < size; i++)
			CHECKF(!kasan_byte_accessible(variable + i),
			       "%zu bytes: byte %zu is accessible", size, i);
		for (size_t g = 0; g < granules; g++)
			CHECK_EQ(*kasan_shadow_of(variable + g * 8), KASAN_STACK_AFTER_SCOPE);
		CHECK_EQ(*kasan_shadow_of(variable - 8), KASAN_STACK_MID);
		CHECK_EQ(*kasan_shadow_of(variable + granules * 8), KASAN_STACK_MID);
		__asan_unpoison_stack_memory((uintptr_t)variable, size);
		CHECK_EQ(kasan_first_bad((uintptr_t)variable, size + 1),
			 (uintptr_t)variable + size);
	}
}

static void alloca_redzones(void)
{
	for (size_t size = 1; size <= 100; size++) {
		/* The compiler reserves 32 bytes before the object, and 32 bytes after its rounded-up end. */
		char *object;
		size_t rounded = (size + 31) & ~31UL;

		arena = unit_watched(8192);
		object = arena + 1024;
		__asan_alloca_poison((uintptr_t)object, size);
		for (size_t i = 0; i < size; i++)
			CHECK(kasan_byte_accessible(object + i));
		for (size_t i = size; i < rounded + 32; i++)
			CHECKF(!kasan_byte_accessible(object + i),
			       "alloca(%zu): byte %zu is accessible", size, i);
		for (size_t i = 1; i <= 32; i++)
			CHECK(!kasan_byte_accessible(object - i));
		CHECK(kasan_byte_accessible(object - 33));
		CHECK(kasan_byte_accessible(object + rounded + 32));
		CHECK_EQ(*kasan_shadow_of(object - 8), KASAN_ALLOCA_LEFT);
		CHECK_EQ(*kasan_shadow_of(object + rounded), KASAN_ALLOCA_RIGHT);
		__asan_allocas_unpoison((uintptr_t)object - 32, (uintptr_t)object + rounded + 32);
		CHECK_EQ(kasan_first_bad((uintptr_t)object - 64, rounded + 128), 0);
	}
	/* On a path without alloca() a function passes 0: nothing is unpoisoned. */
	arena = unit_watched(8192);
	kasan_poison(arena, 4096, KASAN_SLAB_REDZONE);
	__asan_allocas_unpoison(0, (uintptr_t)arena + 4096);
	CHECK(!kasan_byte_accessible(arena));
}

/* --- Memory functions: the operation, and which half of a bad call is reported ---------------- */

typedef void *(*copy_fn)(void *, const void *, size_t);
typedef void *(*set_fn)(void *, int, size_t);

static void check_copy(const char *name, copy_fn copy)
{
	static const char text[] = "freestanding";

	set_up();
	memset(arena, 0, 1000);
	unit_clear();
	CHECKF(copy(arena, text, sizeof(text)) == arena, "%s: return value", name);
	CHECKF(!strcmp(arena, text), "%s: contents", name);
	CHECK_EQ(unit_reports(), 0);
	/* Bad source: a read is reported. */
	unit_clear();
	copy(arena + 100, arena + 996, 8);
	CHECKF(unit_reports() == 1 && !unit_last()->is_write, "%s: bad source", name);
	CHECK_EQ(unit_last()->addr, (uintptr_t)arena + 996);
	CHECK_EQ(unit_last()->size, 8);
	/* Bad destination: a write is reported, and nothing is overwritten. */
	arena[1000] = 'x';
	unit_clear();
	copy(arena + 996, arena, 8);
	CHECKF(unit_reports() == 1 && unit_last()->is_write, "%s: bad destination", name);
	CHECK_EQ(unit_last()->addr, (uintptr_t)arena + 996);
	CHECKF(arena[1000] == 'x', "%s: wrote after its report", name);
	/* A size of 0 is not an access, even with bad pointers. */
	EXPECT_NO_REPORT(copy(arena + 2000, arena + 3000, 0));
	EXPECT_NO_REPORT(copy(NULL, NULL, 0));
	/* A negative number as the length. */
	EXPECT_REPORT("out-of-bounds", copy(arena, arena + 100, (size_t)-8));
}

static void check_set(const char *name, set_fn set)
{
	set_up();
	unit_clear();
	CHECKF(set(arena + 3, 'z', 20) == arena + 3, "%s: return value", name);
	CHECK(arena[3] == 'z' && arena[22] == 'z' && arena[23] != 'z');
	CHECK_EQ(unit_reports(), 0);
	arena[1000] = 'x';
	unit_clear();
	set(arena + 990, 0, 11);
	CHECKF(unit_reports() == 1 && unit_last()->is_write && unit_last()->size == 11,
	       "%s: bad destination", name);
	CHECKF(arena[1000] == 'x', "%s: wrote after its report", name);
	EXPECT_REPORT("out-of-bounds", set(arena, 0, (size_t)-1));
	EXPECT_NO_REPORT(set(NULL, 0, 0));
}

static void memory_functions(void)
{
	/* Called through volatile pointers, so that the compiler does not expand the calls itself. */
	static const struct {
		const char *name;
		copy_fn fn;
	} copies[] = {
		{"memcpy", memcpy},
		{"memmove", memmove},
		{"__asan_memcpy", __asan_memcpy},
		{"__asan_memmove", __asan_memmove},
	};
	static const struct {
		const char *name;
		set_fn fn;
	} sets[] = {{"memset", memset}, {"__asan_memset", __asan_memset}};

	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		copy_fn volatile fn = copies[i].fn;

		check_copy(copies[i].name, fn);
	}
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		set_fn volatile fn = sets[i].fn;

		check_set(sets[i].name, fn);
	}
}

/* Compare the primitives with a loop over bytes: all alignments and lengths, and overlaps. */
static void memory_primitives(void)
{
	static unsigned char a[400], b[400], want[400];

	for (size_t len = 0; len <= 130; len += len < 40 ? 1 : 13)
		for (size_t from = 0; from < 17; from += 1 + from / 9)
			for (size_t to = 0; to < 17; to++) {
				for (size_t i = 0; i < sizeof(a); i++)
					a[i] = b[i] = want[i] = (unsigned char)unit_random();
				for (size_t i = 0; i < len; i++)
					want[100 + to + i] = a[from + i];
				__memcpy(b + 100 + to, a + from, len);
				CHECK(!memcmp(b, want, sizeof(b)));

				/* Overlapping, in both directions. */
				for (size_t i = 0; i < sizeof(a); i++)
					want[i] = a[i];
				for (size_t i = 0; i < len; i++)
					want[100 + to + i] = a[104 + from + i];
				__memcpy(b, a, sizeof(b));
				__memmove(b + 100 + to, b + 104 + from, len);
				CHECK(!memcmp(b, want, sizeof(b)));
				for (size_t i = 0; i < sizeof(a); i++)
					want[i] = a[i];
				for (size_t i = 0; i < len; i++)
					want[108 + to + i] = a[100 + from + i];
				__memcpy(b, a, sizeof(b));
				__memmove(b + 108 + to, b + 100 + from, len);
				CHECK(!memcmp(b, want, sizeof(b)));

				for (size_t i = 0; i < sizeof(a); i++)
					want[i] = a[i];
				for (size_t i = 0; i < len; i++)
					want[50 + to + i] = 0x5a;
				__memcpy(b, a, sizeof(b));
				__memset(b + 50 + to, 0x15a, len);
				CHECK(!memcmp(b, want, sizeof(b)));
			}
}

/* Kernels and firmware have RAM there. Linux maps it for root alone. */
static void memory_at_address_0(void)
{
	char *const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (page)
		unit_skip("no memory at address 0 without root, or below vm.mmap_min_addr");
	for (unsigned int at = 0; at <= 130; at++) {
		for (unsigned int n = 0; n <= 200; n++) {
			char *volatile p = page;

			for (unsigned int i = 0; i < 400; i++)
				p[i] = 1;
			CHECK(__memset(page + at, 7, n) == page + at);
			for (unsigned int i = 0; i < 400; i++)
				CHECKF(p[i] == (i - at < n ? 7 : 1), "byte %u of %u at %u", i, n,
				       at);
		}
	}
	munmap(page, 4096);
}

/* --- The rest --------------------------------------------------------------------------------- */

static void dynamic_shadow_address(void)
{
#ifdef CONFIG_KASAN_SHADOW_PIECES
	unit_skip("there is no address for all pieces");
#endif
	set_up();
	CHECK_EQ((uintptr_t)kasan_shadow_of(arena),
		 ((uintptr_t)arena >> 3) + __asan_shadow_memory_dynamic_address);
}

/* Compiled code calls this before a function that does not return: the poison of its frames must go. */
__attribute__((noinline)) static void leave_poison(char *frame, size_t size)
{
	kasan_poison(frame, size, KASAN_STACK_MID);
	__asan_handle_no_return();
}

static void handle_no_return(void)
{
#ifdef CONFIG_KASAN_SHADOW_FULL
	char frame[256] __attribute__((aligned(32)));

	leave_poison(frame, sizeof(frame));
	CHECK_EQ(kasan_first_bad((uintptr_t)frame, sizeof(frame)), 0);
#else
	/* The process's stack is outside all windows: the call must still be safe. */
	__asan_handle_no_return();
#endif
}

/* GCC's fake stacks: a kernel has none, so the runtime must tell a function to use its own frame. */
static void no_fake_stacks(void)
{
	CHECK_EQ(__asan_option_detect_stack_use_after_return, 0);
#define ABI_FAKE_STACK(n)                                \
	CHECK_EQ(__asan_stack_malloc_##n(64UL << n), 0); \
	__asan_stack_free_##n(0, 64UL << n);
	FAKE_STACK_CLASSES(ABI_FAKE_STACK)
#undef ABI_FAKE_STACK
	CHECK_EQ(unit_reports(), 0);
}

/* Whatever the pointers are: a program that is compiled with these checks runs. */
static void pairs_of_pointers(void)
{
	set_up();
	EXPECT_NO_REPORT(__sanitizer_ptr_cmp((uintptr_t)arena, (uintptr_t)&arena));
	EXPECT_NO_REPORT(__sanitizer_ptr_sub(0, (uintptr_t)arena + 2000));
}

static void absurd_sizes(void)
{
	set_up();
	EXPECT_REPORT("out-of-bounds", __asan_loadN_noabort((uintptr_t)arena, (size_t)-1));
	CHECK(!unit_last()->is_write);
	EXPECT_REPORT("out-of-bounds", __asan_storeN_noabort((uintptr_t)arena, (size_t)1 << 63));
	CHECK(unit_last()->is_write);
	EXPECT_REPORT("out-of-bounds", __asan_loadN_noabort(UINTPTR_MAX - 3, 8));
}

/* How many of the 8 bytes of @addr's granule are accessible, of memory that ends at @end. */
static size_t good_bytes(uintptr_t addr, uintptr_t end)
{
	uintptr_t granule = addr & ~(uintptr_t)7;

	if (granule >= end)
		return 0;
	return end - granule < 8 ? end - granule : 8;
}

/* What the compilers' inline check of an access finds: they look at the first granule, for 16 bytes at two. */
static bool inline_check_fails(uintptr_t addr, size_t size, uintptr_t end)
{
	size_t good = good_bytes(addr, end);

	if (size == 16)
		return good != 8 || good_bytes(addr + 8, end) != 8;
	return good != 8 && (addr & 7) + size - 1 >= good;
}

/* An access has one report: from the inline check, or else from this. */
static void misaligned_accesses(void)
{
	static const struct {
		uint16_t kind, info;
		uint8_t log_alignment;
		size_t size;
	} types[] = {{0, 4 << 1, 1, 2},	 {0, 5 << 1 | 1, 2, 4}, {0, 6 << 1, 3, 8},
		     {0, 7 << 1, 4, 16}, {1, 32, 2, 4},		{1, 64, 3, 8},
		     {1, 128, 4, 16},	 {0xffff, 0, 3, 8},	{0xffff, 0, 2, 4}};
	uintptr_t end, addr;

	set_up();
	for (end = (uintptr_t)arena + 1000; end <= (uintptr_t)arena + 1003; end += 3) {
		kasan_unpoison(arena, end - (uintptr_t)arena);
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
			const size_t size = types[i].size;
			struct {
				uint16_t kind, info;
				char name[8];
			} type = {types[i].kind, types[i].info, "'t'"};
			struct {
				const char *file;
				uint32_t line, column;
				const void *type;
				uint8_t log_alignment, access;
			} data = {"a.c", 1, 2, &type, types[i].log_alignment, 0};

			for (addr = end - 24; addr < end + 24; addr++) {
				bool expected =
					addr + size > end && !inline_check_fails(addr, size, end);

				data.access = addr & 1;
				unit_clear();
				__ubsan_handle_type_mismatch_v1(&data, addr);
				CHECKF(unit_reports() == expected,
				       "size %zu, %td bytes from the end: %u reports", size,
				       (ptrdiff_t)(addr - end), unit_reports());
				if (expected)
					bad_access("type_mismatch", size, data.access, addr);
				/* A member of a structure: what is accessed comes later. */
				data.access = 3;
				EXPECT_NO_REPORT(__ubsan_handle_type_mismatch_v1(&data, addr));
			}
		}
	}
	EXPECT_NO_REPORT(__ubsan_handle_alignment_assumption(NULL, end, 64, 0));
}

UNIT_MAIN(misaligned_accesses, noabort_functions, aborting_functions, set_shadow_functions,
	  stack_memory_functions, alloca_redzones, memory_functions, memory_primitives,
	  memory_at_address_0, dynamic_shadow_address, handle_no_return, no_fake_stacks,
	  pairs_of_pointers, absurd_sizes)

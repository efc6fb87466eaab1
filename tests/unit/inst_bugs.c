/* SPDX-License-Identifier: MIT */
/*
 * inst_bugs.c - real bugs in instrumented code. The compiler under test compiles this file with
 * -fsanitize=kernel-address, inline and outline. Each bug must give one report with the right type, size, direction and
 * function, and the legal access beside it must give none.
 *
 * Indices come from volatile variables, because a compiler that sees the bug may turn it into anything.
 */
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include "unit.h"

#define NOINLINE __attribute__((noinline))

static volatile int zero;
static volatile int thirteen = 13;
static char *volatile pointer;
static volatile long sink;

static bool names(const char *function)
{
	char title[128];

	strcpy(title, "BUG: KASAN: ");
	strcat(title, unit_last()->bug_type);
	strcat(title, " in ");
	strcat(title, function);
	strcat(title, "+0x");
	return unit_find(0, title) == 1;
}

/* --- Heap ------------------------------------------------------------------------------------- */

#define ACCESS(bits, type)                         \
	static NOINLINE void read_##bits(char *p)  \
	{                                          \
		sink = (long)*(volatile type *)p;  \
	}                                          \
	static NOINLINE void write_##bits(char *p) \
	{                                          \
		*(volatile type *)p = (type)zero;  \
	}
ACCESS(8, char)
ACCESS(16, short)
ACCESS(32, int)
ACCESS(64, long)
ACCESS(128, __int128)

static const struct {
	void (*read)(char *);
	void (*write)(char *);
	const char *read_name, *write_name;
	size_t size;
} accesses[] = {
	{read_8, write_8, "read_8", "write_8", 1},
	{read_16, write_16, "read_16", "write_16", 2},
	{read_32, write_32, "read_32", "write_32", 4},
	{read_64, write_64, "read_64", "write_64", 8},
	{read_128, write_128, "read_128", "write_128", 16},
};

static void heap_overflow_of_every_size(void)
{
	for (size_t a = 0; a < sizeof(accesses) / sizeof(accesses[0]); a++) {
		size_t size = accesses[a].size;
		char *p = kasan_posix_malloc(48);

		REQUIRE(p);
		/* Aligned accesses only: Clang's inline code checks both ends of an unaligned one, and reports each. */
		for (size_t at = 0; at + size <= 48; at += size) {
			EXPECT_NO_REPORT(accesses[a].read(p + at));
			EXPECT_NO_REPORT(accesses[a].write(p + at));
		}
		EXPECT_REPORT("slab-out-of-bounds", accesses[a].read(p + 48));
		CHECK(!unit_last()->is_write && names(accesses[a].read_name));
		CHECK_EQ(unit_last()->size, size);
		CHECK_EQ(unit_last()->addr, (uintptr_t)p + 48);
		EXPECT_REPORT("slab-out-of-bounds", accesses[a].write(p + 48));
		CHECK(unit_last()->is_write && names(accesses[a].write_name));
		CHECK_EQ(unit_last()->size, size);
		EXPECT_REPORT("slab-out-of-bounds", accesses[a].read(p - size));
		kasan_posix_free(p);
		EXPECT_REPORT("slab-use-after-free", accesses[a].read(p + 16));
		CHECK(unit_find(0, "Freed by task ") > 0);
		EXPECT_REPORT("slab-use-after-free", accesses[a].write(p + 16));
	}
}

/* malloc(13): byte 12 is ours, byte 13 is not. */
static NOINLINE void put_at(char *p, int i)
{
	p[i] = 1;
}

static void off_by_one(void)
{
	char *p = kasan_posix_malloc((size_t)thirteen);

	REQUIRE(p);
	EXPECT_NO_REPORT(put_at(p, thirteen - 1));
	EXPECT_REPORT("slab-out-of-bounds", put_at(p, thirteen));
	CHECK(names("put_at"));
	CHECK(unit_find(0, " off_by_one+0x") > unit_find(0, " put_at+0x"));
	kasan_posix_free(p);
}

/* --- Memory functions ------------------------------------------------------------------------- */

struct block {
	char bytes[200];
};

static NOINLINE void copy_block(struct block *to, const struct block *from)
{
	*to = *from;
}

static NOINLINE void copy_bytes(char *to, const char *from, size_t n)
{
	memcpy(to, from, n);
}

static NOINLINE void fill_bytes(char *p, size_t n)
{
	memset(p, zero, n);
}

static NOINLINE void move_bytes(char *to, const char *from, size_t n)
{
	memmove(to, from, n);
}

/* GCC checks both blocks, and where it then calls memcpy(), that checks them again. */
static void copy_too_much(struct block *to, const struct block *from)
{
	unit_clear();
	copy_block(to, from);
	CHECKF(unit_reports() == 1 || unit_reports() == 2, "%u reports", unit_reports());
	CHECK(!strcmp(unit_last()->bug_type, "slab-out-of-bounds"));
}

static void memory_functions(void)
{
	/* The copy ends in the redzone, because GCC's inline code checks only the two ends of a large copy. */
	char *small = kasan_posix_malloc(190), *large = kasan_posix_malloc(200);

	REQUIRE(small && large);
	EXPECT_NO_REPORT(fill_bytes(large, 200); fill_bytes(small, 190));
	copy_too_much((struct block *)large, (struct block *)small);
	CHECK(!unit_last()->is_write && names("copy_block"));
	CHECK_EQ(unit_last()->size, 200);
	copy_too_much((struct block *)small, (struct block *)large);
	CHECK(unit_last()->is_write);
	EXPECT_NO_REPORT(copy_bytes(small, large, 190));
	EXPECT_REPORT("slab-out-of-bounds", copy_bytes(small, large, 191));
	CHECK(unit_last()->is_write && names("copy_bytes"));
	CHECK_EQ(unit_last()->size, 191);
	EXPECT_REPORT("slab-out-of-bounds", move_bytes(large, small, 191));
	CHECK(!unit_last()->is_write && names("move_bytes"));
	EXPECT_REPORT("slab-out-of-bounds", fill_bytes(small, 191));
	CHECK(unit_last()->is_write && names("fill_bytes"));
	kasan_posix_free(small);
	kasan_posix_free(large);
}

/* --- Stack ------------------------------------------------------------------------------------ */

static NOINLINE char stack_read(int i)
{
	char buffer[13] = "twelve chars";

	pointer = buffer;
	return pointer[i];
}

static NOINLINE void stack_write(int i)
{
	int numbers[10];

	pointer = (char *)numbers;
	((volatile int *)pointer)[i] = i;
}

static bool says(const char *part)
{
	for (size_t i = 0; i < unit_lines(); i++)
		if (strstr(unit_line(i), part))
			return true;
	return false;
}

static void stack_out_of_bounds(void)
{
	EXPECT_NO_REPORT(sink = stack_read(12));
	EXPECT_REPORT("stack-out-of-bounds", sink = stack_read(thirteen));
	CHECK(names("stack_read"));
	CHECK(unit_find(0, "This frame has 1 object:") > 0);
	CHECK(says("'buffer'"));
	EXPECT_NO_REPORT(stack_write(9));
	EXPECT_REPORT("stack-out-of-bounds", stack_write(10));
	CHECK(unit_last()->is_write && unit_last()->size == 4 && names("stack_write"));
	CHECK(says("'numbers'"));
	EXPECT_REPORT("stack-out-of-bounds", stack_write(-1));
}

static NOINLINE long variable_length(int n, int i)
{
	char bytes[n];

	for (int k = 0; k < n; k++)
		bytes[k] = (char)k;
	pointer = bytes;
	return pointer[i];
}

static void alloca_out_of_bounds(void)
{
	for (int n = 1; n < 70; n++) {
		EXPECT_NO_REPORT(sink = variable_length(n, n - 1));
		EXPECT_REPORT("alloca-out-of-bounds", sink = variable_length(n, n));
		CHECK(names("variable_length"));
		EXPECT_REPORT("alloca-out-of-bounds", sink = variable_length(n, -1));
	}
}

/* Each turn of the loop has its own array. The end of the function removes the poison of all of them. */
static NOINLINE void allocas_in_a_loop(int n)
{
	for (int i = 1; i < n; i++) {
		char bytes[i * 3];

		memset(bytes, i, sizeof(bytes));
		pointer = bytes;
		sink += pointer[i];
	}
}

static NOINLINE void use_all_the_stack(int depth)
{
	char bytes[2000];

	memset(bytes, depth, sizeof(bytes));
	pointer = bytes;
	if (depth)
		use_all_the_stack(depth - 1);
	sink += pointer[3];
}

static void stacks_stay_clean(void)
{
	EXPECT_NO_REPORT(allocas_in_a_loop(60); use_all_the_stack(50));
	sink = stack_read(3);
	EXPECT_NO_REPORT(use_all_the_stack(50));
}

static NOINLINE char after_scope(int which)
{
	char *p = NULL;

	for (int i = 0; i <= which; i++) {
		char inner[20];

		inner[i] = 'x';
		pointer = inner;
		if (i == which)
			p = inner;
	}
	pointer = p;
	return *pointer;
}

static NOINLINE long large_after_scope(int which)
{
	long *p = NULL;

	for (int i = 0; i <= which; i++) {
		long inner[700];

		inner[i] = 5;
		pointer = (char *)inner;
		p = inner;
	}
	pointer = (char *)p;
	return *(volatile long *)(pointer + 8 * 350);
}

static void use_after_scope(void)
{
	EXPECT_REPORT("use-after-scope", sink = after_scope(zero));
	CHECK(names("after_scope"));
	CHECK(says("'inner'"));
	EXPECT_REPORT("use-after-scope", sink = large_after_scope(zero));
	CHECK(names("large_after_scope") && unit_last()->size == 8);
}

/* --- Leaving frames without unwinding them ---------------------------------------------------- */

static jmp_buf environment;

static NOINLINE void jump_from_below(int depth)
{
	char bytes[300];

	memset(bytes, depth, sizeof(bytes));
	pointer = bytes;
	if (zero)
		return;
	if (!depth)
		longjmp(environment, 1);
	jump_from_below(depth - 1);
	sink += pointer[1];
}

static void longjmp_leaves_no_poison(void)
{
	unit_clear();
	for (int i = 0; i < 3; i++) {
		if (!setjmp(environment))
			jump_from_below(40);
		CHECK_EQ(unit_poison_below(16000), 0);
		use_all_the_stack(8);
	}
	CHECK_EQ(unit_reports(), 0);
}

static NOINLINE void exit_from_below(int depth)
{
	char bytes[300];

	memset(bytes, depth, sizeof(bytes));
	pointer = bytes;
	if (zero)
		return;
	if (!depth)
		pthread_exit(NULL);
	exit_from_below(depth - 1);
	sink += pointer[1];
}

static void *dying_thread(void *arg)
{
	exit_from_below(40);
	return arg;
}

static void *living_thread(void *arg)
{
	CHECK_EQ(unit_poison_below(16000), 0);
	use_all_the_stack(8);
	return arg;
}

/* glibc gives the same stack to the next thread. */
static void pthread_exit_leaves_no_poison(void)
{
	unit_clear();
	for (int i = 0; i < 4; i++) {
		pthread_t thread;

		REQUIRE(!pthread_create(&thread, NULL, i & 1 ? living_thread : dying_thread, NULL));
		pthread_join(thread, NULL);
	}
	CHECK_EQ(unit_reports(), 0);
}

/* --- Null and wild pointers, without touching them -------------------------------------------- */

static sigjmp_buf fault_environment;

static void jump_out_of_report(const struct kasan_report_info *info)
{
	kasan_posix_leave();
	siglongjmp(fault_environment, 1);
}

static void null_pointer(void)
{
	void (*saved)(const struct kasan_report_info *) = kasan_posix_hooks.report_end;

	kasan_posix_catch_faults();
	unit_clear();
	kasan_posix_hooks.report_end = jump_out_of_report;
	if (!sigsetjmp(fault_environment, 1)) {
		read_32((char *)(long)zero + 24);
		CHECKF(false, "a null pointer was read");
	}
	kasan_posix_hooks.report_end = saved;
	CHECK(unit_find(0, "BUG: KASAN: null-ptr-deref in read_32+0x") == 1);
#ifdef __x86_64__ /* Others do not say that it was a read. */
	CHECK(unit_find(0, "Read") == 2);
#endif
#ifndef __s390x__ /* It tells the page only. */
	CHECK(says("at addr 0000000000000018 by task "));
#endif
	CHECK(unit_find(0, " null_pointer+0x") > 0);
}

/* --- Legal code ------------------------------------------------------------------------------- */

typedef long unaligned_long __attribute__((aligned(1)));

struct node {
	struct node *next;
	char name[20];
	short tail;
} __attribute__((packed));

static void a_clean_program(void)
{
	struct node *head = NULL;

	unit_clear();
	for (int i = 0; i < 200; i++) {
		struct node *n = kasan_posix_malloc(sizeof(*n));

		REQUIRE(n);
		n->next = head;
		memset(n->name, i, sizeof(n->name));
		n->tail = (short)i;
		head = n;
	}
	while (head) {
		struct node *n = head;

		head = n->next;
		sink += n->tail + n->name[19];
		kasan_posix_free(n);
	}
	for (size_t size = 1; size < 300; size++) {
		char *p = kasan_posix_malloc(size);

		REQUIRE(p);
		for (size_t i = 0; i < size; i++)
			p[i] = (char)i;
		for (size_t i = 0; i + 8 <= size; i++)
			sink += *(volatile unaligned_long *)(p + i);
		p = kasan_posix_realloc(p, size * 2);
		p[size * 2 - 1] = 1;
		kasan_posix_free(p);
	}
	CHECK_EQ(unit_reports(), 0);
}

UNIT_MAIN(heap_overflow_of_every_size, off_by_one, memory_functions, stack_out_of_bounds,
	  alloca_out_of_bounds, stacks_stay_clean, use_after_scope, longjmp_leaves_no_poison,
	  pthread_exit_leaves_no_poison, null_pointer, a_clean_program)

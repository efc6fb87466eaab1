/* SPDX-License-Identifier: MIT */
/*
 * wrap.h - makes checked functions out of a library's own memcpy(), memset() and memcmp(), whatever their names.
 *
 *	KASAN_WRAP_COPY(sbi_memcpy);		-Wl,--wrap=sbi_memcpy
 *
 * For functions that are not instrumented because they come from a vendor as objects, are written in assembly, or run
 * before the shadow exists. The runtime's memcpy(), memmove() and memset() are checked already. Write the lines into one
 * file that is not instrumented. docs/port/reference.md says what to do with a library that defines memcpy() itself.
 *
 * An operation whose range is bad is reported with its caller, and left out as in the checked memcpy().
 */
#ifndef KASAN_WRAP_H
#define KASAN_WRAP_H

#include <kasan/hook.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kasan_may_read(), kasan_may_write() - check [@addr, @addr + @size) for a function that may leave its operation out
 * @ip: code address that the report names, a return address on this stack.
 *
 * Return: false if the range is bad and that was reported, or if @size is negative or wraps around. True also before
 * kasan_init(), if @size is 0, and if the report was suppressed: the program then behaves as without KASAN.
 */
KASAN_HOOK bool kasan_may_read(const volatile void *addr, size_t size, uintptr_t ip)
	KASAN_OFF(return true);
KASAN_HOOK KASAN_READS_NOTHING bool kasan_may_write(const volatile void *addr, size_t size,
						    uintptr_t ip) KASAN_OFF(return true);

#define KASAN_WRAP_CALLER() ((uintptr_t)__builtin_return_address(0))

/** KASAN_CHECKED_COPY() - define the function @name, which checks both ranges and calls @unchecked. Both are
 *  void *(void *to, const void *from, size_t size), as memcpy() and memmove() are. */
#define KASAN_CHECKED_COPY(name, unchecked)                                               \
	void *unchecked(void *to, const void *from, size_t size);                         \
	void *name(void *to, const void *from, size_t size);                              \
	__attribute__((__noinline__)) void *name(void *to, const void *from, size_t size) \
	{                                                                                 \
		if (!kasan_may_read(from, size, KASAN_WRAP_CALLER()) ||                   \
		    !kasan_may_write(to, size, KASAN_WRAP_CALLER()))                      \
			return to;                                                        \
		return unchecked(to, from, size);                                         \
	}                                                                                 \
	KASAN_STATIC_ASSERT(1, "takes the semicolon")

/** KASAN_CHECKED_SET() - the same for void *(void *to, int byte, size_t size), as memset() is. */
#define KASAN_CHECKED_SET(name, unchecked)                                        \
	void *unchecked(void *to, int byte, size_t size);                         \
	void *name(void *to, int byte, size_t size);                              \
	__attribute__((__noinline__)) void *name(void *to, int byte, size_t size) \
	{                                                                         \
		if (!kasan_may_write(to, size, KASAN_WRAP_CALLER()))              \
			return to;                                                \
		return unchecked(to, byte, size);                                 \
	}                                                                         \
	KASAN_STATIC_ASSERT(1, "takes the semicolon")

/** KASAN_CHECKED_COMPARE() - the same for int (const void *, const void *, size_t), as memcmp() is. The result of an
 *  operation that is left out is 0. */
#define KASAN_CHECKED_COMPARE(name, unchecked)                                                  \
	int unchecked(const void *one, const void *other, size_t size);                         \
	int name(const void *one, const void *other, size_t size);                              \
	__attribute__((__noinline__)) int name(const void *one, const void *other, size_t size) \
	{                                                                                       \
		if (!kasan_may_read(one, size, KASAN_WRAP_CALLER()) ||                          \
		    !kasan_may_read(other, size, KASAN_WRAP_CALLER()))                          \
			return 0;                                                               \
		return unchecked(one, other, size);                                             \
	}                                                                                       \
	KASAN_STATIC_ASSERT(1, "takes the semicolon")

/** KASAN_WRAP_COPY(), KASAN_WRAP_SET(), KASAN_WRAP_COMPARE() - the same for the linker's -Wl,--wrap=@name, which turns
 *  calls of @name from other files into calls of __wrap_@name. */
#define KASAN_WRAP_COPY(name)	 KASAN_CHECKED_COPY(__wrap_##name, __real_##name)
#define KASAN_WRAP_SET(name)	 KASAN_CHECKED_SET(__wrap_##name, __real_##name)
#define KASAN_WRAP_COMPARE(name) KASAN_CHECKED_COMPARE(__wrap_##name, __real_##name)

#ifdef __cplusplus
}
#endif

#endif /* KASAN_WRAP_H */

/* SPDX-License-Identifier: MIT */
/* assert.h - a failed assertion prints where it stands and ends the program as abort() does.
 * No include guard: each inclusion obeys NDEBUG as it is then. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
	((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif

#ifndef _ASSERT_H
#define _ASSERT_H
#define static_assert _Static_assert
_Noreturn void __assert_fail(const char *condition, const char *file, unsigned int line,
			     const char *function);
#endif

/* SPDX-License-Identifier: MIT */
/* internal.h - seams between the port's own files. */
#ifndef KASAN_POSIX_INTERNAL_H
#define KASAN_POSIX_INTERNAL_H

#include "kasan_posix.h"

/* The first page is nobody's, so that a null pointer has no shadow. */
#define KASAN_POSIX_LOW 0x1000UL

/** kasan_posix_reserve_shadow() - full layout: map all shadow of the process's addresses. Ends the
 *  process with a message if the range is taken. Windowed layout: nothing to do. */
void kasan_posix_reserve_shadow(void);

/** kasan_posix_symbols_init() - map the program's own symbol table; without one nothing is named. */
void kasan_posix_symbols_init(void);

/** kasan_posix_symbolize() - kasan_port_symbol() for functions of the program itself. */
bool kasan_posix_symbolize(uintptr_t pc, char *buf, size_t size, struct kasan_symbol *sym);

/** kasan_posix_die() - write a message without stdio and abort. */
_Noreturn void kasan_posix_die(const char *what, const char *detail);

/* Which locks of the runtime the running thread holds. */
#define KASAN_POSIX_NO_LOCK	    1U
#define KASAN_POSIX_REPORT_LOCK	    2U
#define KASAN_POSIX_LEAF	    4U /* any other lock */
#define KASAN_POSIX_REPORT_AND_LEAF 8U

/* Ends the process if port function @function is called under other locks than the @allowed ones. */
void kasan_posix_check_call(const char *function, unsigned int allowed);

/* In a report, and elsewhere with no lock held. */
#define KASAN_POSIX_CHECK_CALL() \
	kasan_posix_check_call(__func__, KASAN_POSIX_NO_LOCK | KASAN_POSIX_REPORT_LOCK)

#endif /* KASAN_POSIX_INTERNAL_H */

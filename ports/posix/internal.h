/* SPDX-License-Identifier: MIT */
/* internal.h - seams between the port's own files. */
#ifndef KASAN_POSIX_INTERNAL_H
#define KASAN_POSIX_INTERNAL_H

#include "kasan_posix.h"

/** kasan_posix_reserve_shadow() - full layout: map all shadow of the process's addresses. Ends the
 *  process with a message if the range is taken. Windowed layout: nothing to do. */
void kasan_posix_reserve_shadow(void);

/** kasan_posix_symbols_init() - map the program's own symbol table; without one nothing is named. */
void kasan_posix_symbols_init(void);

/** kasan_posix_symbolize() - kasan_port_symbol() for functions of the program itself. */
bool kasan_posix_symbolize(uintptr_t pc, char *buf, size_t size, struct kasan_symbol *sym);

/** kasan_posix_die() - write a message without stdio and abort. */
_Noreturn void kasan_posix_die(const char *what, const char *detail);

#endif /* KASAN_POSIX_INTERNAL_H */

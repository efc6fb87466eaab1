/* SPDX-License-Identifier: MIT */
/*
 * ubsan.h - UBSan, which finds undefined behaviour: CONFIG_KASAN_UBSAN=1, beside a mode of KASAN or without one.
 *
 * Compiled code calls the runtime's __ubsan_handle_*() functions, and <kasan/core.h> and <kasan/report.h> have all that
 * a system calls: kasan_init() starts reporting, kasan_option() sets boot parameters. This header is for systems whose
 * code is built with -fsanitize-trap.
 */
#ifndef KASAN_PUBLIC_UBSAN_H
#define KASAN_PUBLIC_UBSAN_H

#include <kasan/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kasan_report_undefined_trap() - report the check of UBSan that has trapped
 * @regs: of the interrupted code; @pc is the trap.
 *
 * For the handler of breakpoints (arm64) or of undefined instructions (x86_64), which Clang's traps are. Other
 * processors' traps, and GCC's, do not say what they are. Context: any. The code cannot go on after the trap.
 *
 * Return: false if there is no trap of UBSan at @pc.
 */
#ifdef CONFIG_KASAN_UBSAN
bool kasan_report_undefined_trap(const struct kasan_regs *regs);
#else
static inline bool kasan_report_undefined_trap(const struct kasan_regs *regs)
{
	(void)regs;
	return false;
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* KASAN_PUBLIC_UBSAN_H */

/* SPDX-License-Identifier: MIT */
/*
 * trap.c - UBSan without functions: code built with -fsanitize-trap stops at an instruction that holds the number of the
 * check, and the system's handler of that exception asks here which it was.
 *
 * Clang puts the number into the instruction on arm64 and x86_64. On RISC-V and 32-bit Arm, and with GCC, all traps are
 * the same instruction, which other code has too.
 */
#include "data.h"

#include <kasan/ubsan.h>

#ifdef CONFIG_KASAN_UBSAN

/* By the number of the check: the same for Clang 19 and 22, which only append. A check of Clang may find several
 * types of bugs; then the name says what they have in common. */
static const char *const names[] = {
	[0] = "integer-overflow",	[1] = "unreachable-code",
	[3] = "division-by-zero",	[5] = "float-cast-overflow",
	[6] = "function-type-mismatch", [7] = "implicit-conversion",
	[8] = "invalid-builtin",	[10] = "invalid-load",
	[11] = "missing-return",	[12] = "integer-overflow",
	[13] = "integer-overflow",	[14] = "null-argument",
	[15] = "null-return",		[16] = "null-argument",
	[17] = "null-return",		[18] = "array-index-out-of-bounds",
	[19] = "pointer-overflow",	[20] = "shift-out-of-bounds",
	[21] = "integer-overflow",	[22] = "type-mismatch",
	[23] = "alignment-assumption",	[24] = "vla-bound-not-positive",
};

const char *ubsan_check_name(unsigned int check)
{
	const char *name = check < sizeof(names) / sizeof(names[0]) ? names[check] : NULL;

	return name ? name : "undefined-behaviour";
}

/* Return: the number of the check that traps at @pc; -1 if the instruction there is not such a trap. */
static int check_at(uintptr_t pc)
{
	const uint8_t *code = (const uint8_t *)pc;

	if (!kasan_port_readable(code, 4))
		return -1;
#if defined(__aarch64__)
	/* brk #0x5500 + number */
	if (code[3] == 0xd4 && code[2] == 0x2a && (code[1] & 0xe0) == 0xa0 && !(code[0] & 0x1f))
		return (code[1] & 0x1f) << 3 | code[0] >> 5;
#elif defined(__x86_64__)
	/* ud1l number(%eax), %eax; there is no byte for the number 0 */
	if (code[0] == 0x67 && code[1] == 0x0f && code[2] == 0xb9) {
		if (code[3] == 0x00)
			return 0;
		if (code[3] == 0x40 && kasan_port_readable(code + 4, 1))
			return code[4];
	}
#endif
	return -1;
}

bool kasan_report_undefined_trap(const struct kasan_regs *regs)
{
	const int check = check_at(regs->pc);
	struct kasan_undefined bug;

	if (check < 0)
		return false;
	kasan_clear(&bug);
	bug.regs = regs;
	bug.ip = regs->pc;
	bug.fp = regs->fp;
	kasan_report_undefined(ubsan_check_name((unsigned int)check), &bug);
	return true;
}

#endif /* CONFIG_KASAN_UBSAN */

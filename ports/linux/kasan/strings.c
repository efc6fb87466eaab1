// SPDX-License-Identifier: MIT
/*
 * strings.c - strlen() that checks the string as a whole, or that reads one granule at a time.
 *
 * With shadow arm64 takes Linux's strlen() in C, in which the compiler checks each byte: a tenth of a boot's instructions. The
 * architecture's function in assembly is in the kernel nevertheless, as __pi_strlen(). It does the work here, and then the
 * range is checked.
 *
 * With hardware tags arm64 keeps its function in assembly. That begins with 16 bytes from the start of the string, but if
 * these could lie in two granules, with the code that it otherwise has for the end of a page. Here nothing is read that lies
 * in two granules.
 *
 * This folder must not change the files of these functions, so they are made to jump here.
 */
#include <linux/init.h>
#include <linux/kasan.h>
#include <linux/string.h>

#include <asm/insn.h>

#include "redzone.h"

#include "internal.h"
#include "kasan.h"
#include "strlen.h"

#if KASAN_LINUX_7
#include <asm/text-patching.h>
#else
#include <asm/patching.h>
#endif

size_t __pi_strlen(const char *string);

#ifdef CONFIG_KASAN_HW_TAGS

static size_t kasan_strlen(const char *string)
{
	return kasan_strlen_by_granules(string);
}

#else

/* May the first byte at @addr be bad? What follows could then be memory that is not mapped. */
static bool may_be_bad(const char *addr)
{
	const u8 state = *(const u8 *)kasan_mem_to_shadow(kasan_reset_tag(addr));

	if (IS_ENABLED(CONFIG_KASAN_GENERIC))
		return state && (s8)state <= (s8)((unsigned long)addr & KASAN_GRANULE_MASK);
	return state != get_tag(addr) && get_tag(addr) != KASAN_TAG_KERNEL;
}

/* A second report would be about the same bug. */
static noinline size_t strlen_slowly(const char *string, unsigned long ip)
{
	const bool good = redzone_check_access_for(string, 1, false, ip);
	const size_t length = __pi_strlen(string);

	if (good)
		redzone_check_access_for(string, length + 1, false, ip);
	return length;
}

/* Reports name the caller. */
static size_t kasan_strlen(const char *string)
{
	size_t length;

	if (unlikely(may_be_bad(string)))
		return strlen_slowly(string, _RET_IP_);
	length = __pi_strlen(string);
	redzone_check_access_for(string, length + 1, false, _RET_IP_);
	return length;
}

#endif

/* Let the function @from jump to @to. */
static void __init redirect(void *from, void *to)
{
	u32 *at = from;
	u32 jump;

	/* A tracer would write here too. */
	if (le32_to_cpu(*(__le32 *)at) == aarch64_insn_gen_nop())
		return;
	if (IS_ENABLED(CONFIG_ARM64_BTI_KERNEL))
		at++;
	jump = aarch64_insn_gen_branch_imm((unsigned long)at, (unsigned long)to,
					   AARCH64_INSN_BRANCH_NOLINK);
	if (jump == AARCH64_BREAK_FAULT)
		return;
	/* The first instruction may sign the return address instead, but @to does that itself. */
	if (IS_ENABLED(CONFIG_ARM64_BTI_KERNEL))
		aarch64_insn_patch_text_nosync(at - 1,
					       aarch64_insn_gen_hint(AARCH64_INSN_HINT_BTIC));
	aarch64_insn_patch_text_nosync(at, jump);
}

void __init kasan_redirect_strings(void)
{
	if (!IS_ENABLED(CONFIG_KASAN_HW_TAGS))
		redirect(strlen, kasan_strlen);
	/* Words are read as on a little-endian CPU. */
	else if (!IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		redirect(__pi_strlen, kasan_strlen);
}

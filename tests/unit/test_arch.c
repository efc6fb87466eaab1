/* SPDX-License-Identifier: MIT */
/* test_arch.c - the processor's part of the runtime: calls on another stack, and clearing shadow by blocks, with blocks
 * as arm64 has them. */
#include <stdio.h>
#include <string.h>

#define CONFIG_KASAN_GENERIC	   1
#define CONFIG_KASAN_SHADOW_FULL   1
#define CONFIG_KASAN_SHADOW_LOW	   0UL
#define CONFIG_KASAN_SHADOW_HIGH   UINTPTR_MAX
#define CONFIG_KASAN_SHADOW_OFFSET shadow_offset

#include <stdbool.h>
#include <stdint.h>

static uintptr_t shadow_offset;
static bool can_zero;

#define KASAN_ARCH_ZERO_BYTES 64

static bool kasan_arch_can_zero(void)
{
	return can_zero;
}

/* As DC ZVA: the block that holds @p. */
static void kasan_arch_zero(void *p)
{
	memset((void *)((uintptr_t)p & ~63UL), 0, 64);
}

#include "../../runtime/shadow/poison.c"

bool kasan_hooks_off;

static unsigned int failed;

#define CHECKF(cond, ...)                                        \
	do {                                                     \
		if (!(cond) && failed++ < 20) {                  \
			printf("# %s:%d: ", __FILE__, __LINE__); \
			printf(__VA_ARGS__);                     \
			printf("\n");                            \
		}                                                \
	} while (0)
#define CHECK(cond) CHECKF(cond, "%s", #cond)

/* --- Another stack ----------------------------------------------------------------------------- */

static char stack[16384] __attribute__((aligned(16)));

/* A function may use all registers of floating point that a call does not preserve. */
static void use_registers(void *argument)
{
	*(char **)argument = (char *)__builtin_frame_address(0);
#if defined(__x86_64__)
	__asm__ volatile(
		"pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm1, %%xmm1; pcmpeqd %%xmm2, %%xmm2;"
		"pcmpeqd %%xmm3, %%xmm3; pcmpeqd %%xmm4, %%xmm4; pcmpeqd %%xmm5, %%xmm5;"
		"pcmpeqd %%xmm6, %%xmm6; pcmpeqd %%xmm7, %%xmm7; pcmpeqd %%xmm8, %%xmm8;"
		"pcmpeqd %%xmm9, %%xmm9; pcmpeqd %%xmm10, %%xmm10; pcmpeqd %%xmm11, %%xmm11;"
		"pcmpeqd %%xmm12, %%xmm12; pcmpeqd %%xmm13, %%xmm13; pcmpeqd %%xmm14, %%xmm14;"
		"pcmpeqd %%xmm15, %%xmm15" ::
			: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
			  "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#elif defined(__s390x__)
	__asm__ volatile("lzdr %%f0; lzdr %%f1; lzdr %%f2; lzdr %%f3; lzdr %%f4; lzdr %%f5;"
			 "lzdr %%f6; lzdr %%f7" ::
				 : "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7");
#elif defined(__riscv_flen)
	__asm__ volatile(
		"fmv.d.x ft0, zero; fmv.d.x ft1, zero; fmv.d.x ft2, zero; fmv.d.x ft3, zero;"
		"fmv.d.x ft4, zero; fmv.d.x ft5, zero; fmv.d.x ft6, zero; fmv.d.x ft7, zero;"
		"fmv.d.x ft8, zero; fmv.d.x ft9, zero; fmv.d.x ft10, zero; fmv.d.x ft11, zero;"
		"fmv.d.x fa0, zero; fmv.d.x fa1, zero; fmv.d.x fa2, zero; fmv.d.x fa3, zero;"
		"fmv.d.x fa4, zero; fmv.d.x fa5, zero; fmv.d.x fa6, zero; fmv.d.x fa7, zero" ::
			: "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9",
			  "ft10", "ft11", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7");
#endif
}

/* Values in registers before the call, and wanted after it. */
static __attribute__((__noinline__)) double across(double a, double b, double c, char **sp)
{
	double product = a * b, sum = a + c, rest = b - c;

	kasan_arch_call_on((uintptr_t)stack + sizeof(stack), use_registers, sp);
	return product + sum * rest + a + b * c;
}

static void values_across_a_call(void)
{
	char *sp = NULL;

	CHECK(across(3, 5, 7, &sp) == 33);
	CHECK(sp > stack && sp <= stack + sizeof(stack));
}

/* --- Blocks ------------------------------------------------------------------------------------ */

/* Nothing but the shadow of the page is written, wherever it starts. */
static void shadow_of_pages(void)
{
	static uint8_t memory[4096] __attribute__((aligned(64)));
	const uintptr_t page = 0x100000;

	for (int zero = 0; zero <= 1; zero++) {
		can_zero = zero;
		for (unsigned int at = 64; at <= 128; at += 8) {
			shadow_offset = (uintptr_t)memory + at - (page >> 3);
			for (int value = 0; value <= 0xff; value += 0xff) {
				memset(memory, 0x55, sizeof(memory));
				kasan_fill_pages(page, 4096, (uint8_t)value);
				for (unsigned int i = 0; i < sizeof(memory); i++)
					CHECKF(memory[i] == (i - at < 512 ? value : 0x55),
					       "offset %u, byte %u: %#x", at, i, memory[i]);
			}
		}
	}
}

static bool run(unsigned int number, const char *name, void (*function)(void))
{
	failed = 0;
	function();
	printf("%sok %u - %s\n", failed ? "not " : "", number, name);
	return !failed;
}

int main(void)
{
	bool ok;

	printf("TAP version 13\n1..2\n");
	ok = run(1, "values_across_a_call", values_across_a_call);
	return !(run(2, "shadow_of_pages", shadow_of_pages) && ok);
}

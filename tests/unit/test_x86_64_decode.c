/* SPDX-License-Identifier: MIT */
/* test_x86_64_decode.c - the operands of instructions, as the fault handler for x86-64 finds them. The assembler makes the
 * instructions. */
#include <string.h>

#include "../../ports/template/x86_64_decode.c"

#include "unit.h"

#define R    KASAN_FAULT_READ
#define W    KASAN_FAULT_WRITE
#define U    KASAN_FAULT_UNKNOWN
#define WILD 0x4141414141414000UL
#define FS   0x7000UL
#define GS   0x9000UL

#ifdef __x86_64__
/* Return: where the instruction @text lies, which is never executed. */
#define INSN(text)                                                                               \
	({                                                                                       \
		const void *at;                                                                  \
		__asm__("lea 1f(%%rip), %0\n\t.pushsection .rodata\n1:\t" text "\n\t.popsection" \
			: "=r"(at));                                                             \
		at;                                                                              \
	})

static bool is_canonical(uintptr_t addr)
{
	return (uintptr_t)((intptr_t)(addr << 16) >> 16) == addr;
}

/* Every register has its own value: number n is WILD + 0x10 * n; rcx is a small index, rdi an address that exists. */
static void fill(struct kasan_x86_64_frame *frame, const void *insn)
{
	unsigned int i;

	memset(frame, 0, sizeof(*frame));
	for (i = 0; i < 16; i++)
		frame->regs[i] = WILD + 0x10 * i;
	frame->regs[KASAN_X86_64_RCX] = 4;
	frame->regs[KASAN_X86_64_RDI] = 0x5000;
	frame->rsp = frame->regs[KASAN_X86_64_RSP];
	frame->rip = (uintptr_t)insn;
}

static bool decode(const void *insn, struct kasan_x86_64_access *access)
{
	struct kasan_x86_64_frame frame;

	fill(&frame, insn);
	return kasan_x86_64_decode(&frame, is_canonical, FS, GS, access) == KASAN_X86_64_OPERAND;
}

static void expect(const char *text, const void *insn, uintptr_t addr, size_t size, int direction)
{
	struct kasan_x86_64_access access;

	if (!CHECKF(decode(insn, &access), "%s: not decoded", text))
		return;
	CHECKF(access.addr == addr && access.size == size && access.direction == direction &&
		       !access.is_branch,
	       "%s: %lx, %zu bytes, direction %d", text, access.addr, access.size,
	       access.direction);
}

#define EXPECT(text, addr, size, direction) expect(text, INSN(text), addr, size, direction)

static void addresses(void)
{
	EXPECT("movb (%%rax), %%al", WILD, 1, R);
	EXPECT("movl (%%r8), %%eax", WILD + 0x80, 4, R);
	EXPECT("movq 8(%%r12), %%rax", WILD + 0xc8, 8, R);
	EXPECT("movw -2(%%r13), %%ax", WILD + 0xce, 2, R);
	EXPECT("movq 0x12345(%%rbx), %%r15", WILD + 0x12375, 8, R);
	EXPECT("movq -0x12345(%%rsp), %%r9", WILD + 0x40 - 0x12345, 8, R);
	EXPECT("movl (%%rdx, %%rcx, 8), %%eax", WILD + 0x40, 4, R);
	EXPECT("movl 16(%%r9, %%rcx, 4), %%eax", WILD + 0xb0, 4, R);
	EXPECT("movl (%%rcx, %%r14), %%eax", WILD + 0xe4, 4, R);
	EXPECT("movl 0x1000(, %%rcx, 2), %%eax", 0x1008, 4, R);
	EXPECT("movl (%%rbp), %%eax", WILD + 0x50, 4, R);
	EXPECT("movl 0x1234, %%eax", 0x1234, 4, R);
	EXPECT("movabsb 0x8182838485868788, %%al", 0x8182838485868788UL, 1, R);
	EXPECT("movabsq %%rax, 0x8182838485868788", 0x8182838485868788UL, 8, W);
	EXPECT("movl %%fs:8(%%rcx), %%eax", FS + 12, 4, R);
	EXPECT("movl %%gs:(%%rax), %%eax", WILD + GS, 4, R);
	EXPECT("movl (%%ebx), %%eax", (uint32_t)(WILD + 0x30), 4, R);
}

static void reads_and_writes(void)
{
	EXPECT("movb $0, (%%rax)", WILD, 1, W);
	EXPECT("movw $0, (%%rax)", WILD, 2, W);
	EXPECT("movl $0, 4(%%rax)", WILD + 4, 4, W);
	EXPECT("movq $0, (%%rax)", WILD, 8, W);
	EXPECT("movb %%r9b, (%%rax)", WILD, 1, W);
	EXPECT("movq %%r9, (%%rax)", WILD, 8, W);
	EXPECT("addl %%edx, (%%rax)", WILD, 4, W);
	EXPECT("addl (%%rax), %%edx", WILD, 4, R);
	EXPECT("cmpl %%edx, (%%rax)", WILD, 4, R);
	EXPECT("cmpb $0, (%%rax, %%rcx)", WILD + 4, 1, R);
	EXPECT("cmpq $7, (%%rax)", WILD, 8, R);
	EXPECT("orl $7, (%%rax)", WILD, 4, W);
	EXPECT("testb $1, (%%rax)", WILD, 1, R);
	EXPECT("testl %%ecx, (%%rax)", WILD, 4, R);
	EXPECT("notq (%%rax)", WILD, 8, W);
	EXPECT("negb (%%rax)", WILD, 1, W);
	EXPECT("mulq (%%rax)", WILD, 8, R);
	EXPECT("divl (%%rax)", WILD, 4, R);
	EXPECT("incl (%%rax)", WILD, 4, W);
	EXPECT("decb (%%rax)", WILD, 1, W);
	EXPECT("shll $3, (%%rax)", WILD, 4, W);
	EXPECT("sarq %%cl, (%%rax)", WILD, 8, W);
	EXPECT("xchgl %%ecx, (%%rax)", WILD, 4, W);
	EXPECT("lock xaddl %%ecx, (%%rax)", WILD, 4, W);
	EXPECT("lock cmpxchgq %%rcx, (%%rbx)", WILD + 0x30, 8, W);
	EXPECT("lock cmpxchg16b (%%rsi)", WILD + 0x60, 16, W);
	EXPECT("cmpxchg8b (%%rsi)", WILD + 0x60, 8, W);
	EXPECT("movzbl (%%rax), %%ecx", WILD, 1, R);
	EXPECT("movswq (%%rax), %%rcx", WILD, 2, R);
	EXPECT("movslq (%%rax), %%rcx", WILD, 4, R);
	EXPECT("imulq $1000, (%%rax), %%rcx", WILD, 8, R);
	EXPECT("imull (%%rax), %%ecx", WILD, 4, R);
	EXPECT("cmoveq (%%rax), %%rcx", WILD, 8, R);
	EXPECT("sete (%%rax)", WILD, 1, W);
	EXPECT("btl $3, (%%rax)", WILD, 4, R);
	EXPECT("btsl $3, (%%rax)", WILD, 4, W);
	EXPECT("shldl $3, %%ecx, (%%rax)", WILD, 4, W);
	EXPECT("movnti %%rcx, (%%rax)", WILD, 8, W);
	EXPECT("pushq (%%rax)", WILD, 8, R);
	EXPECT("popq (%%rax)", WILD, 8, W);
	EXPECT("leave", WILD + 0x50, 8, R);
	EXPECT("crc32b (%%rax), %%ecx", WILD, 0, U);
	EXPECT("movbe %%ecx, (%%rax)", WILD, 0, U);
	EXPECT("fldl (%%rax)", WILD, 0, U);
	EXPECT("fxsave64 (%%rax)", WILD, 0, U);
}

/* Two operands: the one that is no address. */
static void strings(void)
{
	EXPECT("rep movsb", WILD + 0x60, 1, R);
	EXPECT("movsq", WILD + 0x60, 8, R);
	EXPECT("cmpsl", WILD + 0x60, 4, R);
	EXPECT("lodsw", WILD + 0x60, 2, R);
	EXPECT("rep stosq", 0x5000, 8, W);
	EXPECT("scasb", 0x5000, 1, R);
}

static void vectors(void)
{
	EXPECT("movups (%%rax), %%xmm0", WILD, 16, R);
	EXPECT("movups %%xmm9, (%%rax)", WILD, 16, W);
	EXPECT("movsd (%%rax), %%xmm0", WILD, 8, R);
	EXPECT("movss %%xmm0, (%%rax)", WILD, 4, W);
	EXPECT("movaps %%xmm0, (%%rax)", WILD, 16, W);
	EXPECT("movdqu (%%r8), %%xmm0", WILD + 0x80, 16, R);
	EXPECT("movdqa %%xmm0, (%%rax)", WILD, 16, W);
	EXPECT("movq (%%rax), %%mm0", WILD, 8, R);
	EXPECT("pshufb (%%rax), %%xmm0", WILD, 0, U);
	EXPECT("vmovdqu (%%rax), %%ymm0", WILD, 0, U);
	EXPECT("vmovdqu 4(%%r9), %%ymm9", WILD + 0x94, 0, U);
	EXPECT("vpshufb (%%rax, %%r10, 2), %%ymm1, %%ymm0", WILD * 3 + 0x140, 0, U);
}

static uint64_t pointer = WILD + 1;

static void branches(void)
{
	struct kasan_x86_64_frame frame;
	struct kasan_x86_64_access access;

	REQUIRE(decode(INSN("call *%%rax"), &access));
	CHECK(access.is_branch && access.addr == WILD && !access.size);
	REQUIRE(decode(INSN("jmp *%%r11"), &access));
	CHECK(access.is_branch && access.addr == WILD + 0xb0);
	/* The pointer cannot be read: that is the access. */
	EXPECT("call *8(%%rax)", WILD + 8, 8, R);
	EXPECT("ret", WILD + 0x40, 8, R);
	/* It can, and is not an address. */
	fill(&frame, INSN("call *(%%rdi)"));
	frame.regs[KASAN_X86_64_RDI] = (uintptr_t)&pointer;
	REQUIRE(kasan_x86_64_decode(&frame, is_canonical, FS, GS, &access) == KASAN_X86_64_OPERAND);
	CHECK(access.is_branch && access.addr == WILD + 1);
	fill(&frame, INSN("ret"));
	frame.rsp = (uintptr_t)&pointer;
	REQUIRE(kasan_x86_64_decode(&frame, is_canonical, FS, GS, &access) == KASAN_X86_64_OPERAND);
	CHECK(access.is_branch && access.addr == WILD + 1);
}

static void no_operand_in_memory(void)
{
	struct kasan_x86_64_frame frame;
	struct kasan_x86_64_access access;

	CHECK(!decode(INSN("movq %%rax, %%rbx"), &access));
	CHECK(!decode(INSN("addl $1, %%ecx"), &access));
	CHECK(!decode(INSN("movl 1f(%%rip), %%eax"), &access));
	CHECK(!decode(INSN("wrmsr"), &access));
	CHECK(!decode(INSN("mov %%rax, %%cr4"), &access));
	CHECK(!decode(INSN("iretq"), &access));
	CHECK(!decode(INSN("jne 1b"), &access));
	CHECK(!decode(INSN("hlt"), &access));
	CHECK(!decode(INSN("movw %%ax, %%ds"), &access));
	fill(&frame, INSN("vmovdqu64 64(%%rax), %%zmm0"));
	CHECK_EQ(kasan_x86_64_decode(&frame, is_canonical, FS, GS, &access), KASAN_X86_64_UNKNOWN);
	CHECK(!decode(INSN("ud2"), &access));
	CHECK(!decode(INSN("rdmsr"), &access));
}

UNIT_MAIN(addresses, reads_and_writes, strings, vectors, branches, no_operand_in_memory)
#else
static void only_on_x86_64(void)
{
	unit_skip("instructions of another processor");
}

UNIT_MAIN(only_on_x86_64)
#endif

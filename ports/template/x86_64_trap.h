/* SPDX-License-Identifier: MIT */
/*
 * x86_64_trap.h - x86-64: faults become reports. To be copied, with x86_64_trap.c and x86_64_decode.c, into a port or linked
 * from here; all three are never instrumented.
 *
 * A kernel without handlers of its own puts entries from KASAN_X86_64_ENTRY() into its IDT, for #PF, #GP, #SS and #DF,
 * with the handler kasan_x86_64_trap(). A kernel that has some fills struct kasan_x86_64_frame from what they saved, and
 * calls kasan_x86_64_report() for faults in kernel mode that nothing else explains.
 */
#ifndef X86_64_TRAP_H
#define X86_64_TRAP_H

#include <kasan/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kasan_port_task;

/* Vectors, and bits of a page fault's error code: Intel SDM volume 3, chapter 6. */
#define KASAN_X86_64_DF 8
#define KASAN_X86_64_SS 12
#define KASAN_X86_64_GP 13
#define KASAN_X86_64_PF 14

#define KASAN_X86_64_PF_WRITE	2U
#define KASAN_X86_64_PF_EXECUTE 16U

/** KASAN_X86_64_GUARD - bytes below a stack that are not mapped. */
#ifndef KASAN_X86_64_GUARD
#define KASAN_X86_64_GUARD 4096UL
#endif

/* Numbers of registers in instructions. */
enum {
	KASAN_X86_64_RCX = 1,
	KASAN_X86_64_RSP = 4,
	KASAN_X86_64_RBP,
	KASAN_X86_64_RSI,
	KASAN_X86_64_RDI
};

/**
 * struct kasan_x86_64_frame - registers of the interrupted code, as KASAN_X86_64_ENTRY() saves them
 * @regs: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15. A handler that changes rsp changes @rsp instead.
 */
struct kasan_x86_64_frame {
	uint64_t regs[16];
	uint64_t vector, error, rip, cs, rflags, rsp, ss;
};

/**
 * struct kasan_x86_64_access - what an instruction does with memory
 * @addr: of the operand, or where a branch leads to. @size: bytes, 0 if not known or a branch.
 * @direction: enum kasan_fault_direction. @is_branch: a call, jump or return.
 */
struct kasan_x86_64_access {
	uintptr_t addr;
	size_t size;
	int direction;
	bool is_branch;
};

/**
 * kasan_x86_64_decode() - find the memory operand of the instruction at @frame->rip
 * @canonical: is this an address that can exist? Of an instruction's two operands the one that is not is taken.
 * @fs, @gs: bases of these segments.
 *
 * It reads the instruction, and of memory only the operand of an indirect call or jump and the return address of a ret,
 * if kasan_port_readable() allows. Return: is @access filled? All that is not known counts as NO_OPERAND, except what
 * surely may have one.
 */
enum kasan_x86_64_operand { KASAN_X86_64_NO_OPERAND, KASAN_X86_64_OPERAND, KASAN_X86_64_UNKNOWN };
enum kasan_x86_64_operand kasan_x86_64_decode(const struct kasan_x86_64_frame *frame,
					      bool (*canonical)(uintptr_t), uintptr_t fs,
					      uintptr_t gs, struct kasan_x86_64_access *access);

/**
 * kasan_x86_64_report() - report a fault in kernel mode
 * @frame: @vector one of the four above; any other is not reported. @cr2: read before anything else could fault.
 *
 * A page fault in the guard below a stack, or a double fault there, is a stack overflow. A fault of an inline check's
 * load of shadow is reported as the access that was checked. #GP and #SS are reported if the instruction used an address
 * that is not canonical; they have many other causes.
 *
 * Return: false if it was no bad access. True also if a check has just reported it.
 */
bool kasan_x86_64_report(const struct kasan_x86_64_frame *frame, uintptr_t cr2);

/** kasan_x86_64_trap() - a handler: kasan_x86_64_report(), then kasan_x86_64_after_fault(). */
void kasan_x86_64_trap(struct kasan_x86_64_frame *frame);

/** kasan_x86_64_after_fault() - what now? @reported: kasan_x86_64_report()'s result. It may change @frame, with which the
 *  interrupted code goes on. Default: kasan_port_panic() with the fault's name. */
void kasan_x86_64_after_fault(struct kasan_x86_64_frame *frame, bool reported);

/** kasan_x86_64_task() - describe the running task, with the bounds of the stack that @sp is on, or whose guard it is in.
 *  Default: kasan_port_task(), which is right if handlers have no stacks of their own. */
void kasan_x86_64_task(uintptr_t sp, struct kasan_port_task *task);

/** kasan_x86_64_name() - Return: the fault's name, as "#GP". */
const char *kasan_x86_64_name(const struct kasan_x86_64_frame *frame);

/**
 * KASAN_X86_64_ENTRY() - define the function @entry for a gate of the IDT: saves all general registers, calls
 *	`void @handler(struct kasan_x86_64_frame *frame)`, restores them and returns
 * @vector: its number. @has_error: 1 if the CPU pushes an error code (8, 10 to 14, 17, 21, 29, 30), else 0.
 *
 * Only for gates that user mode cannot come through: it does not touch GS. On the way it makes a frame record, so that
 * traces of the handler go on into the interrupted code if that ran on the same stack. The runtime takes a frame's code
 * address for one after a call and subtracts 1, hence the 1. The word below the record keeps the stack aligned.
 */
#define KASAN_X86_64_ENTRY(entry, vector, has_error, handler)                                 \
	void entry(void);                                                                     \
	__asm__(".pushsection .text\n"                                                        \
		".globl " #entry "\n"                                                         \
		".type " #entry ", @function\n" #entry ":\n"                                  \
		"	.if !" #has_error "\n"                                                \
		"	pushq $0\n"                                                                 \
		"	.endif\n"                                                                   \
		"	pushq $" #vector "\n"                                                 \
		"	pushq %r15\n	pushq %r14\n	pushq %r13\n	pushq %r12\n"                        \
		"	pushq %r11\n	pushq %r10\n	pushq %r9\n	pushq %r8\n"                          \
		"	pushq %rdi\n	pushq %rsi\n	pushq %rbp\n"                                     \
		"	pushq 128(%rsp)\n" /* rsp of the frame: 11 words, vector to rflags */ \
		"	pushq %rbx\n	pushq %rdx\n	pushq %rcx\n	pushq %rax\n"                        \
		"	cld\n"                                                                      \
		"	movq %rsp, %rdi\n"                                                          \
		"	movq 144(%rdi), %rax\n" /* rip */                                     \
		"	incq %rax\n"                                                                \
		"	pushq %rax\n"                                                               \
		"	pushq %rbp\n"                                                               \
		"	movq %rsp, %rbp\n"                                                          \
		"	pushq $0\n"                                                                 \
		"	call " #handler "\n"                                                  \
		"	addq $24, %rsp\n"                                                           \
		"	popq %rax\n	popq %rcx\n	popq %rdx\n	popq %rbx\n"                            \
		"	addq $8, %rsp\n"                                                            \
		"	popq %rbp\n	popq %rsi\n	popq %rdi\n"                                        \
		"	popq %r8\n	popq %r9\n	popq %r10\n	popq %r11\n"                              \
		"	popq %r12\n	popq %r13\n	popq %r14\n	popq %r15\n"                            \
		"	addq $16, %rsp\n"                                                           \
		"	iretq\n"                                                                    \
		".size " #entry ", . - " #entry "\n"                                          \
		".popsection\n")

#ifdef __cplusplus
}
#endif

#endif /* X86_64_TRAP_H */

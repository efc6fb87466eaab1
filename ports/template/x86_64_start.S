/* SPDX-License-Identifier: MIT */
/*
 * x86_64_start.S - from the boot loader's 32 bits, or the second CPU's 16, to C in the upper half.
 *
 * The loader finds the entry in a PVH note. It has put the image at X86_64_IMAGE_PHYSICAL, whatever addresses it is linked
 * for, and pages are off. A position-independent image moves up by a random multiple of 2 MiB.
 */
#include "x86_64.h"

	.section .note.pvh, "a", %note
	.balign	4
	.long	4, 8, 18		/* lengths of name and value; XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.quad	X86_64_IMAGE_PHYSICAL

	.bss
	.balign	4096
	.globl	boot_pml4
boot_pml4:
	.space	4096
direct_pdpt:
	.space	4096
direct_pd:
	.space	4096
device_pd:
	.space	4096
image_pdpt:
	.space	4096
image_pd:
	.space	4096

#define CR0	 0x80010031		/* PG, WP, NE, ET, PE. Without WP the kernel could write the page of zeroes */
#define CR4_PAE	 0x20
#define EFER	 0xc0000080
#define EFER_LME 0x100
#define TABLE	 (X86_64_PRESENT | X86_64_WRITABLE)

/* Relative to _start, so that nothing has to be relocated. */
#define AT(symbol) (symbol - _start)(%ebp)

	.section .text.start, "ax"
	.code32
	.globl	_start
_start:
	cli
	cld
	movl	$X86_64_IMAGE_PHYSICAL, %ebp
	leal	AT(__bss_start), %edi
	leal	AT(__bss_end), %ecx
	subl	%edi, %ecx
	shrl	$2, %ecx
	xorl	%eax, %eax
	rep stosl
	leal	AT(__stack_end), %esp

	leal	AT(boot_pml4), %edi
	leal	AT(direct_pdpt), %eax
	orl	$TABLE, %eax
	movl	%eax, (%edi)		/* until paging_start(): physical addresses as they are */
	movl	%eax, X86_64_DIRECT_SLOT * 8(%edi)
	leal	AT(image_pdpt), %eax
	orl	$TABLE, %eax
	movl	%eax, 511 * 8(%edi)
	movl	%edi, %cr3

	leal	AT(direct_pdpt), %edi
	leal	AT(direct_pd), %eax
	orl	$TABLE, %eax
	movl	%eax, (%edi)
	leal	AT(device_pd), %eax
	orl	$TABLE, %eax
	movl	%eax, 3 * 8(%edi)
	leal	AT(image_pdpt), %edi
	leal	AT(image_pd), %eax
	orl	$TABLE, %eax
	movl	%eax, 510 * 8(%edi)

	leal	AT(direct_pd), %edi
	movl	$(TABLE | X86_64_LARGE), %eax
	movl	$512, %ecx
	call	fill
	leal	AT(device_pd), %edi
	movl	$(0xc0000000 | TABLE | X86_64_LARGE | X86_64_UNCACHED), %eax
	movl	$512, %ecx
	call	fill
	xorl	%esi, %esi
#ifdef TEMPLATE_PIE
	rdtsc
	xorb	%ah, %al
	movzbl	%al, %esi		/* by how many times 2 MiB the image moves up */
#endif
	leal	AT(image_pd), %edi
	leal	(%edi, %esi, 8), %edi
	movl	$(TABLE | X86_64_LARGE), %eax
	movl	$256, %ecx
	call	fill

	movl	%cr4, %eax
	orl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	$EFER, %ecx
	rdmsr
	orl	$EFER_LME, %eax
	wrmsr
	movl	$CR0, %eax
	movl	%eax, %cr0
	leal	AT(gdt), %eax
	movl	%eax, AT(gdt_pointer + 2)
	lgdtl	AT(gdt_pointer)
	leal	AT(start_64), %eax
	pushl	$X86_64_CODE_SELECTOR
	pushl	%eax
	lretl

/* %ecx entries from (%edi) on for memory from %eax on. */
fill:
	movl	%eax, (%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	decl	%ecx
	jnz	fill
	ret

	.code64
start_64:
	xorl	%eax, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	%eax, %fs
	movl	%eax, %gs
	movl	%esi, %edi
	shlq	$21, %rdi
	movabsq	$X86_64_HIGH, %rax
	addq	%rax, %rdi		/* the image's addresses, minus the physical ones */
	leaq	1f(%rip), %rax
	addq	%rdi, %rax
	jmpq	*%rax
1:	leaq	__stack_end(%rip), %rsp
	xorl	%ebp, %ebp
	call	x86_64_start
	ud2

	.data
	.balign	8
gdt:
	.quad	0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdt_pointer:
	.word	. - gdt - 1
	.quad	0

/* The second CPU: copied to X86_64_TRAMPOLINE, and its last words filled. Its page table has memory there, too. */
#define IN_COPY(symbol) (X86_64_TRAMPOLINE + symbol - trampoline)

	.section .rodata, "a"
	.globl	trampoline
	.globl	trampoline_end
	.code16
trampoline:
	cli
	xorw	%ax, %ax
	movw	%ax, %ds
	lgdtl	IN_COPY(copied_pointer)
	movl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	IN_COPY(trampoline_root), %eax
	movl	%eax, %cr3
	movl	$EFER, %ecx
	rdmsr
	orl	$EFER_LME, %eax
	wrmsr
	movl	$CR0, %eax
	movl	%eax, %cr0
	ljmpl	$X86_64_CODE_SELECTOR, $IN_COPY(copied_64)
	.code64
copied_64:
	xorl	%eax, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	%eax, %fs
	movl	%eax, %gs
	movq	IN_COPY(trampoline_stack), %rsp
	xorl	%ebp, %ebp
	pushq	%rbp
	movq	IN_COPY(trampoline_code), %rax
	jmpq	*%rax
	.balign	8
copied_gdt:
	.quad	0, 0x00af9b000000ffff, 0x00cf93000000ffff
copied_pointer:
	.word	. - copied_gdt - 1
	.long	IN_COPY(copied_gdt)
	.balign	8
	/* struct trampoline_words of x86_64_cpu.c */
trampoline_root:
	.quad	0
trampoline_stack:
	.quad	0
trampoline_code:
	.quad	0
trampoline_end:

	.section .note.GNU-stack, "", %progbits

/* SPDX-License-Identifier: MIT */
/*
 * fault.c - memory accesses that the MMU refuses.
 *
 * Not instrumented: the code that explains a bad access must not make one.
 *
 * The interesting case under KASAN: an inline check of a null, user or wild pointer faults on the *shadow*
 * load, because such an address has no shadow. The fault handler gives that load the result "poisoned" and
 * continues the thread: the compiler's slow path then reports the access with its exact address, size and
 * direction. The access itself faults next, and ends the thread.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/sched.h>
#include "extable.h"
#include "internal.h"
#include "mte.h"

#define ESR_ISS_WNR  BIT(6)
#define ESR_ISS_CM   BIT(8)
#define ESR_ISS_FNV  BIT(10)
#define ESR_FSC(esr) ((unsigned int)((esr) & 0x3f))

/* Fault status codes; the low two bits of the first three groups hold the level. */
#define FSC_IS_TRANSLATION(fsc)	 (((fsc) & 0x3c) == 0x04)
#define FSC_IS_PERMISSION(fsc)	 (((fsc) & 0x3c) == 0x0c)
#define FSC_IS_ADDRESS_SIZE(fsc) (((fsc) & 0x3c) == 0x00)
#define FSC_IS_ACCESS_FLAG(fsc)	 (((fsc) & 0x3c) == 0x08)
#define FSC_EXTERNAL		 0x10
#define FSC_TAG_CHECK		 0x11
#define FSC_ALIGNMENT		 0x21

static const char *fsc_name(unsigned int fsc)
{
	static const char *const names[] = {
		"address size fault at level 0", "address size fault at level 1",
		"address size fault at level 2", "address size fault at level 3",
		"translation fault at level 0",	 "translation fault at level 1",
		"translation fault at level 2",	 "translation fault at level 3",
		"access flag fault at level 0",	 "access flag fault at level 1",
		"access flag fault at level 2",	 "access flag fault at level 3",
		"permission fault at level 0",	 "permission fault at level 1",
		"permission fault at level 2",	 "permission fault at level 3",
	};

	if (fsc < ARRAY_SIZE(names))
		return names[fsc];
	switch (fsc) {
	case FSC_EXTERNAL:
		return "external abort";
	case FSC_TAG_CHECK:
		return "tag check fault";
	case FSC_ALIGNMENT:
		return "alignment fault";
	case 0x30:
		return "TLB conflict abort";
	default:
		return "unknown fault";
	}
}

#ifdef CONFIG_KASAN

/* --- Instructions ----------------------------------------------------------------------------- */

enum address_form { FORM_OFFSET, FORM_UNSCALED, FORM_POST, FORM_PRE, FORM_REGISTER };

/** struct access - one load or store of a general register */
struct access {
	enum address_form form;
	unsigned int rt, rn, rm;
	unsigned int size; /* bytes */
	unsigned int opc;  /* 0: store, 1: load, 2: load and sign-extend to 64 bits, 3: to 32 */
	long imm;	   /* for the unscaled, post- and pre-indexed forms */
};

static bool decode_access(u32 insn, struct access *a)
{
	/* size 111 0 xx: load/store register, not SIMD */
	if ((insn & 0x3c000000) != 0x38000000)
		return false;
	a->size = 1U << (insn >> 30);
	a->opc = (insn >> 22) & 3;
	a->rt = insn & 31;
	a->rn = (insn >> 5) & 31;
	a->rm = (insn >> 16) & 31;
	a->imm = (long)((int)(insn << 11) >> 23);
	if (insn & BIT(24)) {
		a->form = FORM_OFFSET;
		return true;
	}
	if (insn & BIT(21)) {
		a->form = FORM_REGISTER;
		/* Otherwise an atomic or an authenticated load. */
		return ((insn >> 10) & 3) == 2;
	}
	switch ((insn >> 10) & 3) {
	case 0:
		a->form = FORM_UNSCALED;
		return true;
	case 1:
		a->form = FORM_POST;
		return true;
	case 3:
		a->form = FORM_PRE;
		return true;
	default:
		/* Unprivileged access. */
		return false;
	}
}

size_t fault_access_size(const struct pt_regs *regs)
{
	struct access a;
	u32 insn;

	if (!kernel_text_address(regs->pc))
		return 0;
	insn = *(const u32 *)regs->pc;
	if (decode_access(insn, &a))
		return a.size;
	/* Pairs of general registers, 32 or 64 bits each. */
	if ((insn & 0x3a000000) == 0x28000000 && !(insn & BIT(26)))
		return insn & BIT(31) ? 16 : 8;
	/* Exclusive and ordered accesses. */
	if ((insn & 0x3f000000) == 0x08000000)
		return 1UL << (insn >> 30);
	return 0;
}

/* --- KASAN ------------------------------------------------------------------------------------ */

/** struct last_access - an access by the task @pid that has been handled: [@addr, @addr + @size) */
struct last_access {
	pid_t pid; /* not a pointer: a new task may get the memory of one that its report ended */
	unsigned long addr;
	size_t size;
};

/* Each CPU writes its own entry, interrupts off. Readers look at all: the task may have moved to another CPU. */
static struct last_access reported[NR_CPUS];

static bool was_access(const struct last_access *list, unsigned long addr)
{
	for (unsigned int i = 0; i < NR_CPUS; i++) {
		if (list[i].pid == current->pid && addr - list[i].addr < list[i].size)
			return true;
	}
	return false;
}

static void forget_access(struct last_access *list)
{
	for (unsigned int i = 0; i < NR_CPUS; i++) {
		if (list[i].pid == current->pid)
			list[i].size = 0;
	}
}

void arch_note_kasan_report(uintptr_t addr, size_t size)
{
	unsigned long flags = arch_local_irq_save();

	reported[smp_processor_id()] = (struct last_access){
		.pid = current->pid, .addr = kasan_untag_addr(addr), .size = size ? size : 1};
	arch_local_irq_restore(flags);
}

static struct last_access fixed_up[NR_CPUS];

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/*
 * Is @rt compared soon after @pc? A shadow value always is, either at once or after the address's low bits
 * are prepared.
 */
static bool is_tested_soon(unsigned long pc, unsigned int rt)
{
	for (unsigned int i = 1; i <= 8; i++) {
		u32 insn;

		if (!kernel_text_address(pc + 4 * i))
			return false;
		insn = *(const u32 *)(pc + 4 * i);
		/* cbz, cbnz */
		if ((insn & 0x7e000000) == 0x34000000 && (insn & 31) == rt)
			return true;
		/* cmp register, #imm; cmp register, register; tst */
		if ((insn & 0x7f80001f) == 0x7100001f && ((insn >> 5) & 31) == rt)
			return true;
		if ((insn & 0x7f20001f) == 0x6b00001f &&
		    (((insn >> 5) & 31) == rt || ((insn >> 16) & 31) == rt))
			return true;
		if ((insn & 0x7f80001f) == 0x7200001f && ((insn >> 5) & 31) == rt)
			return true;
	}
	return false;
}

/* Is @pc in one of the runtime's functions that check single accesses? */
static bool in_runtime_check(unsigned long pc)
{
	extern char __kasan_access_start[], __kasan_access_end[];

	return pc >= (unsigned long)__kasan_access_start && pc < (unsigned long)__kasan_access_end;
}

bool kasan_fixup_shadow_load(struct pt_regs *regs)
{
	unsigned long far = regs->far;
	struct access a;
	uintptr_t addr;
	bool certain = false;
	u64 value;

	/* With outline checks the blind load is in the runtime, at known places. */
	if (in_runtime_check(regs->pc))
		certain = true;
#ifndef CONFIG_KASAN_INLINE
	else
		return false;
#endif
	if (!FSC_IS_TRANSLATION(ESR_FSC(regs->esr)) && !FSC_IS_ADDRESS_SIZE(ESR_FSC(regs->esr)))
		return false;
	if (regs->esr & (ESR_ISS_WNR | ESR_ISS_FNV))
		return false;
	/* The address may have no shadow; then the runtime's calculation can lead anywhere. */
	if (!kasan_shadow_fault_to_access(far, &addr) || far >= KASAN_SHADOW_START) {
		if (!certain)
			return false;
		addr = 0;
	}
	if (!kernel_text_address(regs->pc) || !decode_access(*(const u32 *)regs->pc, &a))
		return false;
	/* A check loads one shadow byte, or two for an access of 16 bytes. */
	if (a.opc == 0 || a.size > 2 || a.rt == 31)
		return false;

	/*
	 * A fault between the shadow's offset and the kernel's half could also be an access through a wild
	 * pointer that has just such a value. The usual code, with offset and index in two registers,
	 * leaves no doubt.
	 */
	if (!certain && a.form == FORM_REGISTER)
		certain = regs->regs[a.rm] == CONFIG_KASAN_SHADOW_OFFSET ||
			  (a.rn < 31 && regs->regs[a.rn] == CONFIG_KASAN_SHADOW_OFFSET);
	if (!certain) {
		if (far >= PAGE_OFFSET || was_access(fixed_up, far) || was_access(reported, far) ||
		    !is_tested_soon(regs->pc, a.rt))
			return false;
	}

	if (a.form == FORM_POST || a.form == FORM_PRE) {
		if (a.rn == 31)
			return false;
		regs->regs[a.rn] += (u64)a.imm;
	}
	/* "No byte is accessible", extended as the load would have done it. */
	value = a.size == 1 ? 0xff : 0xffff;
	if (a.opc == 2)
		value = ~0UL;
	else if (a.opc == 3)
		value = 0xffffffffUL;
	regs->regs[a.rt] = value;
	regs->pc += 4;
	/* The access itself comes next: it lies in this granule and up to 16 bytes from there. */
	fixed_up[smp_processor_id()] =
		(struct last_access){.pid = current->pid, .addr = addr, .size = 24};
	return true;
}

#else /* Hardware tags have no shadow: the CPU keeps the tags. */

bool kasan_fixup_shadow_load(struct pt_regs *regs)
{
	return false;
}

#endif

/* Return: true if this access was reported before the fault. */
static bool kasan_handle_fault(const struct pt_regs *regs, unsigned long addr, bool is_write)
{
	/* FAR_EL1 holds the whole pointer, including its top byte: a tag or, in a wild pointer, anything. */
	if (was_access(reported, kasan_untag_addr(addr))) {
		forget_access(reported);
		forget_access(fixed_up);
		return true;
	}
	forget_access(fixed_up);
	kasan_report_fault(addr, fault_access_size(regs), is_write, regs->pc, regs->regs[29]);
	/* The report is of this fault, not of one to come: a handler may go on, and come to the address again. */
	forget_access(reported);
	return false;
}

#else /* !CONFIG_KASAN */

bool kasan_fixup_shadow_load(struct pt_regs *regs)
{
	return false;
}

static bool kasan_handle_fault(const struct pt_regs *regs, unsigned long addr, bool is_write)
{
	return false;
}

#endif /* CONFIG_KASAN */

/* --- Oopses ----------------------------------------------------------------------------------- */

static void print_fault(const struct pt_regs *regs, const char *what, const char *access)
{
	printk("Unable to handle kernel %s at virtual address %016lx\n", what, regs->far);
	printk("ESR = 0x%016lx: %s, %s\n", regs->esr, access, fsc_name(ESR_FSC(regs->esr)));
}

void do_data_abort(struct pt_regs *regs)
{
	unsigned int fsc = ESR_FSC(regs->esr);
	bool is_write = (regs->esr & ESR_ISS_WNR) && !(regs->esr & ESR_ISS_CM);
	const char *what = "paging request";
	bool is_pan, closed, explained = false;
	enum program_fault_kind kind = PROGRAM_FAULT_UNMAPPED;
	unsigned long flags;

#ifdef CONFIG_KASAN_HW_TAGS
	if (fsc == FSC_TAG_CHECK) {
		mte_tag_check_fault(regs);
		return;
	}
#endif
	if (fixup_exception(regs))
		return;
	if (FSC_IS_TRANSLATION(fsc) &&
	    (kasan_shadow_spurious_fault(regs->far) || handle_stack_fault(regs, regs->far)))
		return;
	if (kasan_fixup_shadow_load(regs))
		return;

	/* In the lower half a permission fault means that the kernel itself accessed user memory. */
	is_pan = FSC_IS_PERMISSION(fsc) && regs->far < TASK_SIZE;
	if (is_pan)
		what = "access to user memory";
	else if (FSC_IS_PERMISSION(fsc))
		what = is_write ? "write to read-only memory" : "read from unreadable memory";
	else if (!FSC_IS_TRANSLATION(fsc) && !FSC_IS_ADDRESS_SIZE(fsc))
		what = fsc_name(fsc);
	else if (regs->far < PAGE_SIZE)
		what = "NULL pointer dereference";

	closed = is_program_fault(regs) && hit_closed_page(regs->far);
	if (closed)
		what = "access to memory that the program has protected";
	if (closed || (FSC_IS_PERMISSION(fsc) && !is_pan))
		kind = PROGRAM_FAULT_PROTECTED;
	else if (fsc == FSC_ALIGNMENT)
		kind = PROGRAM_FAULT_ALIGNMENT;
	else if (!FSC_IS_TRANSLATION(fsc) && !FSC_IS_ADDRESS_SIZE(fsc) && !is_pan)
		kind = PROGRAM_FAULT_BUS;

	/* Shadow does not matter for a write to .rodata: its bytes are accessible, but not for writing. */
	if ((!FSC_IS_PERMISSION(fsc) || is_pan) && mte_leave_mem_function(regs, is_write))
		return;
	/* A misaligned access is no matter of the memory's state. */
	if ((!FSC_IS_PERMISSION(fsc) || is_pan) && !closed && fsc != FSC_ALIGNMENT)
		explained = kasan_handle_fault(regs, regs->far, is_write);
	if (handle_program_fault(regs, kind, regs->far))
		return;

	if (explained) {
		printk("Unable to handle kernel %s at virtual address %016lx\n", what, regs->far);
		printk("Oops: this is the access that KASAN reported above, it cannot be done\n");
		die(NULL, regs);
	}
	flags = console_lock();
	print_fault(regs, what, is_write ? "data abort, write" : "data abort, read");
	console_unlock(flags);
	die("Oops", regs);
}

void do_instruction_abort(struct pt_regs *regs)
{
	const bool forbidden = FSC_IS_PERMISSION(ESR_FSC(regs->esr));
	const char *what = "paging request";
	unsigned long flags;

	if (scs_handle_underflow(regs))
		die("Oops - shadow call stack underflow", regs);
	if (handle_program_fault(regs, forbidden ? PROGRAM_FAULT_PROTECTED : PROGRAM_FAULT_UNMAPPED,
				 regs->pc))
		return;
	if (forbidden)
		what = "execute from non-executable memory";
	else if (regs->far < PAGE_SIZE)
		what = "NULL pointer dereference";
	flags = console_lock();
	print_fault(regs, what, "instruction abort");
	console_unlock(flags);
	die("Oops", regs);
}

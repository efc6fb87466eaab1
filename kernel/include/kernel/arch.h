/* SPDX-License-Identifier: MIT */
/*
 * arch.h - the contract between the kernel and an architecture.
 *
 * It names everything that kernel/arch/<arch>/ supplies. Code outside of that folder uses only these
 * declarations and the <asm/...> headers listed below: `./redzone test style` checks that. To start an
 * architecture, read docs/dev/new-architecture.md: it gives the order in which to write the files.
 *
 * Short functions, constants and types are in the architecture's headers, in kernel/arch/<arch>/include/asm/:
 *
 *   <asm/barrier.h>   mb() rmb() wmb() smp_mb() smp_rmb() smp_wmb(), smp_load_acquire(), smp_store_release();
 *                     cpu_relax(), the hint inside a loop that waits; arch_cpu_idle(), which waits for an
 *                     interrupt and also returns if one is pending while interrupts are off
 *   <asm/bug.h>       arch_bug(): the trap behind BUG(); it keeps all registers and does not return
 *   <asm/builtins.h>  for functions that compilers call: arch_rounding() and enum rounding; arch_raise_float() and its flags
 *                     FLOAT_INVALID FLOAT_BY_ZERO FLOAT_OVERFLOW FLOAT_UNDERFLOW FLOAT_INEXACT;
 *                     arch_sync_code(); ARCH_FLOAT16, if the compilers have that type;
 *                     ARCH_PRESERVE_MOST, if Clang has that calling convention
 *   <asm/current.h>   get_current() and `current`: the running task; valid before instrumented code runs;
 *                     arch_this_ip(): a code address in the function that it is inlined into
 *   <asm/elf.h>       ELF_MACHINE, ELF_MACHINE_NAME and ELF_CODE_ALIGN of programs and modules; MODULE_CALL_REACH,
 *                     MODULE_VENEER_SIZE in bytes, a multiple of 8; the last 8 bytes of a veneer hold its target
 *   <asm/fpu.h>       struct fpu_state: the floating-point registers of a thread; all zero: those of a new one
 *   <asm/io.h>        device registers: readb_relaxed() readw_relaxed() readl_relaxed() readq_relaxed(),
 *                     writeb_relaxed() writew_relaxed() writel_relaxed() writeq_relaxed(); readl() and writel()
 *                     are also ordered against memory
 *   <asm/irqflags.h>  arch_local_irq_save() arch_local_irq_restore() arch_local_irq_disable()
 *                     arch_local_irq_enable() arch_local_save_flags() arch_irqs_disabled_flags(); arch_unmask_errors(): exceptions other than interrupts
 *   <asm/kasan.h>     with hardware tags: arch_check_async_faults(), arch_check_async_faults_in(), arch_leave_mem_function()
 *   <asm/libc.h>      what Linux has of its own for each architecture: struct libc_ucontext, its ucontext_t, with the members
 *                     stack, mask; ARCH_MINSIGSTKSZ, the smallest alternate stack that it accepts; ARCH_O_DIRECTORY
 *   <asm/memory.h>    the map of the address space: PAGE_OFFSET PAGE_END, MODULES_VADDR MODULES_END, KIMAGE_VADDR
 *                     KIMAGE_END, VMALLOC_START VMALLOC_END, IOREMAP_START IOREMAP_END, KASAN_SHADOW_START
 *                     KASAN_SHADOW_END; KIMAGE_LOAD, where the ELF file is loaded; TASK_SIZE: user addresses are below;
 *                     FIX_UART_VADDR if pl011.c drives the console; BOOT_STACK_SIZE, OVERFLOW_STACK_SIZE,
 *                     OVERFLOW_STACK_SHIFT. It includes <kernel/memory.h>, whose
 *                     memstart_addr kernel/mm/linear.c sets, and whose kimage_voffset is the architecture's
 *   <asm/patch.h>     ENTRY_NOPS, ENTRY_NOP_BYTES: see arch_patch_jump() and <kernel/static_entry.h>
 *   <asm/percpu.h>    smp_processor_id()
 *   <asm/pgtable.h>   pgprot_t and its values: PAGE_KERNEL (read and write), PAGE_KERNEL_RO, PAGE_KERNEL_EXEC,
 *                     PAGE_KERNEL_TAGGED (PAGE_KERNEL with memory tags, if the CPU has them),
 *                     PAGE_KERNEL_TAGGED_RO, PAGE_DEVICE;
 *                     PROT_BLOCKS_OK, which allows large pages. For kernel/mm/pgtable.c and kernel/user/pgtable.c: PAGE_SHIFT,
 *                     PMD_SHIFT, PUD_SHIFT, PGD_SHIFT, what an entry of each level maps, as a power of two; PTRS_PER_TABLE;
 *                     PGTABLE_BOOT_TABLES: tables that are needed before memblock; USER_TOP_ENTRIES: how many entries of a top
 *                     table are an address space's own; PTE_VALID, PTE_TABLE_SHARED: a bit that the CPU ignores in an entry for
 *                     a table; pte_table() pte_leaf() pgprot_user() make entries, pte_is_table() pte_is_leaf() pte_address()
 *                     pte_prot() pte_is_writable() read them; pgtable_sync_new(): an entry has been stored where nothing was
 *   <asm/ptrace.h>    struct pt_regs, with the members pc, sp; regs_syscall_nr() regs_irqs_disabled() regs_fp()
 *                     regs_return_address() regs_error() REGS_ERROR_NAME regs_address() REGS_ADDRESS_NAME; STACK_ALIGN;
 *                     with CONFIG_SHADOW_CALL_STACK: regs_scs(), its pointer; for tests REG_SCS and REG_FP, numbers in the
 *                     array regs of struct pt_regs
 *   <asm/scs.h>       with CONFIG_SHADOW_CALL_STACK: SCS_SIZE, what each shadow call stack is aligned to; boot_scs, that
 *                     of the boot task, BOOT_SCS_SIZE, and boot_scs_faults, the boot CPU's for faults; SCS_REG_NAME;
 *                     scs_pointer(), scs_base_of(), scs_strip(); for tests scs_set_pointer(). struct cpu_context then has
 *                     a member scs_base. The architecture defines scs_call_softirqs(), which <kernel/scs.h>
 *                     declares. The entry finds a CPU's stacks in scs_irq_base[], scs_softirq_base[], scs_fault_base[]
 *   <asm/stacktrace.h> arch_frame_record() arch_frame_is_set_up() scs_has_pushed() scs_is_raised(); ARCH_HAS_LEAF_FRAMES, if
 *                     a compiler makes functions that set a frame pointer and save no return address, and then
 *                     arch_leaf_caller() arch_regs_at()
 *   <asm/stackleak.h> with CONFIG_KSTACK_ERASE: STACK_POISON, the contents of an erased stack, which is no address of
 *                     the kernel or a program; STACK_TOP_RESERVED; TASK_LOWEST_STACK, an offset in struct task.
 *                     stackleak_erase() and the two functions after it in <ext/stackleak.h> are the architecture's
 *   <asm/switch.h>    struct cpu_context, whose members are the architecture's but for scs_base; arch_init_context()
 *                     arch_user_regs(); ret_from_fork(), where a new task starts: the outermost function of its traces
 *
 * Assembly and the linker script also include <asm/memory.h>. C files that run before there is shadow,
 * inside a fault or inside a report are not instrumented: the architecture's sources.cmake lists them.
 *
 * "Any context" includes interrupt handlers, code with interrupts off or locks held, and the inside of a report.
 */
#ifndef KERNEL_ARCH_H
#define KERNEL_ARCH_H

#include <kasan/config.h>
#include <kernel/elf.h>
#include <kernel/types.h>
#include <asm/memory.h>
#include <asm/pgtable.h>

struct fpu_state;
struct libc_ucontext;
struct mm_struct;
struct page;
struct pt_regs;
struct task;

#ifdef CONFIG_KASAN_HW_TAGS
#include <asm/kasan.h>
#else
static inline void arch_check_async_faults(void)
{
}

static inline void arch_check_async_faults_in(const void *func)
{
}

static inline bool arch_leave_mem_function(struct pt_regs *regs, bool is_write)
{
	return false;
}
#endif

/* The linker script defines the image [_text, _end), its code [_text, _etext), and more: docs/dev/new-architecture.md
 * has the full list. */

/* --- Boot, in the order of start_kernel() ----------------------------------------------------- */

/*
 * The architecture's first code clears .bss, switches the MMU on, sets `current` to &init_task and the
 * stack pointer to boot_stack_top. It maps shadow (all of it readable, that of the image writable), and
 * calls start_kernel() with interrupts off.
 */

/* Stack of init_task: [boot_stack, boot_stack + BOOT_STACK_SIZE). */
extern char boot_stack[], boot_stack_top[];

/**
 * setup_arch() - find the machine's memory and devices, and map its memory
 * @cmdline: set to the command line, "" if there is none. The text stays valid.
 *
 * Adds RAM to memblock, reserves the parts in use, maps all RAM at PAGE_OFFSET, and sets nr_cpu_ids,
 * initrd_start and initrd_end. Boot CPU, before constructors: globals and tests have not been registered
 * yet.
 */
void setup_arch(const char **cmdline);

/* Addresses of the initial RAM disk in the linear map; both are 0 if there is none. */
extern unsigned long initrd_start, initrd_end;

#ifdef CONFIG_KASAN_HW_TAGS
/**
 * arch_kasan_probe() - find out whether the machine has memory tags
 *
 * @command_line: whole; it is not changed.
 *
 * Passes the result to kasan_init_hw_tags(). Boot CPU, after setup_arch(), before parameters are parsed.
 */
void arch_kasan_probe(const char *command_line);

/** arch_kasan_enable() - start to check accesses, according to the parameters. Boot CPU, after parameters
 *  are parsed, before mm_init(). The other CPUs follow when they start. */
void arch_kasan_enable(void);
#else
static inline void arch_kasan_probe(const char *command_line)
{
}

static inline void arch_kasan_enable(void)
{
}
#endif

/**
 * arch_random_seed() - a number that cannot be predicted outside of the machine
 * @source: filled with where it is from, NULL if the machine offers nothing but the time since its start.
 *
 * Boot CPU, after setup_arch().
 */
u64 arch_random_seed(const char **source);

/** init_IRQ() - find and start the interrupt controller. Boot CPU, after sched_init(). */
void init_IRQ(void);

/** time_init() - start the boot CPU's tick: an interrupt that calls timer_tick() HZ times a second. After
 *  init_IRQ(). */
void time_init(void);

/**
 * arch_power_off() - switch the machine off, or stop for ever
 *
 * The last step of machine_exit(). Interrupts off; any context, also before setup_arch().
 */
_Noreturn void arch_power_off(void);

/* --- Time ------------------------------------------------------------------------------------- */

/** clock_ns() - Return: nanoseconds since boot; monotonic, and the same on all CPUs. Any context. */
u64 clock_ns(void);

/** udelay() - spin for at least @us microseconds. Any context. */
void udelay(unsigned long us);

/** arch_counter() - Return: the CPU's counter, read after all earlier instructions are done. It starts at 0
 *  at reset. The benchmark measures with it. Any context. */
u64 arch_counter(void);

/** arch_counter_hz() - Return: counts of arch_counter() per second. */
u64 arch_counter_hz(void);

/* --- Device interrupts; <kernel/interrupt.h> builds on these ------------------------------------ */

/* All numbers of interrupts are below. */
#define NR_IRQS 1020U

/** arch_irq_exists() - Return: true if the machine has interrupt @irq, and it is not for calls between CPUs. @shared: nor one
 *  that each CPU has for itself. */
bool arch_irq_exists(unsigned int irq, bool shared);

/** arch_irq_enable(), arch_irq_disable() - let @irq interrupt, or keep it pending until it may. One that each CPU has for
 *  itself: on this CPU only. Any context. */
void arch_irq_enable(unsigned int irq);
void arch_irq_disable(unsigned int irq);

/** arch_irq_set_pending() - for tests: as if the device of @irq, a shared one, asked for an interrupt. Return: false if the
 *  controller has no way to do that; then those tests are skipped. */
bool arch_irq_set_pending(unsigned int irq);

/* --- CPUs; <kernel/smp.h> builds on these ----------------------------------------------------- */

/**
 * arch_start_cpu() - start @cpu, which is off
 * @idle: its idle task. The CPU sets `current` to it and runs on its stack.
 *
 * The new CPU switches its checks on (hardware tags), sets up its interrupts, starts its tick, and calls
 * smp_cpu_online(). Called in thread context. Return: 0 or a negative error.
 */
int arch_start_cpu(unsigned int cpu, struct task *idle);

/** arch_send_ipi() - interrupt the CPUs in @mask, at least one; each calls smp_handle_ipi(@ipi) with
 *  interrupts off. Earlier writes are visible to them. Any context. */
void arch_send_ipi(u32 mask, unsigned int ipi);

/** arch_stop_cpu() - stop this CPU for good; nothing wakes it. Interrupts off. */
_Noreturn void arch_stop_cpu(void);

/* --- Tasks ------------------------------------------------------------------------------------ */

/** cpu_switch_to() - save @prev, continue @next, and set `current`. Interrupts off. It returns when @prev is
 *  continued. Return: the task that ran just before. A new task starts as arch_init_context() has prepared it. */
struct task *cpu_switch_to(struct task *prev, struct task *next);

/** arch_fpu_start() - let the running task use the floating-point registers, and load them from @state. Preemption
 *  off. */
void arch_fpu_start(const struct fpu_state *state);
/** arch_fpu_call() - call(@with), which may change the running task's floating-point registers: they are afterwards what
 *  they were. It has some. Any context that the task was interrupted by. */
void arch_fpu_call(void (*call)(const void *with), const void *with);

/**
 * arch_ucontext_save() - fill @context's part of the architecture for a handler of a signal
 * @context: all zero but for its members stack and mask. @regs: the interrupted code's; NULL: the handler is called in a system
 * call, and only the program counter and the floating-point registers are known. @fault_address: with @regs only.
 */
void arch_ucontext_save(struct libc_ucontext *context, const struct pt_regs *regs,
			unsigned long fault_address);

/** arch_ucontext_restore() - take over what the handler may have changed. @regs: as above. Return: false if it changed the
 *  stack pointer, which is refused. */
bool arch_ucontext_restore(const struct libc_ucontext *context, struct pt_regs *regs);

/** arch_call_on_stack() - call @fn(@arg) on another stack of the running task. @top: the address above it. */
void arch_call_on_stack(void *top, void (*fn)(void *arg), void *arg);

/* --- Exceptions, faults and traces ------------------------------------------------------------ */

/* False until the final map, the shadow and a console exist: printk() must not be used. The architecture sets it. */
extern bool early_init_done;

/** arch_bare_panic() - print @what and the registers with early_printk() only, and stop. For the time before printk() works,
 *  and for exceptions that it may have caused itself. */
_Noreturn void arch_bare_panic(const char *what, const struct pt_regs *regs);

/** show_regs() - print "CPU: n PID: n Comm: ...", print_modules(), the registers, the code around the pc, and show_trace(). */
void show_regs(struct pt_regs *regs);

/** arch_handle_irq() - handle the interrupts that are pending: ask the controller which, call irq_handle(), smp_handle_ipi()
 *  or timer_tick(), and tell the controller that it is over. Called by kernel_irq() and user_irq(). */
void arch_handle_irq(void);

/* The stacks for exceptions of code without room on its own: NR_CPUS pieces of OVERFLOW_STACK_SIZE bytes. */
extern char overflow_stack[];

/** arch_is_interrupted() - does a trace go from the return address @before to an instruction that an exception has
 *  interrupted? That one is not a return address: print it with %pS. Any context. */
bool arch_is_interrupted(uintptr_t before);

/** arch_access_size() - Return: bytes that the instruction at the pc accesses, 0 if not known. */
size_t arch_access_size(const struct pt_regs *regs);

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/* What an instruction looks like, for one that loads shadow. */
#define SHADOW_LOAD 1U /* it reads one or two bytes, and the result is a register or a comparison */
#define SHADOW_LOAD_BY_OFFSET \
	2U /* one operand of its address is the shadow's offset: it can be nothing else */
#define SHADOW_LOAD_TESTED 4U /* what it reads is compared at once, or a few instructions later */

/** arch_shadow_load() - Return: what the instruction at the pc is, of code of the kernel: a sum of SHADOW_LOAD_*. */
unsigned int arch_shadow_load(const struct pt_regs *regs);

/**
 * arch_finish_shadow_load() - complete the instruction at the pc as if it had read ff from each byte: "not accessible"
 *
 * Whatever the instruction would have changed is changed: a register with the byte extended as the instruction asks for, or
 * the flags of a comparison in memory. @regs continues after it. Return: false if that cannot be done.
 */
bool arch_finish_shadow_load(struct pt_regs *regs);

#endif

/* --- The kernel's page tables. Any context unless stated otherwise ---------------------------- */

/** virt_addr_valid() - Return: true if @va is in the linear map and backed by RAM. */
bool virt_addr_valid(const void *va);

/** pa_is_ram() - Return: true if @pa is RAM. */
bool pa_is_ram(phys_addr_t pa);

/**
 * pgtable_page_alloc - allocates pages for page tables and shadow
 *
 * It starts with pages of the image; setup_arch() changes it to memblock, mm_init() to the page allocator.
 * It is called with interrupts off and the page tables locked, and must not map anything. Returns the
 * physical address of one page of RAM with undefined contents; 0 if there is no memory.
 */
extern phys_addr_t (*pgtable_page_alloc)(void);

/**
 * map_kernel_range() - map [@va, @va + @size) to physical memory at @pa
 * @va, @pa, @size: multiples of PAGE_SIZE; @va in the kernel's half.
 * @prot: PAGE_*, optionally with PROT_BLOCKS_OK.
 *
 * A range that is already mapped is mapped anew. Page tables are never freed: the next mapping of the range
 * uses them again. Return: 0, or -ENOMEM with the pages before the failure mapped.
 */
int map_kernel_range(unsigned long va, phys_addr_t pa, size_t size, pgprot_t prot);

/** prepare_kernel_range() - make the page tables for single pages in [@va, @va + @size). Return: 0, or -ENOMEM. */
int prepare_kernel_range(unsigned long va, size_t size);

/** map_prepared_page() - map one page, where nothing is mapped, in a range of prepare_kernel_range(). Takes no lock: only one
 *  caller at a time for each page. Any context. */
void map_prepared_page(unsigned long va, phys_addr_t pa, pgprot_t prot);

/** unmap_kernel_range() - unmap [@va, @va + @size) and flush it from the TLBs of all CPUs. Parts that are
 *  not mapped are skipped. */
void unmap_kernel_range(unsigned long va, size_t size);

/**
 * arch_patch_jump() - let the function @from start with a jump to @to
 *
 * @from starts with the ENTRY_NOPS no-ops of __patchable_function_entry__, of ENTRY_NOP_BYTES together: as many as the jump
 * needs, which may be several instructions. The code stays read-only: it is written through another address, which exists
 * only meanwhile. Boot CPU, before other CPUs run. Return: false if there is no memory for page tables, if @to is out of
 * reach, or if there are no no-ops.
 */
bool arch_patch_jump(const void *from, const void *to);

/** arch_has_jump() - Return: true if the function @from starts with a jump. */
bool arch_has_jump(const void *from);

/** kernel_va_to_pa() - Return: physical address that @va maps to, including the offset in the page; 0 if it
 *  is not mapped. @writable: filled if not NULL. Takes no lock. */
phys_addr_t kernel_va_to_pa(unsigned long va, bool *writable);

/** ioremap() - map @size bytes of device registers at @pa. Mappings stay for ever. Return: the registers'
 *  address; NULL if the device window is full or there is no memory for page tables. */
void *ioremap(phys_addr_t pa, size_t size);

/* --- User mode: page tables. The caller holds mm->lock unless stated otherwise ---------------- */

/** user_pgtable_init() - give @mm an empty top table and a TLB number (ASID). Return: 0, -ENOMEM, or -EAGAIN
 *  if no number is free. */
int user_pgtable_init(struct mm_struct *mm);

/** user_pgtable_destroy() - free all tables of @mm, which is no longer in use, and every page in them. */
void user_pgtable_destroy(struct mm_struct *mm);

/** user_map_page() - map @page at @va, where nothing is mapped. @prot: PROT_*, not PROT_NONE. Return: 0 or
 *  -ENOMEM. */
int user_map_page(struct mm_struct *mm, unsigned long va, struct page *page, unsigned int prot);

/** user_unmap_page() - Return: the page that was mapped at @va, NULL if none was. TLBs may still hold it
 *  until user_flush_tlb(). */
struct page *user_unmap_page(struct mm_struct *mm, unsigned long va);

/** user_lookup_page() - Return: the page mapped at @va, NULL if there is none. */
struct page *user_lookup_page(struct mm_struct *mm, unsigned long va);

/** user_flush_tlb() - remove [@start, @end) of @mm from the TLBs of all CPUs. */
void user_flush_tlb(struct mm_struct *mm, unsigned long start, unsigned long end);

/** user_sync_icache() - instructions were written to @page through the linear map: make them
 *  executable on all CPUs. */
void user_sync_icache(struct page *page);

/** user_activate_mm() - translate user addresses on this CPU by @mm from now on; NULL: all of them fault.
 *  Without mm->lock; preemption off. */
void user_activate_mm(struct mm_struct *mm);

/** arch_switch_user() - change the address space, the thread pointer and the floating-point registers from @prev to
 *  @next. The scheduler calls it before cpu_switch_to(), if at least one of them has an address space or
 *  floating-point registers. These trap in tasks that have none. Interrupts off. */
void arch_switch_user(struct task *prev, struct task *next);

/* --- User mode: entry and copies -------------------------------------------------------------- */

/** cpu_has_pan() - Return: true if the CPUs refuse the kernel's accesses to user memory, except those of
 *  <kernel/uaccess.h>. */
bool cpu_has_pan(void);

/** user_init_regs() - fill @regs to start a program at @pc with the stack pointer @sp. */
void user_init_regs(struct pt_regs *regs, unsigned long pc, unsigned long sp);

/** enter_user_mode() - continue the running task in user mode. @regs: task_pt_regs(current), filled. It
 *  drops all frames on the kernel stack, so none of them may have left poison there. */
_Noreturn void enter_user_mode(struct pt_regs *regs);

/*
 * The raw copies check neither the range nor shadow; only <kernel/uaccess.h> calls them. They end at a
 * fault. Return: number of bytes that were not copied or cleared.
 */
unsigned long __arch_copy_from_user(void *to, const void __user *from, unsigned long n);
unsigned long __arch_copy_to_user(void __user *to, const void *from, unsigned long n);
unsigned long __arch_clear_user(void __user *to, unsigned long n);
unsigned long __arch_copy_from_kernel(void *to, const void *from, unsigned long n);
unsigned long __arch_copy_to_kernel(void *to, const void *from, unsigned long n);

/* Return: number of characters before the NUL, @n if there is none among the first @n; -1 after a fault. */
long __arch_strncpy_from_user(char *to, const char __user *from, unsigned long n);
long __arch_strnlen_user(const char __user *s, unsigned long n);

/** struct user_value - result of a load from user memory. @error: 0 or -1. */
struct user_value {
	u64 value;
	long error;
};

struct user_value __arch_get_user_1(const void __user *from);
struct user_value __arch_get_user_2(const void __user *from);
struct user_value __arch_get_user_4(const void __user *from);
struct user_value __arch_get_user_8(const void __user *from);

/* Return: 0 or -1. */
long __arch_put_user_1(void __user *to, u64 value);
long __arch_put_user_2(void __user *to, u64 value);
long __arch_put_user_4(void __user *to, u64 value);
long __arch_put_user_8(void __user *to, u64 value);

/* --- Modules: relocations and new code. Thread context, module_mutex held --------------------- */

/** enum module_reloc_result - outcomes of module_relocate() */
enum module_reloc_result {
	MODULE_RELOC_OK,
	MODULE_RELOC_UNKNOWN,	   /* no such type */
	MODULE_RELOC_OVERFLOW,	   /* the value does not fit */
	MODULE_RELOC_UNALIGNED,	   /* the value is not a multiple of the field's unit */
	MODULE_RELOC_OUT_OF_RANGE, /* the branch does not reach its target and needs a veneer */
};

/** module_reloc_size() - Return: number of bytes that a relocation of @type changes; 0 for an unknown type,
 *  and for types that change nothing, see module_reloc_is_none(). */
size_t module_reloc_size(u32 type);
bool module_reloc_is_none(u32 type);

/** module_reloc_is_branch(), module_reloc_is_got() - Return: true if it may need a veneer; true if it refers
 *  to an entry of the GOT, which holds the symbol's address. */
bool module_reloc_is_branch(u32 type);
bool module_reloc_is_got(u32 type);

/**
 * struct module_reloc - a relocation to be done
 * @place: the field, of module_reloc_size() writable bytes; data may be unaligned. @type: R_*.
 * @value: symbol and addend, or the address of the GOT's entry.
 * @section: address of the section. @relas, @nr: all of its relocations, as they are in the file; @symbols: the values of
 *	their symbols. For types that mean the target of another one, as R_RISCV_PCREL_LO12_I does.
 */
struct module_reloc {
	void *place;
	u32 type;
	u64 value;
	unsigned long section;
	const Elf64_Rela *relas;
	size_t nr;
	const u64 *symbols;
};

/** module_relocate() - set the field as the type requires. The relocations of one place are done in the order of the file, and
 *  each may use what the one before has left there. */
enum module_reloc_result module_relocate(const struct module_reloc *reloc);

/** module_write_veneer() - write code that jumps to @target into the MODULE_VENEER_SIZE bytes at @veneer. */
void module_write_veneer(void *veneer, u64 target);

/** module_sync_code() - make the new code in [@start, @start + @size) executable on all CPUs. */
void module_sync_code(unsigned long start, size_t size);

/* --- What the kernel supplies to the architecture --------------------------------------------- */

/** start_kernel() - the kernel's entry. Called by the boot CPU on boot_stack, interrupts off. */
_Noreturn void start_kernel(void);

/** timer_tick() - call it in the timer's interrupt, HZ times a second on each CPU, interrupts off. */
void timer_tick(void);

/** schedule_tail() - call it first in a new task, before its function, interrupts off. @prev: the task that
 *  cpu_switch_to() came from. Returns with interrupts on. */
void schedule_tail(struct task *prev);

/** irq_handle() - call it when device interrupt @irq arrives, before the controller is told that it is over. Interrupts
 *  off. */
void irq_handle(unsigned int irq);

/** smp_handle_ipi() - call it when an interrupt of arch_send_ipi() arrives. Interrupts off. */
void smp_handle_ipi(unsigned int ipi);

/** smp_cpu_online() - call it last on a CPU that arch_start_cpu() started, when its interrupts and tick are
 *  set up. Interrupts off. */
_Noreturn void smp_cpu_online(unsigned int cpu);

/*
 * What else an architecture calls. `./redzone test style` compares this list with the calls of kernel/arch/.
 *
 * It must call these, at the point that their headers state:
 *
 *   boot        kasan_prepare_image_globals() kasan_early_init() kasan_load_image_globals(); fdt_init() and
 *               fdt_setup_memory(), if the machine has a device tree, else ram_add_bank() linear_map_init() memblock_add()
 *               memblock_reserve(); param_early() for what it needs before parameters are parsed; kasan_init_hw_tags() and
 *               kasan_hw_tags_join(), if it has memory tags
 *   CPUs, tasks scs_init_cpu(); kthread_exit() when the function of a kernel thread returns
 *   interrupts  kernel_irq() kernel_irq_end() user_irq() irq_exit_softirq(); request_irq() for its own
 *   exceptions  kernel_fault() for a refused access, handle_program_fault() for any other exception that a program's own code
 *               can cause, and die() if that returns false; kasan_report_tag_mismatch() where the compiler checks tags inline
 *   no stack    overflow_handler() with stack_handler()
 *   user mode   user_syscall() process_die() user_fault() cond_resched() exit_to_user_mode()
 *   undefined behaviour  kasan_report_undefined_trap(), if the processor's traps of UBSan say what they are
 *   memory tags kasan_check_async_faults() kasan_check_async_faults_at() kasan_report_tag_fault()
 *   irqsoff     irqsoff_begin() irqsoff_end(), where the CPU switches interrupts off and on without the functions of
 *               <kernel/irqflags.h>
 *
 * It may call these:
 *
 *   text        printk() early_printk() early_panic() console_lock() console_unlock() snprintf() scnprintf() print_modules()
 *               show_trace() dump_stack()
 *   memory      memblock_memory_region() memblock_phys_alloc() memblock_phys_alloc_range() memblock_phys_free()
 *               page_to_phys() page_to_virt() phys_to_page() memcpy() strcmp()
 *   tasks       in_hardirq() in_serving_softirq() task_main_stack_size() task_stack_top() kernel_text_address()
 *   page tables pgtable_lock_irqsave() pgtable_unlock_irqrestore() pgtable_walk() pgtable_prepare_top() user_pgtable_entry()
 *   scs         scs_check() at the end of an interrupt; scs_fault_handler() scs_unbalanced_handler() scs_handle_underflow();
 *               scs_find()
 *   devices     pl011_probe() fdt_available() fdt_compatible() fdt_first_child() fdt_is_compatible() fdt_name()
 *               fdt_next() fdt_next_sibling() fdt_path() fdt_prop() fdt_reg() fdt_reserved() fdt_root() fdt_string()
 *               fdt_u32() fdt_u64()
 *   KASAN       kasan_untag_addr() kasan_option() kasan_hw_options() kasan_hw_tags_work() kasan_no_write_only()
 *               kasan_seed_hw_tags()
 *
 * <kernel/pgtable.h> declares what it supplies for page tables: swapper_pg_dir, pgtable_replace_entry()
 * flush_tlb_kernel_range(). <drivers/uart.h> is the contract of the console's driver; an
 * architecture whose firmware has the console defines uart_write() uart_flush() itself.
 *
 * Texts that tools read, and how they start. The architecture prints the last one; the others are generic code's:
 *
 *   "Insufficient stack space to handle exception"   before the registers, if there was no room for a frame
 *   "kernel stack overflow: "                        then, and in the panic
 *   "shadow call stack overflow: ", "shadow call stack underflow: ", "corrupted shadow call stack pointer: "
 *
 * show_regs() has "CPU: ", "pc : ", "Code:" and "Call trace:" in this order, at the start of lines.
 */

#endif

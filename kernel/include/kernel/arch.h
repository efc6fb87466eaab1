/* SPDX-License-Identifier: MIT */
/*
 * arch.h - the contract between the kernel and an architecture.
 *
 * It names everything that kernel/arch/<arch>/ supplies. Code outside of that folder calls what is declared here
 * and includes the <asm/...> headers listed below, and nothing else of an architecture:
 * `./redzone test style` checks that. docs/architecture-port.md says in which order to write the files.
 *
 * Functions that are a few instructions, constants and types are in headers of the architecture, in
 * kernel/arch/<arch>/include/asm/:
 *
 *   <asm/barrier.h>   mb() rmb() wmb() smp_mb() smp_rmb() smp_wmb(), smp_load_acquire(), smp_store_release();
 *                     cpu_relax(), the hint inside a loop that waits; arch_cpu_idle(), which waits for an interrupt
 *                     and also returns if one is pending while interrupts are off
 *   <asm/bug.h>       arch_bug(): the trap behind BUG(); it keeps all registers and does not return
 *   <asm/current.h>   get_current() and `current`: the running task, valid before any instrumented code runs
 *   <asm/elf.h>       ELF_MACHINE and ELF_CODE_ALIGN of programs and modules; MODULE_VENEER_SIZE
 *                     in bytes, a multiple of 8; the last 8 bytes of a veneer hold its target
 *   <asm/io.h>        device registers: readb_relaxed() readw_relaxed() readl_relaxed() readq_relaxed(),
 *                     writeb_relaxed() writew_relaxed() writel_relaxed() writeq_relaxed(); readl() and writel() are
 *                     also ordered against memory
 *   <asm/irqflags.h>  arch_local_irq_save() arch_local_irq_restore() arch_local_irq_disable()
 *                     arch_local_irq_enable() arch_local_save_flags() arch_irqs_disabled_flags()
 *   <asm/kasan.h>     kasan_want_linear_shadow(), arch_check_async_faults(), arch_check_async_faults_in()
 *   <asm/memory.h>    the map of the address space: PAGE_OFFSET PAGE_END, MODULES_VADDR MODULES_END, KIMAGE_VADDR
 *                     KIMAGE_END, VMALLOC_START VMALLOC_END, IOREMAP_START IOREMAP_END, KASAN_SHADOW_START
 *                     KASAN_SHADOW_END; TASK_SIZE: user addresses are below; FIX_UART_VADDR if pl011.c drives the
 *                     console; BOOT_STACK_SIZE; __pa() __va() __pa_symbol(), is_linear_address(),
 *                     is_kernel_image(), is_kernel_text()
 *   <asm/percpu.h>    smp_processor_id()
 *   <asm/pgtable.h>   pgprot_t and its values: PAGE_KERNEL (read and write), PAGE_KERNEL_RO, PAGE_KERNEL_EXEC,
 *                     PAGE_KERNEL_TAGGED (PAGE_KERNEL with memory tags, where there are any), PAGE_DEVICE;
 *                     PROT_BLOCKS_OK, which allows large pages
 *   <asm/ptrace.h>    struct pt_regs with the members pc and sp; regs_syscall_nr()
 *   <asm/switch.h>    struct cpu_context, arch_init_context(), arch_user_regs()
 *
 * <asm/memory.h> is also included by assembly and by the linker script. Files of C that run before there is shadow,
 * inside a fault or inside a report are not instrumented: the architecture's sources.cmake lists them.
 *
 * "Any context" means: also in interrupts, with interrupts off, with locks held and inside a report.
 */
#ifndef KERNEL_ARCH_H
#define KERNEL_ARCH_H

#include <kasan/config.h>
#include <kernel/types.h>
#include <asm/kasan.h>
#include <asm/memory.h>
#include <asm/pgtable.h>

struct mm_struct;
struct page;
struct pt_regs;
struct task;

/*
 * The linker script defines the image [_text, _end), its code [_text, _etext), and the arrays [__init_array_start,
 * __init_array_end), [__init_params_start, __init_params_end) and [__kunit_suites_start, __kunit_suites_end); it puts
 * .kallsyms behind all code. docs/architecture-port.md has the whole list.
 */

/* --- Boot, in the order of start_kernel() ------------------------------------------------------------------- */

/*
 * The architecture's first instructions clear .bss, switch the MMU on, set `current` to &init_task and the stack to
 * boot_stack, give the image its shadow (readable everywhere, writable for the image), and call start_kernel()
 * with interrupts off.
 */

/* Stack of init_task: [boot_stack, boot_stack + BOOT_STACK_SIZE). */
extern char boot_stack[], boot_stack_top[];

/**
 * setup_arch() - find out what the machine has, and map its memory
 * @cmdline: filled: the command line, "" if there is none; it stays valid.
 *
 * Gives RAM to memblock and reserves what is in use there, maps all RAM at PAGE_OFFSET, sets nr_cpu_ids, initrd_start
 * and initrd_end. Boot CPU, before constructors have run: nothing that was registered by one exists.
 */
void setup_arch(const char **cmdline);

/* Addresses of the initial RAM disk in the linear map; both are 0 if there is none. */
extern unsigned long initrd_start, initrd_end;

#ifdef CONFIG_KASAN_HW_TAGS
/**
 * arch_kasan_probe() - find out whether the machine has memory tags
 *
 * Calls kasan_init_hw_tags() with the answer. Boot CPU, after setup_arch(), before parameters are parsed.
 */
void arch_kasan_probe(void);

/** arch_kasan_enable() - start to check accesses, as the parameters want it. Boot CPU, parameters parsed, before
 *  mm_init(). The other CPUs follow when they start. */
void arch_kasan_enable(void);
#else
static inline void arch_kasan_probe(void)
{
}

static inline void arch_kasan_enable(void)
{
}
#endif

/** init_IRQ() - find and start the interrupt controller. Boot CPU, after sched_init(). */
void init_IRQ(void);

/** time_init() - start the tick of the boot CPU: timer_tick() HZ times a second, in an interrupt. After init_IRQ(). */
void time_init(void);

/**
 * machine_exit() - leave the machine
 * @code: exit status, 0 to 255, for the emulator; without an emulator the machine is switched off.
 *
 * Any context.
 */
_Noreturn void machine_exit(int code);

/* --- Time --------------------------------------------------------------------------------------------------- */

/** clock_ns() - Return: nanoseconds since boot, monotonic and the same on all CPUs. Any context. */
u64 clock_ns(void);

/** udelay() - spin for at least @us microseconds. Any context. */
void udelay(unsigned long us);

/** arch_counter() - Return: the CPU's counter, read after all instructions before the call are done. It has counted
 *  from 0 at reset; the benchmark measures with it. Any context. */
u64 arch_counter(void);

/** arch_counter_hz() - Return: counts of arch_counter() in a second. */
u64 arch_counter_hz(void);

/* --- CPUs; <kernel/smp.h> has what is built on top ------------------------------------------------------------ */

/**
 * arch_start_cpu() - start @cpu, which is off
 * @idle: its task. The CPU sets `current` to it and runs on its stack.
 *
 * The new CPU starts its checks (hardware tags), its interrupts and its tick, then calls smp_cpu_online().
 * Thread context. Return: 0 or a negative error.
 */
int arch_start_cpu(unsigned int cpu, struct task *idle);

/** arch_send_ipi() - interrupt the CPUs in @mask, at least one; each calls smp_handle_ipi(@ipi), interrupts off.
 *  What was written before is visible to them. Any context. */
void arch_send_ipi(u32 mask, unsigned int ipi);

/** arch_stop_cpu() - this CPU does nothing any more, for good; nothing wakes it. Interrupts off. */
_Noreturn void arch_stop_cpu(void);

/* --- Tasks --------------------------------------------------------------------------------------------------- */

/** cpu_switch_to() - continue @next where it left off, and set `current`. Interrupts off. Return (later, in @prev's
 *  life): the task that ran before. A new task starts as arch_init_context() says. */
struct task *cpu_switch_to(struct task *prev, struct task *next);

/* --- Traces and faults ---------------------------------------------------------------------------------------- */

/** arch_current_stack() - the bounds of the stack that the caller runs on: the task's, the boot stack, or one that
 *  faults run on. @start, @end: filled: lowest address, first address above it. Any context.
 *  Return: false if the stack is not known. */
bool arch_current_stack(uintptr_t *start, uintptr_t *end);

/**
 * stack_trace_save() - collect code addresses, innermost first
 * @pcs: filled with at most @max.
 * @regs: start in this interrupted context, whose pc is the first entry; NULL: start at the caller.
 *
 * Frame records are believed only inside of known stacks and in ascending order, so the walk ends on any garbage.
 * Any context. Return: number of entries.
 */
size_t stack_trace_save(uintptr_t *pcs, size_t max, const struct pt_regs *regs);

/** dump_stack() - print "CPU: n PID: n Comm: ..." and the caller's trace. Any context. */
void dump_stack(void);

/* Exceptions of the kernel since boot that ended a thread or the machine ("Oops"). */
extern unsigned int oops_count;

#ifdef CONFIG_KASAN
/**
 * arch_note_kasan_report() - an access has just been reported by KASAN
 * @addr, @size: the access.
 *
 * If it then faults, in the same thread, the oops says so in few lines and does not report it again.
 * Inside of a report.
 */
void arch_note_kasan_report(uintptr_t addr, size_t size);
#endif

/* --- The kernel's page tables; any context unless something else is said ------------------------------------- */

/** virt_addr_valid() - Return: true if @va is in the linear map and backed by RAM. */
bool virt_addr_valid(const void *va);

/** pa_is_ram() - Return: true if @pa is RAM. */
bool pa_is_ram(phys_addr_t pa);

/**
 * pgtable_page_alloc - where page tables and shadow pages come from
 *
 * Starts as pages of the image, becomes memblock in setup_arch(); mm_init() sets it to the page allocator. Called with
 * interrupts off and the page tables locked; it must not map anything. Returns the physical address of one page
 * of RAM, contents undefined; 0 if there is none.
 */
extern phys_addr_t (*pgtable_page_alloc)(void);

/**
 * map_kernel_range() - map [@va, @va + @size) to memory from @pa on
 * @va, @pa, @size: multiples of PAGE_SIZE; @va in the kernel's half.
 * @prot: PAGE_*, optionally with PROT_BLOCKS_OK.
 *
 * A range that is mapped already is mapped anew. Tables that a range needed once are kept for the next mapping
 * there. Return: 0, or -ENOMEM with the pages before the failure mapped.
 */
int map_kernel_range(unsigned long va, phys_addr_t pa, size_t size, pgprot_t prot);

/** unmap_kernel_range() - unmap what lies in [@va, @va + @size) and flush the TLBs of all CPUs. Parts that are not
 *  mapped are skipped. */
void unmap_kernel_range(unsigned long va, size_t size);

/** kernel_va_to_pa() - Return: physical address that @va maps to, offset in the page included; 0 if it is not
 *  mapped. @writable: filled if not NULL. Takes no lock. */
phys_addr_t kernel_va_to_pa(unsigned long va, bool *writable);

/** ioremap() - map @size bytes of device registers at @pa. Mappings are never taken back. Return: their address;
 *  NULL if the device window or the page tables are exhausted. */
void *ioremap(phys_addr_t pa, size_t size);

/* --- Shadow memory: Generic mode and software tags ------------------------------------------------------------ */

/* Shadow of memory that may be accessed: with tags that of pointers without one. */
#ifdef CONFIG_KASAN_TAGS
#define KASAN_SHADOW_OPEN KASAN_TAG_KERNEL
#else
#define KASAN_SHADOW_OPEN 0
#endif

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/* Bytes that one page of shadow describes. */
#define KASAN_SHADOW_PAGE_SPAN (PAGE_SIZE << KASAN_SHADOW_SCALE_SHIFT)

/** kasan_shadow_init() - prepare shadow for all RAM in the linear map: it is accessible as long as nobody allocates
 *  it. Boot CPU, parameters parsed, before mm_init(). */
void kasan_shadow_init(void);

/** kasan_free_boot_memory() - poison free RAM [@start, @end), page aligned linear addresses, that was never
 *  allocated, without writing its shadow where that is possible. Boot only. */
void kasan_free_boot_memory(unsigned long start, unsigned long end);

/**
 * kasan_map_shadow() - give [@va, @va + @size) real shadow, of @value where it is new
 *
 * Any context, any CPU. Shadow that is real already stays as it is, contents included. It comes in whole pages, so
 * @value must also be right for the KASAN_SHADOW_PAGE_SPAN bytes around the range's ends.
 * Return: false if there is no memory; what was mapped so far stays.
 */
bool kasan_map_shadow(unsigned long va, size_t size, u8 value);

/**
 * kasan_unmap_shadow() - take the real shadow of free addresses away again
 * @va, @size: multiples of KASAN_SHADOW_PAGE_SPAN, in vmalloc or module space. Nothing in there is in use, and all of
 *	its real shadow says KASAN_VMALLOC_INVALID.
 * @pages: filled with the physical addresses of the pages taken: at most one for each KASAN_SHADOW_PAGE_SPAN bytes.
 *	No CPU reaches them any more; they are the caller's.
 *
 * A shared page says KASAN_VMALLOC_INVALID in their place, so late accesses are still reported. Any context, any
 * CPU; the caller sees to it that nobody maps shadow there at the same time. Return: number of pages.
 */
unsigned int kasan_unmap_shadow(unsigned long va, size_t size, phys_addr_t *pages);

/**
 * kasan_shadow_below() - where to look for real shadow
 * @low, @high: multiples of KASAN_SHADOW_PAGE_SPAN.
 *
 * As fast for a large range as for a small one: what has never had shadow is passed over by its tables. Return: an
 * address in [@low, @high], a multiple of KASAN_SHADOW_PAGE_SPAN; from there up to @high no shadow is real.
 */
unsigned long kasan_shadow_below(unsigned long low, unsigned long high);

/** kasan_shadow_is_real() - Return: true if the shadow of @va can be written. */
bool kasan_shadow_is_real(unsigned long va);

/** kasan_shadow_pages() - Return: real shadow pages that were made one by one: those of vmalloc and module space,
 *  and a few at the ends of RAM. */
unsigned long kasan_shadow_pages(void);

/** kasan_vmalloc_shadow_pages() - Return: those of them that belong to vmalloc space. */
static inline unsigned long kasan_vmalloc_shadow_pages(void)
{
	extern unsigned long kasan_nr_vmalloc_shadow;

	return READ_ONCE(kasan_nr_vmalloc_shadow);
}

#else
static inline void kasan_shadow_init(void)
{
}

static inline void kasan_free_boot_memory(unsigned long start, unsigned long end)
{
}

static inline bool kasan_map_shadow(unsigned long va, size_t size, u8 value)
{
	return true;
}

static inline bool kasan_shadow_is_real(unsigned long va)
{
	return false;
}

static inline unsigned long kasan_shadow_pages(void)
{
	return 0;
}

static inline unsigned long kasan_vmalloc_shadow_pages(void)
{
	return 0;
}
#endif

/* --- User mode: page tables. The caller holds mm->lock unless something else is said --------------------------- */

/** user_pgtable_init() - give @mm an empty top table and a number. Return: 0, -ENOMEM, -EAGAIN. */
int user_pgtable_init(struct mm_struct *mm);

/** user_pgtable_destroy() - nobody uses @mm any more: free its tables and every page in them. */
void user_pgtable_destroy(struct mm_struct *mm);

/** user_map_page() - map @page at @va, where nothing is mapped. @prot: PROT_*, not PROT_NONE. Return: 0 or -ENOMEM. */
int user_map_page(struct mm_struct *mm, unsigned long va, struct page *page, unsigned int prot);

/** user_unmap_page() - Return: the page that was mapped at @va, NULL if none was. The TLBs may still know it until
 *  user_flush_tlb(). */
struct page *user_unmap_page(struct mm_struct *mm, unsigned long va);

/** user_lookup_page() - Return: the page mapped at @va, NULL if there is none. */
struct page *user_lookup_page(struct mm_struct *mm, unsigned long va);

/** user_flush_tlb() - forget [@start, @end) of @mm on all CPUs. */
void user_flush_tlb(struct mm_struct *mm, unsigned long start, unsigned long end);

/** user_sync_icache() - instructions were written to @page through the linear map: all CPUs can execute them. */
void user_sync_icache(struct page *page);

/** user_activate_mm() - this CPU translates user addresses by @mm from now on; NULL: they all fault. No lock;
 *  preemption off. */
void user_activate_mm(struct mm_struct *mm);

/** arch_switch_user() - the scheduler is about to change from @prev to @next, at least one of which has an address
 *  space: change that, and what else belongs to user mode. Interrupts off. */
void arch_switch_user(struct task *prev, struct task *next);

/* --- User mode: entry and copies ------------------------------------------------------------------------------- */

/** cpu_has_pan() - Return: true if the CPUs refuse accesses of the kernel to user memory, but for those of
 *  <kernel/uaccess.h>. */
bool cpu_has_pan(void);

/** user_init_regs() - fill @regs for the start of a program: at @pc, with the stack pointer @sp. */
void user_init_regs(struct pt_regs *regs, unsigned long pc, unsigned long sp);

/** enter_user_mode() - continue the running task in user mode. @regs: task_pt_regs(current), filled. All frames on the
 *  kernel stack are gone then: none may have left poison behind. */
_Noreturn void enter_user_mode(struct pt_regs *regs);

/*
 * The raw copies check neither the range nor shadow; only <kernel/uaccess.h> calls them. An address that faults ends the
 * function. Return: bytes that were not copied or cleared.
 */
unsigned long __arch_copy_from_user(void *to, const void __user *from, unsigned long n);
unsigned long __arch_copy_to_user(void __user *to, const void *from, unsigned long n);
unsigned long __arch_clear_user(void __user *to, unsigned long n);

/* Return: characters before the NUL, @n if there is none among the first @n; -1 after a fault. */
long __arch_strncpy_from_user(char *to, const char __user *from, unsigned long n);
long __arch_strnlen_user(const char __user *s, unsigned long n);

/** struct user_value - what a load of a user's word gives. @error: 0 or -1. */
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

/* --- Modules: relocations, and new code. Thread context, module_mutex held ------------------------------------ */

/** enum module_reloc_result - outcomes of module_relocate() */
enum module_reloc_result {
	MODULE_RELOC_OK,
	MODULE_RELOC_UNKNOWN,	   /* no such type */
	MODULE_RELOC_OVERFLOW,	   /* the value does not fit */
	MODULE_RELOC_UNALIGNED,	   /* the value is not a multiple of what the field counts in */
	MODULE_RELOC_OUT_OF_RANGE, /* the branch does not reach its target: needs a veneer */
};

/** module_reloc_size() - Return: bytes that a relocation of @type changes; 0 for a type that is not known, and for
 *  those that change nothing, see module_reloc_is_none(). */
size_t module_reloc_size(u32 type);
bool module_reloc_is_none(u32 type);

/** module_reloc_is_branch(), module_reloc_is_got() - Return: true if it may need a veneer; if it addresses an entry
 *  of the GOT, which holds the symbol's address. */
bool module_reloc_is_branch(u32 type);
bool module_reloc_is_got(u32 type);

/** module_relocate() - set the field at @place to @value (symbol and addend) as @type says. @place is writable and
 *  of module_reloc_size() bytes, but not necessarily aligned for data. */
enum module_reloc_result module_relocate(void *place, u32 type, u64 value);

/** module_write_veneer() - write code to @veneer, MODULE_VENEER_SIZE bytes, that jumps to @target. */
void module_write_veneer(void *veneer, u64 target);

/** module_sync_code() - what was written to [@start, @start + @size) is code from now on, for all CPUs. */
void module_sync_code(unsigned long start, size_t size);

/* --- What the kernel supplies to the architecture -------------------------------------------------------------- */

/** start_kernel() - the kernel's entry. Boot CPU, boot_stack, interrupts off. */
_Noreturn void start_kernel(void);

/** timer_tick() - in the timer's interrupt, HZ times a second on each CPU, interrupts off. */
void timer_tick(void);

/** schedule_tail() - first code of a new task, before its function, interrupts off. @prev: what cpu_switch_to() left
 *  behind. Returns with interrupts on. */
void schedule_tail(struct task *prev);

/** smp_handle_ipi() - an interrupt that arch_send_ipi() sent has arrived. Interrupts off. */
void smp_handle_ipi(unsigned int ipi);

/** smp_cpu_online() - a CPU that arch_start_cpu() started can take interrupts: it takes part from now on.
 *  Interrupts off. */
_Noreturn void smp_cpu_online(unsigned int cpu);

/*
 * Besides, exception entry calls irq_enter(), irq_exit() and preempt_schedule_irq() of <kernel/preempt.h>; what
 * <kernel/process.h> has for system calls and faults of programs; make_task_dead() of <kernel/sched.h> at the end of
 * an oops; and for KASAN kasan_report_fault() and its kin. <drivers/uart.h> is the console's contract, a driver's.
 */

#endif

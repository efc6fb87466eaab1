/* SPDX-License-Identifier: MIT */
/*
 * port_kit.h - building blocks for ports, for systems that have no reason to write their own.
 *
 * Include it in the one file that holds the port's functions, which is not instrumented. Each macro defines one
 * function of <kasan/port.h> or one entry point.
 */
#ifndef KASAN_PORT_KIT_H
#define KASAN_PORT_KIT_H

#include <kasan/kasan.h>
#include <kasan/port.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * KASAN_PORT_POOL() - define kasan_port_alloc(): memory from [@start, @start + @bytes), for its use only
 * @start: aligned to 16. It need not be zero: blocks are cleared when they are handed out.
 * @bytes: useful up to the sum of the depot's maximum, 1/100 of each page heap, and some pages.
 */
#define KASAN_PORT_POOL(start, bytes)                                                             \
	void *kasan_port_alloc(size_t size)                                                       \
	{                                                                                         \
		static size_t kasan_pool_used;                                                    \
		size_t used = __atomic_load_n(&kasan_pool_used, __ATOMIC_RELAXED);                \
                                                                                                  \
		do {                                                                              \
			if (size > (size_t)(bytes) - used)                                        \
				return NULL;                                                      \
		} while (!__atomic_compare_exchange_n(&kasan_pool_used, &used, used + size, true, \
						      __ATOMIC_RELAXED, __ATOMIC_RELAXED));       \
		return __memset((char *)(start) + used, 0, size);                                 \
	}                                                                                         \
	KASAN_STATIC_ASSERT(1, "takes the semicolon")

/** KASAN_PORT_CONSOLE() - define kasan_port_print() and kasan_port_panic(). @put: writes one character at once,
 *  without a buffer and without a lock. @stop: prints its argument and does not return. */
#define KASAN_PORT_CONSOLE(put, stop)           \
	void kasan_port_print(const char *text) \
	{                                       \
		while (*text)                   \
			put(*text++);           \
		put('\n');                      \
	}                                       \
	void kasan_port_panic(const char *why)  \
	{                                       \
		stop((char *)(uintptr_t)why);   \
		for (;;)                        \
			;                       \
	}                                       \
	KASAN_STATIC_ASSERT(1, "takes the semicolon")

/** KASAN_PORT_REPORT_STACKS() - define kasan_port_report_stack(): @bytes for each of CONFIG_KASAN_NR_CPUS CPUs, a
 *  multiple of 16, at least KASAN_REPORT_STACK_MIN. For systems whose tasks have less stack than a report takes. */
#define KASAN_PORT_REPORT_STACKS(bytes)                                                           \
	void *kasan_port_report_stack(size_t *size)                                               \
	{                                                                                         \
		static char stacks[CONFIG_KASAN_NR_CPUS][bytes] __attribute__((__aligned__(16))); \
                                                                                                  \
		KASAN_STATIC_ASSERT((bytes) >= KASAN_REPORT_STACK_MIN, "a report takes more");    \
		*size = (bytes);                                                                  \
		return stacks[kasan_port_cpu()];                                                  \
	}                                                                                         \
	KASAN_STATIC_ASSERT(1, "takes the semicolon")

/**
 * KASAN_WRAP_PAGES() - put an allocator of single pages under the runtime: define `struct kasan_page_heap @heap`, and the
 *	functions __wrap_@alloc and __wrap_@free, for -Wl,--wrap=@alloc,--wrap=@free
 * @alloc: void *(void). @free: void (void *page).
 * @guard, @held: members @guard_every and @quarantine_max of the heap.
 */
#define KASAN_WRAP_PAGES(heap, alloc, free, guard, held)                                   \
	void *__real_##alloc(void);                                                        \
	void __real_##free(void *page);                                                    \
	static void *heap##_acquire(struct kasan_page_heap *self, size_t pages)            \
	{                                                                                  \
		(void)self;                                                                \
		(void)pages;                                                               \
		return __real_##alloc();                                                   \
	}                                                                                  \
	static void heap##_release(struct kasan_page_heap *self, void *page, size_t pages) \
	{                                                                                  \
		(void)self;                                                                \
		(void)pages;                                                               \
		__real_##free(page);                                                       \
	}                                                                                  \
	static struct kasan_page_heap heap = {                                             \
		.name = #alloc,                                                            \
		.guard_every = (guard),                                                    \
		.quarantine_max = (held),                                                  \
		.acquire = heap##_acquire,                                                 \
		.release = heap##_release,                                                 \
	};                                                                                 \
	void *__wrap_##alloc(void)                                                         \
	{                                                                                  \
		return kasan_page_alloc(&heap, CONFIG_KASAN_PAGE_SIZE);                    \
	}                                                                                  \
	void __wrap_##free(void *page)                                                     \
	{                                                                                  \
		kasan_page_free(&heap, page, CONFIG_KASAN_PAGE_SIZE,                       \
				(uintptr_t)__builtin_return_address(0));                   \
	}                                                                                  \
	KASAN_STATIC_ASSERT(1, "takes the semicolon")

/** kasan_must() - stop the system with the message @wrong, unless it is NULL. */
static inline void kasan_must(const char *wrong)
{
	if (wrong)
		kasan_port_panic(wrong);
}

/**
 * kasan_print_load_offset() - print how far the image was moved, as `Kernel Offset: 0x80000000`
 * @now: where a function or variable of the image is.
 * @linked: the address of the same one in the ELF file: 0 for the first byte of an image that is linked for 0.
 *
 * For an image that runs elsewhere than it is linked for. Call it once at boot: `./redzone decode --elf` takes the line
 * from the log, and with it finds the functions and source lines of plain addresses. An image that was moved down has an
 * offset that wraps around. Any context in which kasan_port_print() may be called.
 */
static inline void kasan_print_load_offset(const volatile void *now, uintptr_t linked)
{
	kasan_report_line("Kernel Offset: 0x%lx", (unsigned long)((uintptr_t)now - linked));
}

/** kasan_run_constructors() - register the globals of all instrumented files. The linker script must keep .init_array
 *  between the two symbols: see docs/port/reference.md. Call it once, after the windows were added. */
static inline void kasan_run_constructors(void)
{
	extern void (*const __init_array_start[])(void);
	extern void (*const __init_array_end[])(void);
	void (*const *at)(void);

	for (at = __init_array_start; at != __init_array_end; at++)
		(*at)();
}

#ifdef CONFIG_KASAN_SHADOW_WINDOWED
/** kasan_start() - the usual start: add the first window, [@start, @start + @size) with its shadow, register the
 *  globals, and report every bug, not only the first. The rules of kasan_window_add() and kasan_init() apply. */
static inline void kasan_start(uintptr_t start, size_t size, uintptr_t shadow)
{
	kasan_must(kasan_window_add(start, size, (void *)shadow));
	kasan_run_constructors();
	kasan_option("kasan_multi_shot", "on");
	kasan_init(size);
}
#endif

#ifdef CONFIG_KASAN
/** kasan_start_pages() - add @heap over the whole pages of [@start, @end). The rules of kasan_page_heap_add()
 *  apply. */
static inline void kasan_start_pages(struct kasan_page_heap *heap, const void *start, uintptr_t end)
{
	const uintptr_t mask = CONFIG_KASAN_PAGE_SIZE - 1;

	heap->start = (void *)(((uintptr_t)start + mask) & ~mask);
	heap->size = (end & ~mask) - (uintptr_t)heap->start;
	kasan_must(kasan_page_heap_add(heap));
}
#endif

#ifdef __riscv
/**
 * KASAN_TRAP_ENTRY() - define the function @entry, which calls `void @handler(uintptr_t fp)` with a frame record for the
 *	interrupted code
 * @epc: name of the register with the interrupted instruction: sepc or mepc.
 *
 * A vector that saves all registers and calls a handler leaves no record of the interrupted function: its frame
 * pointer leads to its caller. The vector calls @entry instead, with the interrupted s0 unchanged; traces then
 * have the interrupted instruction too. Only for traps from the kernel: after a trap from user mode s0 is the
 * user's, and the trace has to end at the handler's frame. Uses ra and t0, and 32 bytes of stack. @fp: frame pointer of
 * the interrupted code, for kasan_report_fault().
 *
 * The runtime takes a frame's code address for one after a call and subtracts 1, hence + 2 (no instruction is shorter).
 */
#if __riscv_xlen == 64
#define KASAN_TRAP_WORD	 "8"
#define KASAN_TRAP_STORE "sd "
#define KASAN_TRAP_LOAD	 "ld "
#else
#define KASAN_TRAP_WORD	 "4"
#define KASAN_TRAP_STORE "sw "
#define KASAN_TRAP_LOAD	 "lw "
#endif
#define KASAN_TRAP_ENTRY(entry, handler, epc)                              \
	__asm__(".text\n"                                                  \
		".globl " #entry "\n"                                      \
		".type " #entry ", %function\n" #entry ":\n"               \
		"	addi sp, sp, -32\n"                                      \
		"	" KASAN_TRAP_STORE "ra, 24(sp)\n"                  \
		"	" KASAN_TRAP_STORE "s0, 0(sp)\n"                   \
		"	csrr t0, " #epc "\n"                               \
		"	addi t0, t0, 2\n"                                        \
		"	" KASAN_TRAP_STORE "t0, " KASAN_TRAP_WORD "(sp)\n" \
		"	mv a0, s0\n"                                             \
		"	addi s0, sp, 2 * " KASAN_TRAP_WORD "\n"            \
		"	call " #handler "\n"                               \
		"	" KASAN_TRAP_LOAD "ra, 24(sp)\n"                   \
		"	" KASAN_TRAP_LOAD "s0, 0(sp)\n"                    \
		"	addi sp, sp, 32\n"                                       \
		"	ret\n"                                                   \
		".size " #entry ", . - " #entry "\n")

/**
 * KASAN_WRAP_TRAP() - put the handler of traps from supervisor mode under the runtime: page faults are reported before it
 *	runs, and traces go on from it to the interrupted function. For -Wl,--wrap=@handler
 * @handler: void (void), called by the vector with the interrupted s0 unchanged.
 */
#define KASAN_WRAP_TRAP(handler)                                                      \
	void __real_##handler(void);                                                  \
	void __wrap_##handler(void);                                                  \
	void kasan_##handler(uintptr_t fp);                                           \
	void kasan_##handler(uintptr_t fp)                                            \
	{                                                                             \
		uintptr_t cause, pc, addr;                                            \
                                                                                      \
		__asm__ volatile("csrr %0, scause\n\tcsrr %1, sepc\n\tcsrr %2, stval" \
				 : "=r"(cause), "=r"(pc), "=r"(addr));                \
		/* Page faults: of an instruction 12, a load 13, a store 15. */       \
		if (cause >= 12 && cause <= 15)                                       \
			kasan_report_fault(addr, 0, cause == 15, pc, fp);             \
		__real_##handler();                                                   \
	}                                                                             \
	KASAN_TRAP_ENTRY(__wrap_##handler, kasan_##handler, sepc)
#endif

#ifdef __cplusplus
}
#endif

#endif /* KASAN_PORT_KIT_H */

/* SPDX-License-Identifier: MIT */
/* hw_tags.h - further hooks for a port with hardware tags (CONFIG_KASAN_HW_TAGS): setting up CPUs, and their faults.
 * <kasan/kasan.h> includes this header. */
#ifndef KASAN_HW_TAGS_H
#define KASAN_HW_TAGS_H

#include <kasan/config.h>
#include <kasan/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum kasan_hw_mode - kasan.mode=: when hardware tags report a bad access */
enum kasan_hw_mode {
	KASAN_MODE_SYNC,  /* at the access */
	KASAN_MODE_ASYNC, /* some time later */
	KASAN_MODE_ASYMM, /* reads at once, writes later */
};

#ifdef CONFIG_KASAN_HW_TAGS
/**
 * kasan_init_hw_tags() - say whether the CPU has memory tags
 * @has_tags: true if it has, and if this CPU can access tag memory from now on (SCTLR_EL1.ATA).
 *
 * Call it first, before any kasan_option(). Without tags KASAN is off for good, and options are ignored.
 */
void kasan_init_hw_tags(bool has_tags);

/**
 * kasan_seed_hw_tags() - set up the random tags of this CPU: GCR_EL1 and RGSR_EL1
 *
 * kasan_init_hw_tags() does it for the CPU that calls it. Call it on each other CPU once that can access tag memory and
 * before it allocates, and again when kasan_port_seed() changes its answer. Interrupts are off. Tags then come from the
 * CPU's source of randomness (GCR_EL1.RRND). A CPU without one makes a sequence that starts at kasan_port_seed() and
 * differs from CPU to CPU.
 */
void kasan_seed_hw_tags(void);

/**
 * kasan_hw_tags_join() - another CPU joins those that use tags
 *
 * Call it on each CPU but the first, before it can run code that allocates. Its blocks for instructions that tag a
 * block of memory (stgm, dc gva, dc gzva) may have another size; the runtime then stops using these everywhere.
 *
 * Return: false in that case.
 */
bool kasan_hw_tags_join(void);

/** kasan_hw_tags_work() - does each granule of @memory, 64 bytes mapped as memory with tags, have a tag of its own? In
 *  QEMU before 8 the granules of a page share one. Call it before kasan_init_hw_tags(); the requirements are the same.
 *  */
bool kasan_hw_tags_work(void *memory);

/** struct kasan_hw_options - what the boot parameters ask of the CPU. @enabled: tag checks are wanted. */
struct kasan_hw_options {
	bool enabled;
	enum kasan_hw_mode mode;
	bool vmalloc, stacktrace, write_only;
};

/** kasan_hw_options() - Return: how the port must set up the CPU. Call it after all options are set. */
void kasan_hw_options(struct kasan_hw_options *options);

/** kasan_no_write_only() - this CPU cannot restrict checks to writes (FEAT_MTE_STORE_ONLY): kasan.write_only= counts as
 *  off. Call it before checks are switched on. */
void kasan_no_write_only(void);

/** kasan_write_only_enabled() - Return: true if reads are not checked: kasan.write_only=on, and the CPU can do that.
 *  kasan_check_read() then lets bad reads pass too, except for absurd sizes. */
bool kasan_write_only_enabled(void);

/**
 * kasan_report_tag_fault() - report a tag check fault of the CPU
 * @addr: with the pointer's tag. @size: bytes, 0 if not known. @ip, @fp: code address and frame pointer.
 * @at_pc: true if @ip is the instruction of the access; false if it is the return address into the code that is blamed
 * for the access.
 *
 * Return: true if a report was printed.
 */
bool kasan_report_tag_fault(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp,
			    bool at_pc);

/**
 * struct kasan_sample_stats - page allocations since the start, while sampling was on
 * @interval: kasan.page_alloc.sample=; 1: sampling is off, nothing is counted.
 * @allocations: all of them. @skipped: those that got no tags.
 */
struct kasan_sample_stats {
	unsigned int interval;
	unsigned long allocations, skipped;
};
void kasan_sample_stats(struct kasan_sample_stats *stats);

/** kasan_sample_tickets() - Return: number of tickets drawn from the counter of @cpu; the tickets 0, N, 2N and so on
 *  mean a tag. For tests. */
unsigned long kasan_sample_tickets(unsigned int cpu);

/** kasan_tags_limit_blocks() - stop using instructions for blocks of memory unless this CPU's blocks have these sizes,
 *  in bytes. Return: false if they are not those of the first CPU. */
bool kasan_tags_limit_blocks(size_t multiple, size_t zero);

/** kasan_check_async_faults() - report the bad accesses that this CPU has found since the last call, in the modes that
 *  report late. Call it at context switches and returns to user mode; it is cheap enough for each. */
void kasan_check_async_faults(void);

/**
 * kasan_check_async_faults_at() - the same at the start of an interrupt, still in the context of the interrupted code
 * @ip, @fp: of the interrupted code. The report names it: nothing nearer to the bug is known.
 */
void kasan_check_async_faults_at(uintptr_t ip, uintptr_t fp);
#endif

#ifdef __cplusplus
}
#endif

#endif /* KASAN_HW_TAGS_H */

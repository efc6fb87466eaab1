/* SPDX-License-Identifier: MIT */
/*
 * hw_tags.h - what a port with hardware tags (CONFIG_KASAN_HW_TAGS) calls beside the hooks of <kasan/kasan.h>,
 * which includes this: setting up CPUs, and their faults.
 */
#ifndef KASAN_HW_TAGS_H
#define KASAN_HW_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kasan/config.h>

/** enum kasan_hw_mode - kasan.mode=: when hardware tags report a bad access */
enum kasan_hw_mode {
	KASAN_MODE_SYNC,  /* at the access */
	KASAN_MODE_ASYNC, /* some time later */
	KASAN_MODE_ASYMM, /* reads at once, writes later */
};

#ifdef CONFIG_KASAN_HW_TAGS
/**
 * kasan_init_hw_tags() - tell whether the CPU has memory tags
 * @has_tags: it has, and tag memory can be accessed by this CPU from now on (SCTLR_EL1.ATA).
 *
 * Call first of all, before any kasan_option(). Without tags KASAN is off for good, and options are ignored.
 */
void kasan_init_hw_tags(bool has_tags);

/** kasan_hw_tags_work() - Return: false if granules of @memory, 64 bytes mapped as memory with tags, share theirs,
 *  as those of a page do in QEMU before 8. Before kasan_init_hw_tags(); needs no more than it does. */
bool kasan_hw_tags_work(void *memory);

/** struct kasan_hw_options - what the boot parameters say of the CPU. @enabled: tag checks are wanted. */
struct kasan_hw_options {
	bool enabled;
	enum kasan_hw_mode mode;
	bool vmalloc, stacktrace, write_only;
};

/** kasan_hw_options() - for the port, which sets up the CPU. After all options are set. */
void kasan_hw_options(struct kasan_hw_options *options);

/**
 * kasan_report_tag_fault() - report a tag check fault of the CPU
 * @addr: with the pointer's tag. @size: bytes, 0 if not known. @ip, @fp: code address and frame pointer.
 * @at_pc: @ip is the access itself; else a return address, to where the access is blamed on.
 *
 * Return: true if a report was printed.
 */
bool kasan_report_tag_fault(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp,
			    bool at_pc);

/**
 * struct kasan_sample_stats - page allocations since the start, while sampling was on
 * @interval: kasan.page_alloc.sample=; 1: sampling is off, nothing is counted.
 * @allocations: all. @skipped: of these, those without tags.
 */
struct kasan_sample_stats {
	unsigned int interval;
	unsigned long allocations, skipped;
};
void kasan_sample_stats(struct kasan_sample_stats *stats);

/** kasan_sample_tickets() - Return: how often the counter of @cpu was asked; those asked as number 0, N, 2N and
 *  so on were told to tag. For tests. */
unsigned long kasan_sample_tickets(unsigned int cpu);

/** kasan_check_async_faults() - report bad accesses that this CPU has found since the last call, in the
 *  modes that do so later. For context switches and returns to user mode; cheap enough for each. */
void kasan_check_async_faults(void);

/**
 * kasan_check_async_faults_at() - the same at the start of an interrupt, still in the context of what it came into
 * @ip, @fp: of the interrupted code, which the report names: it is what is known to be nearest to the bug.
 */
void kasan_check_async_faults_at(uintptr_t ip, uintptr_t fp);
#endif

#endif /* KASAN_HW_TAGS_H */

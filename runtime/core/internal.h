/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the runtime's own files share: the seams between core/, alloc/, track/, report/.
 *
 * Nothing outside runtime/ includes this. The runtime is never instrumented.
 */
#ifndef KASAN_INTERNAL_H
#define KASAN_INTERNAL_H

#include <kasan/kasan.h>
#include <kasan/port.h>
#include <kasan/stats.h>

/* A hook's own caller: where its traces start. Only in functions that are not inlined. */
#define KASAN_CALLER_IP() ((uintptr_t)__builtin_return_address(0))
#define KASAN_CALLER_FP() ((uintptr_t)__builtin_frame_address(0))

#define kasan_likely(x)	  __builtin_expect(!!(x), 1)
#define kasan_unlikely(x) __builtin_expect(!!(x), 0)

/* The compilers' ABI names are defined here but declared by no header. */
#define KASAN_ABI __attribute__((__used__, __noinline__))

/* --- core/lock.h holds struct kasan_lock; core/shadow.h the translation and hot checks ------------- */

/* core/check.c */

/** kasan_first_bad() - Return: the first inaccessible byte's address in the range, 0 if all of it is
 *  accessible. @size > 0 and no wrap-around. */
uintptr_t kasan_first_bad(uintptr_t addr, size_t size);

/** kasan_check_range() - check and report. Return: true if accessible (or size 0).
 *  @ip, @fp: the caller's, where the report's trace starts. A range that wraps around or whose size
 *  is negative as a signed number is reported as "out-of-bounds". */
bool kasan_check_range(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

/** kasan_check_operation() - kasan_check_range() for code that can leave the operation out.
 *  Return: false if it must not be carried out: its range is bad and that was reported, or its size is
 *  negative or wraps around. A bad range whose report is suppressed (before kasan_init(), between
 *  kasan_disable_current() and kasan_enable_current(), after the only report of a single shot) does not
 *  change what the program does: true. */
bool kasan_check_operation(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

/* core/probe.c: address that kasan_check_offset() is about to touch, 0 if none. A check that finds it
 * bad clears it, before anything is reported. */
extern uintptr_t kasan_probe_addr;

/** kasan_has_shadow() - may the shadow of @addr be read? */
bool kasan_has_shadow(uintptr_t addr);

/* --- track/ ----------------------------------------------------------------------------------------- */

/** kasan_stack_walk() - collect return addresses into @pcs
 *  @ip: first entry; @fp: frame pointer of the function that @ip returned to us from, i.e.
 *  KASAN_CALLER_FP() beside KASAN_CALLER_IP(); 0: @ip alone. Frame records are believed only inside the
 *  stack that kasan_port_task() names, aligned and ascending. Return: entries. */
size_t kasan_stack_walk(uintptr_t ip, uintptr_t fp, uintptr_t *pcs, size_t max);

/** kasan_depot_save() - Return: handle of this trace, the same for equal traces; 0: depot full. */
uint32_t kasan_depot_save(const uintptr_t *pcs, size_t count);

/** kasan_depot_fetch() - Return: number of entries, 0 for a handle that is none (any garbage is safe). */
size_t kasan_depot_fetch(uint32_t handle, const uintptr_t **pcs);

extern bool kasan_opt_stacktrace; /* kasan.stacktrace=on|off */
void kasan_set_full_track(struct kasan_track *track, uintptr_t ip, uintptr_t fp);

/** kasan_tracks_are_short() - do tracks have nothing in them but the task's number, which is at hand? */
static inline bool kasan_tracks_are_short(void)
{
#ifdef KASAN_PORT_HAS_TASK_ID
	return !kasan_opt_stacktrace;
#else
	return false;
#endif
}

/** kasan_set_short_track() - kasan_set_track() where kasan_tracks_are_short(). */
static inline void kasan_set_short_track(struct kasan_track *track)
{
#ifdef KASAN_PORT_HAS_TASK_ID
	*track = (struct kasan_track){.pid = kasan_port_task_id()};
#else
	(void)track;
#endif
}

/** kasan_set_track() - record task and stack in @track. */
static inline void kasan_set_track(struct kasan_track *track, uintptr_t ip, uintptr_t fp)
{
	if (kasan_tracks_are_short())
		kasan_set_short_track(track);
	else
		kasan_set_full_track(track, ip, fp);
}

/* The quarantine; what frees put into it is in track/quarantine.h. _update(): kasan_opt_off has changed. */
void kasan_quarantine_init(size_t memory);
void kasan_quarantine_update(void);

/* Boot parameters: the quarantine's bound, from kasan_quarantine_init() on, which refuses more than half of
 * memory; the depot's, at once. @bytes: in the bounds that options.c has checked. */
void kasan_quarantine_set_size(size_t bytes);
void kasan_depot_set_size(size_t bytes);

/* --- alloc/ ------------------------------------------------------------------------------------------ */

/** kasan_find_global() - descriptor of the registered global nearest to @addr within its redzone. */
struct kasan_global {
	/* The compilers' descriptor: 8 words, see docs. Clang leaves location 0. */
	uintptr_t beg, size, size_with_redzone;
	const char *name, *module;
	uintptr_t has_dynamic_init;
	const struct kasan_source_location {
		const char *file;
		uint32_t line, column;
	} *location;
	uintptr_t odr_indicator;
};
const struct kasan_global *kasan_find_global(uintptr_t addr);

/* Slab metadata of an object; NULL if the cache has none. */
#ifdef CONFIG_KASAN_GENERIC
struct kasan_alloc_meta *kasan_alloc_meta(const struct kasan_cache *cache, const void *object);
struct kasan_free_meta *kasan_free_meta(const struct kasan_cache *cache, const void *object);
#else
/* Tag modes have no redzones to keep it in: who did what is in the stack ring. */
static inline struct kasan_alloc_meta *kasan_alloc_meta(const struct kasan_cache *cache,
							const void *object)
{
	(void)cache;
	(void)object;
	return NULL;
}
#endif

/* --- report/ ------------------------------------------------------------------------------------------ */

/** kasan_report_access() - report a bad access. Returns false if it was suppressed. */
bool kasan_report_access(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

/** kasan_wait_for_report() - return when a report that another CPU was just printing is done: it may have
 *  pointers to what the caller has taken out of a registry. Not for ever, as lock_reports() says. */
void kasan_wait_for_report(void);

/** kasan_report_bad_free() - @type: "double-free" or "invalid-free". */
bool kasan_report_bad_free(const char *type, const void *addr, uintptr_t ip, uintptr_t fp);

/* Options read elsewhere. */
extern bool kasan_opt_off;		     /* kasan=off: kasan_enabled() is false from then on */
extern enum kasan_hw_mode kasan_opt_hw_mode; /* kasan.mode= */
extern unsigned int kasan_opt_stack_ring_size; /* kasan.stack_ring_size=, entries */
enum kasan_tag_policy {
	KASAN_TAG_POLICY_ADJACENT, /* neighbours differ, and so do consecutive owners */
	KASAN_TAG_POLICY_RANDOM,   /* every tag with equal chance */
};
extern enum kasan_tag_policy kasan_opt_tag_policy; /* kasan.tag_policy= */
extern bool kasan_opt_vmalloc;			   /* kasan.vmalloc= */
extern unsigned int kasan_opt_sample;		   /* kasan.page_alloc.sample= */
extern unsigned int kasan_opt_sample_order;	   /* kasan.page_alloc.sample.order= */
extern bool kasan_opt_write_only;		   /* kasan.write_only= */

/** kasan_started() - Return: true once kasan_init() was called. */
bool kasan_started(void);

/** kasan_running() - kasan_enabled(), inline. kasan_update_active(): what it depends on has changed. */
extern unsigned int kasan_active;
static inline bool kasan_running(void)
{
	return __atomic_load_n(&kasan_active, __ATOMIC_RELAXED);
}
void kasan_update_active(void);

#endif /* KASAN_INTERNAL_H */

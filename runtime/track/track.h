/* SPDX-License-Identifier: MIT */
/* track.h - stack traces, the depot that keeps them, and struct kasan_track. */
#ifndef KASAN_TRACK_H
#define KASAN_TRACK_H

#include "../base/base.h"

/* --- stack_walk.c --- */

/**
 * kasan_stack_walk() - collect return addresses into @pcs
 * @ip: first entry. @fp: frame pointer of the function that @ip returned to us from, so KASAN_CALLER_FP() with
 * KASAN_CALLER_IP(); 0: @ip alone. Frame records are trusted only inside the stack that kasan_port_task() names,
 * aligned and ascending. Return: the number of entries.
 */
size_t kasan_stack_walk(uintptr_t ip, uintptr_t fp, uintptr_t *pcs, size_t max);

/**
 * kasan_stack_walk_in() - kasan_stack_walk() for a caller that already called kasan_port_task()
 *
 * @ip may be a return address of a function further out than the one whose frame @fp names: an allocator passes its own
 * caller's. The frames in between are left out.
 */
size_t kasan_stack_walk_in(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			   uintptr_t *pcs, size_t max);

/** kasan_stack_walk_fault() - the same if @ip is an instruction in the function of @fp: every frame is a caller of @ip,
 *  so none is left out. */
size_t kasan_stack_walk_fault(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			      uintptr_t *pcs, size_t max);

/** kasan_stack_caller() - Return: where the function that @ip is in returns to; @ip if that is not known. @fp: as for
 *  kasan_stack_walk(). */
uintptr_t kasan_stack_caller(uintptr_t ip, uintptr_t fp);

/* --- depot.c --- */

/** kasan_depot_save() - Return: the handle of this trace, the same for equal traces; 0: the depot is full, or a change
 *  was interrupted. */
uint32_t kasan_depot_save(const uintptr_t *pcs, size_t count);

/** kasan_depot_fetch() - Return: the number of entries; 0 for an invalid handle, which may be garbage. */
size_t kasan_depot_fetch(uint32_t handle, const uintptr_t **pcs);

/* Sets kasan.depot_size=, within the bounds that options.c checks. */
void kasan_depot_set_size(size_t bytes);

/* --- track.c --- */

extern unsigned int kasan_opt_stacktrace; /* kasan.stacktrace=on|collect */
extern bool kasan_opt_stack_drop; /* kasan.stacktrace=collect: traces are made and not stored */

/** kasan_known_update() - apply a change of one of the two, or of kasan_silent(). */
void kasan_known_update(void);

/** kasan_save_stack() - Return: the handle of the running task's stack from @ip, @fp on; 0: none. */
uint32_t kasan_save_stack(uintptr_t ip, uintptr_t fp);

/** kasan_save_track_stack() - the same for a track, as the boot parameters say. */
uint32_t kasan_save_track_stack(uintptr_t ip, uintptr_t fp);

void kasan_set_full_track(struct kasan_track *track, uintptr_t ip, uintptr_t fp);

/** kasan_set_new_track() - the same if kasan_find_stack() has failed. */
void kasan_set_new_track(struct kasan_track *track, uintptr_t ip, uintptr_t fp);

/** kasan_tracks_are_short() - do tracks hold only the task's number, and does the port give that inline? */
static inline bool kasan_tracks_are_short(void)
{
#ifdef KASAN_PORT_HAS_TASK_ID
	return !kasan_opt_stacktrace;
#else
	return false;
#endif
}

static inline void kasan_clear_track(struct kasan_track *track)
{
	track->pid = 0;
	track->stack = 0;
#ifdef CONFIG_KASAN_EXTRA_INFO
	track->cpu = 0;
	track->when = 0;
#endif
}

/** kasan_set_short_track() - kasan_set_track() if kasan_tracks_are_short(). */
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

/* --- tests/traces/compare.c --- */

#ifdef CONFIG_KASAN_TRACE_COMPARE
/** kasan_compare_stored() - follow frame pointers from @ip, @fp and compare with the trace of @handle.
 *  kasan_compare_reported() compares with the @count return addresses of a report. @part: in an interrupt, where the
 *  shadow stack ends before @frames. */
void kasan_compare_stored(uint32_t handle, uintptr_t ip, uintptr_t fp);
void kasan_compare_reported(const uintptr_t *frames, size_t count, bool part, uintptr_t ip,
			    uintptr_t fp);
#else
#define kasan_compare_stored(handle, ip, fp)		    ((void)(handle), (void)(ip), (void)(fp))
#define kasan_compare_reported(frames, count, part, ip, fp) ((void)(ip), (void)(fp))
#endif

#endif /* KASAN_TRACK_H */

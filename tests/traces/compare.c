/* SPDX-License-Identifier: MIT */
/*
 * compare.c - a part of the runtime in the suite traces (CONFIG_KASAN_TRACE_COMPARE): every trace from the shadow call stack is made a second time, by
 * frame pointers, and the two are compared.
 *
 * Left out is code that the runtime calls in a report, the port's functions: the runtime's own functions have no entry
 * on the shadow stack unless it is compiled with the sanitizer, so they, and the function that they return to, are
 * missing there.
 *
 * Differences are counted, and the first few kept: a hook cannot print. kasan_print_trace_compare() does it later.
 */
#include "../../runtime/report/captured.h"
#include "../../runtime/track/depot.h"
#include "../../runtime/track/scs.h"
#include "../../runtime/track/track.h"
#include "../../runtime/track/walk.h"

#ifdef CONFIG_KASAN_TRACE_COMPARE
#ifndef KASAN_PORT_HAS_SHADOW_STACK
#error "KASAN: CONFIG_KASAN_TRACE_COMPARE is for ports with a shadow call stack"
#endif

#define KEPT 4U

struct trace {
	size_t count;
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
};

static struct {
	struct trace scs, frames;
} kept[KEPT];
static size_t stored, reported, left_out, different;

static void copy(struct trace *to, const uintptr_t *pcs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		to->pcs[i] = pcs[i];
	to->count = count;
}

static bool covers(struct kasan_scs *scs)
{
#ifndef CONFIG_SCS_RUNTIME
	if (kasan_lock_owned(&kasan_report_lock)) {
		__atomic_fetch_add(&left_out, 1, __ATOMIC_RELAXED);
		return false;
	}
#endif
	return kasan_scs_here(scs);
}

/* @scs may end before @frames if @part. */
static void compare(const uintptr_t *scs, size_t scs_count, const uintptr_t *frames,
		    size_t frames_count, bool part)
{
	bool same = scs_count == frames_count || (part && scs_count < frames_count);
	size_t i;

	for (i = 0; same && i < scs_count; i++)
		same = scs[i] == frames[i];
	if (same)
		return;
	i = __atomic_fetch_add(&different, 1, __ATOMIC_RELAXED);
	if (i < KEPT) {
		copy(&kept[i].scs, scs, scs_count);
		copy(&kept[i].frames, frames, frames_count);
	}
}

__attribute__((__noinline__)) void kasan_compare_stored(uint32_t handle, uintptr_t ip, uintptr_t fp)
{
	uintptr_t frames[CONFIG_KASAN_STACK_DEPTH];
	struct kasan_port_task task;
	struct kasan_bounds bounds;
	const uintptr_t *pcs;
	struct kasan_scs scs;
	size_t count, scs_count;

	if (!handle || !covers(&scs))
		return;
	kasan_clear_fast(&task);
	kasan_port_task(&task);
	/* No bounds, no frames: nothing to compare with. */
	if (!kasan_get_bounds(task.stack_start, task.trace_end ? task.trace_end : task.stack_end,
			      &bounds))
		return;
	frames[0] = ip;
	count = kasan_follow(&bounds, kasan_skip_to(&bounds, ip, fp), frames, 1,
			     CONFIG_KASAN_STACK_DEPTH);
	__atomic_fetch_add(&stored, 1, __ATOMIC_RELAXED);
	scs_count = kasan_depot_fetch(handle, &pcs);
	compare(pcs, scs_count, frames, count, false);
}

void kasan_compare_reported(const uintptr_t *frames, size_t count, bool part, uintptr_t ip,
			    uintptr_t fp)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	struct kasan_scs scs;

	/* A frame pointer of 0: the caller has none to offer. */
	if (!fp || !ip || !count || !kasan_scs_here(&scs))
		return;
	/* Also where hooks have entries: an allocator may name a function further out. */
	if (!kasan_scs_skip(&scs, ip, 2 * KASAN_SEARCH_FRAMES))
		(void)kasan_scs_skip(&scs, kasan_arch_frame_ra(fp), 2 * KASAN_SEARCH_FRAMES);
	pcs[0] = ip;
	__atomic_fetch_add(&reported, 1, __ATOMIC_RELAXED);
	compare(pcs, 1 + kasan_scs_copy(&scs, pcs + 1, CONFIG_KASAN_STACK_DEPTH - 1), frames, count,
		part);
}

static void print(const char *what, const struct trace *trace)
{
	size_t i;

	kasan_report_line("kasan: %s:", what);
	for (i = 0; i < trace->count; i++)
		kasan_report_line(" %pS", (void *)trace->pcs[i]);
}

size_t kasan_print_trace_compare(void)
{
	const size_t count = __atomic_load_n(&different, __ATOMIC_RELAXED);
	size_t i;

	for (i = 0; i < count && i < KEPT; i++) {
		print("from the shadow call stack", &kept[i].scs);
		print("by frame pointers", &kept[i].frames);
	}
	kasan_report_line("kasan: traces: %zu different of %zu stored and %zu reported; left out, "
			  "in reports: %zu",
			  count, __atomic_load_n(&stored, __ATOMIC_RELAXED),
			  __atomic_load_n(&reported, __ATOMIC_RELAXED),
			  __atomic_load_n(&left_out, __ATOMIC_RELAXED));
	return count;
}

#endif /* CONFIG_KASAN_TRACE_COMPARE */

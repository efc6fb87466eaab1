/* SPDX-License-Identifier: MIT */
/* track.c - fills struct kasan_track: the task and stack of an allocation or free. */
#include "track.h"

#include "known.h"
#include "exidx.h"

unsigned int kasan_opt_stacktrace = true;
bool kasan_opt_stack_drop;

#if CONFIG_KASAN_NR_CPUS < 8
#define TURNS CONFIG_KASAN_NR_CPUS
#else
#define TURNS 8
#endif

/* Promote a stack to the fast path once in eight hits. Otherwise two alternating stacks would evict each other every
 * time. */
static inline bool is_turn(void)
{
	/* One counter that all CPUs write would cost more than all else here. */
	static struct {
		unsigned int count;
	} __attribute__((__aligned__(TURNS > 1 ? 64 : sizeof(int)))) late[TURNS];
	unsigned int *const mine = &late[TURNS > 1 ? kasan_port_cpu() % TURNS : 0].count;
	const unsigned int count = __atomic_load_n(mine, __ATOMIC_RELAXED) + 1;

	/* CPUs that share one may lose each other's counts. */
	__atomic_store_n(mine, count, __ATOMIC_RELAXED);
	return count % 8 == 0;
}

/* Hooks look for a stack themselves if the port has these functions in line. */
#if defined(KASAN_PORT_HAS_TASK_ID) && defined(KASAN_PORT_HAS_TASK_STACK)
#define HOOKS_LOOK 1
#else
#define HOOKS_LOOK 0
#endif

/* @record: found in @way of the set of @entry. */
static inline void promote(const struct kasan_record **entry, const struct kasan_record **way,
			   const struct kasan_record *record)
{
	if (!is_turn())
		return;
	__atomic_store_n(way, kasan_known_read(entry), __ATOMIC_RELEASE);
	__atomic_store_n(entry, record, __ATOMIC_RELEASE);
}

/* kasan.stacktrace=collect: make the trace, and drop it. */
static inline void drop(const uintptr_t *pcs, size_t count)
{
	__asm__ volatile("" ::"r"(pcs), "r"(count) : "memory");
}

/* --- From the shadow call stack --- */

#ifdef KASAN_PORT_HAS_SHADOW_STACK

/* The most functions of the allocator between a hook and the function whose caller @ip is, with the runtime's own if it
 * is compiled with the sanitizer. */
#define FEW KASAN_SEARCH_FRAMES

static inline void start_scs(struct kasan_scs *scs, uintptr_t ip, uintptr_t fp)
{
	if (!kasan_scs_skip(scs, ip, FEW) && KASAN_SCS_HAS_HOOKS && fp)
		(void)kasan_scs_skip(scs, kasan_arch_frame_ra(fp), FEW);
	if (scs->size > KASAN_SCS_MOST)
		scs->size = KASAN_SCS_MOST;
}

/* kasan_scs_same() for any number of entries, signed or not. */
static bool same_stripped(const struct kasan_scs *scs, const uintptr_t *pcs)
{
	size_t i;

	for (i = 0; i < kasan_scs_count(scs); i++) {
		if (kasan_arch_strip_ra(scs->top[-1 - (ptrdiff_t)i]) != pcs[i])
			return false;
	}
	return true;
}

static const struct kasan_record *find_scs(const struct kasan_scs *scs, uintptr_t ip,
					   const struct kasan_record **entry)
{
	unsigned int way;

	for (way = 0; way < KASAN_KNOWN_WAYS; way++) {
		const struct kasan_record *record = kasan_known_read(kasan_known_way(entry, way));

		if (record && record->more == scs->size && record->pcs[0] == ip &&
		    (kasan_scs_same(scs, record->pcs + 1) ||
		     (KASAN_ARCH_SIGNS_RA && same_stripped(scs, record->pcs + 1)))) {
			if (way)
				promote(entry, kasan_known_way(entry, way), record);
			return record;
		}
	}
	return NULL;
}

/* An interrupt that is about to end runs on the task's shadow stack, whose entries are not part of the trace. Return:
 * how many entries frame pointers give for a trace that starts with @ip, at most @count. */
static size_t cut_in_interrupt(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			       size_t count)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	struct kasan_bounds bounds;

	if (!kasan_get_bounds(task->stack_start, task->trace_end, &bounds))
		return count;
	pcs[0] = ip;
	return kasan_follow(&bounds, kasan_skip_to(&bounds, ip, fp), pcs, 1, count);
}

/* @known: cleared if the trace must not be entered into the table of known stacks. */
static kasan_noinline struct kasan_record *enter_scs(const struct kasan_scs *scs, uintptr_t ip,
						     uintptr_t fp, bool *known)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	struct kasan_port_task task;
	size_t count, part;

	pcs[0] = ip;
	count = part = 1 + kasan_scs_copy(scs, pcs + 1, CONFIG_KASAN_STACK_DEPTH - 1);
	kasan_clear_fast(&task);
	kasan_port_task(&task);
	if (kasan_unlikely(task.trace_end))
		part = cut_in_interrupt(&task, ip, fp, count);
	*known &= part == count;
	return kasan_depot_get(pcs, part);
}

static uint32_t save_scs(struct kasan_scs *scs, uintptr_t ip, uintptr_t fp)
{
	char *const table = kasan_known_table();
	const struct kasan_record *known = NULL;
	struct kasan_record *record;
	bool has_key;
	uint32_t key = 0;

	start_scs(scs, ip, fp);
	has_key = scs->size >= KASAN_SCS_LEAST;
	if (has_key) {
		key = kasan_known_scs_key(ip, scs);
		known = find_scs(scs, ip, kasan_known_entry(table, key));
	}
	if (known)
		return known->handle;
	record = enter_scs(scs, ip, fp, &has_key);
	if (!record)
		return 0;
	if (has_key)
		kasan_known_put(table, key, NULL, record);
	return record->handle;
}

static kasan_noinline void collect_scs(struct kasan_scs *scs, uintptr_t ip, uintptr_t fp)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];

	start_scs(scs, ip, fp);
	pcs[0] = ip;
	drop(pcs, 1 + kasan_scs_copy(scs, pcs + 1, CONFIG_KASAN_STACK_DEPTH - 1));
}

#endif /* KASAN_PORT_HAS_SHADOW_STACK */

/* The bounds of the running task's stack for stored traces, which in an interrupt end where the interrupt came. */
static kasan_noinline void ask_stack(uintptr_t *start, uintptr_t *end)
{
	struct kasan_port_task task;

	kasan_clear_fast(&task);
	kasan_port_task(&task);
	*start = task.stack_start;
	*end = kasan_unlikely(task.trace_end) ? task.trace_end : task.stack_end;
}

#if !KASAN_ARCH_UNWINDS
/* The same at an address in the stack, often without a call. Return: is the stack known? */
static inline bool get_stack(uintptr_t at, uintptr_t *start, uintptr_t *end)
{
#ifdef KASAN_PORT_HAS_TASK_STACK
	if (kasan_likely(kasan_port_task_stack(at, start, end)))
		return true;
#else
	(void)at;
#endif
	ask_stack(start, end);
	return *start;
}
#endif

#if !KASAN_FOLLOWS_FRAMES

#if KASAN_ARCH_UNWINDS
#define IS_SAME kasan_same_slots
#else
#define IS_SAME kasan_same_path
#endif

/* Look into the set of @entry for the stack at hand. @at, @last: see IS_SAME(). */
static const struct kasan_record *find_placed(uintptr_t ip, uintptr_t at, uintptr_t last,
					      const struct kasan_record **entry)
{
	unsigned int way;

	for (way = 0; way < KASAN_KNOWN_WAYS; way++) {
		const struct kasan_record *record = kasan_known_read(kasan_known_way(entry, way));

		if (record && record->pcs[0] == ip && IS_SAME(record, at, last)) {
			if (way)
				promote(entry, kasan_known_way(entry, way), record);
			return record;
		}
	}
	return NULL;
}

#endif

#if KASAN_ARCH_UNWINDS

/* --- By exidx.h's tables --- */

/* Unwind the stack. @fp: the stack pointer of @ip's function, in @task's stack; 0: not known. @known: filled: is it
 * known where the return addresses were found, so that the record may be entered into the table? @collect: see
 * below. */
static kasan_noinline struct kasan_record *enter_slots(const struct kasan_port_task *task,
						       uintptr_t ip, uintptr_t fp, bool collect,
						       bool *known)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	size_t count = fp ? kasan_unwind_slots(task, ip, fp, pcs, NULL, NULL) : 0;
	const bool has_slots = count != 0;
	struct kasan_record *record;
	uint8_t *slots;

	*known = false;
	if (!has_slots)
		count = kasan_stack_walk_in(task, ip, fp, pcs, CONFIG_KASAN_STACK_DEPTH);
	if (collect) {
		drop(pcs, count);
		return NULL;
	}
	record = kasan_depot_get(pcs, count);
	if (!record || !has_slots)
		return record;
	/* Unwind once more, directly into the record, because a buffer would take stack. Other CPUs may be writing the
	 * same bytes there. */
	slots = (uint8_t *)(record->pcs + count);
	(void)kasan_unwind_slots(task, ip, fp, pcs, slots, &record->span);
	*known = slots[0];
	return record;
}

/* @collect: the trace is not wanted, only its cost. @ip: 0: it is not known. */
static uint32_t save_stack(uintptr_t ip, uintptr_t fp, bool collect)
{
	const uintptr_t at = fp - sizeof(fp);
	const struct kasan_record **entry;
	const struct kasan_record *known;
	char *const table = kasan_known_table();
	struct kasan_record *record;
	struct kasan_port_task task;
	uintptr_t last;
	uint32_t key;
	bool enter;

	if (kasan_unlikely(!ip))
		return 0;
	ask_stack(&task.stack_start, &task.stack_end);
	last = task.stack_end - sizeof(fp);
	if (kasan_unlikely(!task.stack_start || at - task.stack_start > last - task.stack_start))
		fp = 0;
	key = kasan_known_slots_key(ip, last - at);
	entry = kasan_known_entry(table, key);
	known = fp && !collect ? find_placed(ip, at, last, entry) : NULL;
	if (known)
		return known->handle;
	record = enter_slots(&task, ip, fp, collect, &enter);
	if (!record)
		return 0;
	if (enter)
		kasan_known_put(table, key, NULL, record);
	return record->handle;
}

#elif defined(KASAN_PORT_HAS_WALK)

/* --- By the port's own tables --- */

uint64_t kasan_path_first[64];

static bool same_path(const uint16_t *one, const uint16_t *other, size_t entries)
{
	while (entries && one[entries - 1] == other[entries - 1])
		entries--;
	return !entries;
}

/* Give @record the @path of its trace, which ends with a 0. Return: false if it has another one already, or this one has no
 * room: where functions align their frames, several paths may lead to the same trace. */
static bool set_path(struct kasan_record *record, const uint16_t *path)
{
	uint16_t *const kept = kasan_record_path(record);
	size_t span = 0, entries = 0, i;
	uint16_t before = 0;

	while (entries < KASAN_PATH_MOST && path[entries]) {
		span += path[entries] & ~KASAN_PATH_WORDS;
		entries += 1 + 2 * (path[entries] & KASAN_PATH_WORDS);
	}
	if (!entries || entries > KASAN_PATH_ENTRIES(kasan_record_count(record)) ||
	    span >= KASAN_SPAN_IS_COMING)
		return false;
	if (!__atomic_compare_exchange_n(&record->span, &before, KASAN_SPAN_IS_COMING, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return before == span && same_path(kept, path, entries);
	for (i = 0; i < entries; i++)
		kept[i] = path[i];
	__atomic_store_n(&record->span, (uint16_t)span, __ATOMIC_RELEASE);
	return true;
}

/* @known: filled: may the record be entered into the table of known stacks? */
static kasan_noinline struct kasan_record *enter_path(uintptr_t start, uintptr_t end, uintptr_t ip,
						      uintptr_t fp, bool collect, bool *known)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	uint16_t path[KASAN_PATH_MOST];
	struct kasan_record *record;
	size_t count = 1;

	pcs[0] = ip;
	path[0] = 0;
	if (kasan_likely(start))
		count = kasan_port_walk(start, end, ip, fp, pcs, CONFIG_KASAN_STACK_DEPTH, path);
	if (collect) {
		drop(pcs, count);
		return NULL;
	}
	/* An entry that is wrong does no harm, because it only decides on a key. */
	if (path[0] && !(path[0] & KASAN_PATH_WORDS))
		__atomic_store_n(kasan_path_first_of(ip), (uint64_t)ip << 16 | path[0],
				 __ATOMIC_RELAXED);
	record = kasan_depot_get(pcs, count);
	*known = record && set_path(record, path);
	return record;
}

/* @collect: the trace is not wanted, only its cost. @ip: 0: it is not known. */
static uint32_t save_stack(uintptr_t ip, uintptr_t fp, bool collect)
{
	const uintptr_t at = fp + KASAN_PATH_START;
	char *const table = kasan_known_table();
	const struct kasan_record *known;
	struct kasan_record *record;
	uintptr_t start, end, last;
	bool has_key, enter;

	if (kasan_unlikely(!ip))
		return 0;
	(void)get_stack(fp, &start, &end);
	last = end - sizeof(fp);
	has_key = start && fp >= start && at <= last && !(fp % sizeof(fp)) && !collect &&
		  *(const uintptr_t *)at == ip;
	if (kasan_likely(has_key)) {
		known = find_placed(ip, at, last,
				    kasan_known_entry(table, kasan_path_key(ip, at, last)));
		if (known)
			return known->handle;
	}
	record = enter_path(start, end, ip, fp, collect, &enter);
	if (!record)
		return 0;
	/* The key may be another one, now that the walk is over. */
	if (has_key && enter)
		kasan_known_put(table, kasan_path_key(ip, at, last), NULL, record);
	return record->handle;
}

#else

/* --- By frame pointers --- */

#if KASAN_KNOWN_HAS_FAR
/* Many stacks may have the same near frames at the same depth, for example in a program that makes all its allocations
 * through functions around malloc(). The table has one entry for each near key, where the hooks find the most frequent
 * stack, and save_frames() another one next to it. All stacks are in the set of their far key, so that the others need
 * no search in the depot. */
static uint32_t far_key(const struct kasan_bounds *bounds, const struct kasan_near_frames *start)
{
	uintptr_t fp = start->fp, room = start->room, next, ra;
	/* It covers only return addresses, as in far_key_of(), so the depth is taken out again. */
	uint32_t key = start->key - (start->far ? (uint32_t)room : 0);
	unsigned int i;

	for (i = 2 + KASAN_NEAR; start->far && i < KASAN_FAR_WORDS; i++) {
		fp = kasan_arch_frame_prev(fp);
		next = kasan_frame_left(bounds, fp);
		if (next >= room)
			break;
		ra = kasan_arch_frame_raw_ra(fp);
		if (!ra)
			break;
		key = kasan_known_mix(key, ra);
		room = next;
	}
	return ~key;
}

/* Return: where save_frames() starts among the entries of a near key. A hook has read the first one, unless @fp is the frame of
 * a function that it has called. */
static inline unsigned int near_start(uintptr_t fp, uintptr_t first)
{
	return HOOKS_LOOK && first == kasan_arch_frame_prev(fp) ? 1 : 0;
}

/* Write @record into @near or the entry next to it, if one is free or @replace. */
static void put_near(const struct kasan_record **near, const struct kasan_record *record,
		     bool replace)
{
	const struct kasan_record **const next = kasan_known_way(near, 1);
	const struct kasan_record *const first = kasan_known_read(near);

	if (first == record)
		return;
	if (first && !kasan_known_read(next))
		__atomic_store_n(next, record, __ATOMIC_RELEASE);
	else if (!first || replace)
		__atomic_store_n(near, record, __ATOMIC_RELEASE);
}
#endif

#if KASAN_KNOWN_HAS_FAR
/* Two searches call it. */
static kasan_noinline bool is_same(const struct kasan_bounds *bounds,
				   const struct kasan_near_frames *start, uintptr_t ip,
				   uintptr_t first, const struct kasan_record *record)
{
	return kasan_same_frames(bounds, start, ip, first, record->pcs, record->more);
}
#define IS_STACK_OF(bounds, start, ip, first, record) \
	((record)->pcs[0] == (ip) && is_same(bounds, start, ip, first, record))
#else
#define IS_STACK_OF(bounds, start, ip, first, record) \
	kasan_same_frames(bounds, start, ip, first, (record)->pcs, (record)->more)
#endif

/* @first: the trace's first frame. @entry: of the far key, where there are far keys. Looks into @ways entries from @way on. Most
 * are empty. */
static kasan_always_inline const struct kasan_record *
find_frames(const struct kasan_bounds *bounds, const struct kasan_near_frames *start, uintptr_t ip,
	    uintptr_t first, const struct kasan_record **entry, unsigned int way, unsigned int ways)
{
	for (; way < ways; way++) {
		const struct kasan_record *record = kasan_known_read(kasan_known_way(entry, way));

		if (record && IS_STACK_OF(bounds, start, ip, first, record)) {
#if !KASAN_KNOWN_HAS_FAR
			if (way)
				promote(entry, kasan_known_way(entry, way), record);
#endif
			return record;
		}
	}
	return NULL;
}

#ifdef KASAN_DEPOT_IS_SMALL
/* Where flash is small, one copy of the loop serves both callers. */
#define FOLLOW_INLINE kasan_noinline
#else
#define FOLLOW_INLINE inline
#endif

static FOLLOW_INLINE size_t follow_all(const struct kasan_bounds *bounds, uintptr_t ip,
				       uintptr_t first, uintptr_t *pcs)
{
	pcs[0] = ip;
	return kasan_follow(bounds, first, pcs, 1, CONFIG_KASAN_STACK_DEPTH);
}

/* @first: where kasan_follow() starts. */
static kasan_noinline struct kasan_record *enter_frames(const struct kasan_bounds *bounds,
							uintptr_t ip, uintptr_t first)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];

	return kasan_depot_get(pcs, follow_all(bounds, ip, first, pcs));
}

static uint32_t save_frames(const struct kasan_bounds *bounds, uintptr_t ip, uintptr_t fp)
{
	char *const table = kasan_known_table();
	const struct kasan_record **near = NULL;
	const struct kasan_record *known;
	struct kasan_record *record;
	const uintptr_t first = kasan_skip_to(bounds, ip, fp);
	struct kasan_near_frames start;
	const uint32_t *far = NULL;
#if KASAN_KNOWN_HAS_FAR
	uint32_t far_word;
#endif

	if (kasan_is_frame(bounds, first) &&
	    kasan_start_frames(bounds, ip, first, UINTPTR_MAX, &start)) {
		near = kasan_known_entry(table, start.key);
#if KASAN_KNOWN_HAS_FAR
		/* Often two stacks that a loop uses in turn have met, and the far key would cost more. */
		known = find_frames(bounds, &start, ip, first, near, near_start(fp, first), 2);
		if (known) {
			if (known != kasan_known_read(near))
				promote(near, kasan_known_way(near, 1), known);
			return known->handle;
		}
		far_word = far_key(bounds, &start);
		far = &far_word;
#endif
		known = find_frames(bounds, &start, ip, first,
				    far ? kasan_known_far(table, *far) : near, 0, KASAN_KNOWN_WAYS);
		if (known) {
#if KASAN_KNOWN_HAS_FAR
			put_near(near, known, is_turn());
#endif
			return known->handle;
		}
	}
	record = enter_frames(bounds, ip, first);
	if (!record)
		return 0;
	if (near) {
		kasan_known_put(table, start.key, far, record);
#if KASAN_KNOWN_HAS_FAR
		put_near(near, record, false);
#endif
	}
	return record->handle;
}

static kasan_noinline void collect_frames(const struct kasan_bounds *bounds, uintptr_t ip,
					  uintptr_t fp)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];

	drop(pcs, follow_all(bounds, ip, kasan_skip_to(bounds, ip, fp), pcs));
}

/* @collect: the trace is not wanted, only its cost. @ip: 0: it is not known. */
static uint32_t save_stack(uintptr_t ip, uintptr_t fp, bool collect)
{
	struct kasan_bounds bounds;
	uintptr_t start, end;
#ifdef KASAN_PORT_HAS_SHADOW_STACK
	struct kasan_scs scs;

	if (kasan_likely(ip && kasan_scs_here(&scs))) {
		if (!collect)
			return save_scs(&scs, ip, fp);
		collect_scs(&scs, ip, fp);
		return 0;
	}
#endif
	if (kasan_unlikely(!ip))
		return 0;
	/* Without bounds no address is a frame, and the trace is @ip alone. */
	(void)get_stack(fp, &start, &end);
	if (kasan_unlikely(!kasan_get_bounds(start, end, &bounds)))
		bounds = (struct kasan_bounds){.low = UINTPTR_MAX};
	if (!collect)
		return save_frames(&bounds, ip, fp);
	collect_frames(&bounds, ip, fp);
	return 0;
}

#endif

/* --- Any of them --- */

uint32_t kasan_save_track_stack(uintptr_t ip, uintptr_t fp)
{
	/* A runtime that is off prints no report, so the stack would never be read. */
	if (kasan_unlikely(!kasan_opt_stacktrace || kasan_silent()))
		return 0;
	return save_stack(ip, fp, kasan_opt_stack_drop);
}

static inline uint32_t task_id(void)
{
#ifdef KASAN_PORT_HAS_TASK_ID
	return kasan_port_task_id();
#else
	struct kasan_port_task task;

	kasan_clear_fast(&task);
	kasan_port_task(&task);
	return task.id;
#endif
}

static kasan_always_inline void fill(struct kasan_track *track, uint32_t stack)
{
	track->pid = task_id();
	track->stack = stack;
#ifdef CONFIG_KASAN_EXTRA_INFO
	track->cpu = kasan_port_cpu();
	track->when = kasan_port_clock() >> KASAN_TRACK_CLOCK_SHIFT;
#endif
}

void kasan_set_full_track(struct kasan_track *track, uintptr_t ip, uintptr_t fp)
{
	char *const table = __atomic_load_n(&kasan_known, __ATOMIC_RELAXED);
	uint32_t stack = 0;

	if (kasan_likely(table)) {
		if (kasan_unlikely(!kasan_known_stack_of(table, ip, fp, false, &stack)))
			stack = kasan_save_track_stack(ip, fp);
		kasan_compare_stored(stack, ip, fp);
	}
	fill(track, stack);
}

kasan_noinline void kasan_set_new_track(struct kasan_track *track, uintptr_t ip, uintptr_t fp)
{
	uint32_t stack = 0;

	if (__atomic_load_n(&kasan_known, __ATOMIC_RELAXED)) {
		stack = kasan_save_track_stack(ip, fp);
		kasan_compare_stored(stack, ip, fp);
	}
	fill(track, stack);
}

uint32_t kasan_save_stack(uintptr_t ip, uintptr_t fp)
{
	const uint32_t handle = save_stack(ip, fp, false);

	kasan_compare_stored(handle, ip, fp);
	return handle;
}

kasan_noinline uint32_t kasan_stack_save(uintptr_t ip)
{
	/* With tables, another function's frame would have to be searched for. */
	return kasan_save_stack(ip ? ip : KASAN_CALLER_IP(),
				KASAN_ARCH_UNWINDS && ip ? 0 : KASAN_CALLER_FP());
}

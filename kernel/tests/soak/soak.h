/* SPDX-License-Identifier: MIT */
/*
 * soak.h - declarations shared by the files of the soak test.
 *
 * Workers make traffic: each owns a few things (objects, areas, modules, ...), and a step creates, checks
 * or drops one of them at random. From time to time all drop everything and wait, so that memory can be
 * compared with its state before. Planters commit bugs meanwhile, each of which must be reported once.
 */
#ifndef SOAK_SOAK_H
#define SOAK_SOAK_H

#include <kasan/kasan.h>
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/types.h>

/* A load and a store that the compiler keeps. */
#define SOAK_READ(lvalue)	  ((void)*(const volatile __typeof__(lvalue) *)&(lvalue))
#define SOAK_WRITE(lvalue, value) (*(volatile __typeof__(lvalue) *)&(lvalue) = (value))

/*
 * Where behind @size bytes of an object, or of a variable on the stack, the mode sees an access. The CPU compares
 * tags of whole granules, and so does what some compilers emit for variables.
 */
#ifdef CONFIG_KASAN_HW_TAGS
#define SOAK_END(size) ALIGN(size, KASAN_GRANULE_SIZE)
#else
#define SOAK_END(size) (size)
#endif
#if defined(CONFIG_KASAN_TAGS) && !(defined(CONFIG_KASAN_INLINE) && defined(__clang__))
#define SOAK_STACK_END(size) ALIGN(size, KASAN_GRANULE_SIZE)
#else
#define SOAK_STACK_END(size) (size)
#endif

/**
 * soak_stack_tag_is_seen() - Return: does a check see that @p does not belong to other memory of the stack?
 *
 * With software tags a variable's tag follows from the address of its frame, and may be any. ff matches all memory,
 * and a tag below 10 looks like the mark of a short granule. A thread meets such a tag in the same frame each time.
 */
static inline bool soak_stack_tag_is_seen(const void *p)
{
#ifdef CONFIG_KASAN_SW_TAGS
	u8 tag = kasan_get_tag(p);

	return tag >= 0x10 && tag != KASAN_TAG_KERNEL;
#else
	return true;
#endif
}

struct soak_worker;

/**
 * struct soak_kind - a kind of traffic
 * @name: of its threads, at most 8 characters.
 * @threads: number of its threads.
 * @setup: optional, once for each worker before any starts. Return: false without memory.
 * @step: does one thing.
 * @drain: optional: gives back all that the worker owns. It may go on afterwards.
 * @teardown: optional, at the end, after @drain.
 * @pause_ms: rest after each step, from 0 to this many milliseconds; 0: none.
 * @plants: its steps commit bugs; not run with bugs=off.
 */
struct soak_kind {
	const char *name;
	unsigned int threads;
	bool (*setup)(struct soak_worker *w);
	void (*step)(struct soak_worker *w);
	void (*drain)(struct soak_worker *w);
	void (*teardown)(struct soak_worker *w);
	unsigned int pause_ms;
	bool plants;
};

/**
 * struct soak_worker - a thread of a kind
 * @index: among all workers; @nth: among those of its kind.
 * @private: data of the kind.
 */
struct soak_worker {
	const struct soak_kind *kind;
	unsigned int index, nth;
	struct rnd_state rnd;
	unsigned long steps;
	void *private;
	struct task *task;
	bool quiet;
};

/* Tables, each ended by an entry without a name. */
extern const struct soak_kind soak_slab_kinds[];     /* traffic.c */
extern const struct soak_kind soak_vmem_kinds[];     /* vmem.c */
extern const struct soak_kind soak_deferred_kinds[]; /* deferred.c */
extern const struct soak_kind soak_module_kinds[];   /* modules.c */
extern const struct soak_kind soak_bug_kinds[];	     /* bugs.c */
extern const struct soak_kind soak_lock_kinds[];     /* lock_bugs.c */
extern const struct soak_kind soak_sample_kinds[];   /* sample_bugs.c */

/* --- main.c ------------------------------------------------------------------------------------------ */

/** soak_below() - Return: a random number of the worker's sequence, in [0, @ceil). */
static inline u32 soak_below(struct soak_worker *w, u32 ceil)
{
	return prandom_u32_state(&w->rnd) % ceil;
}

/** soak_fail() - something is wrong that KASAN does not see: print it and count it. Any context. */
void soak_fail(const char *fmt, ...) __printf(1, 2);

/** soak_no_memory() - an allocation that may fail did. It is counted, and should be rare. */
void soak_no_memory(void);

/** soak_fill(), soak_check() - write a pattern of @key over @size bytes; check that it is still there. Large
 * objects
 *  have it at both ends and in every 61st byte. */
void soak_fill(void *p, size_t size, u32 key);
void soak_check(const void *p, size_t size, u32 key, const char *what);

/* --- deferred.c -------------------------------------------------------------------------------------- */

/** soak_deferred_flush() - wait for work whose owner has let it go. */
void soak_deferred_flush(void);

/* --- bugs.c ------------------------------------------------------------------------------------------ */

/**
 * struct soak_bug - a kind of bug
 * @type: of its report; several with commas between them if the mode cannot always tell.
 * @traces: the traces that a report has besides that of the access, as console.py names them.
 * @plant: commits it. Return: false if it could not.
 * @unseen: this kernel does not see it, so it is not planted.
 * @missed_least, @missed_most: between 1 in @missed_least and 1 in @missed_most are missed by chance; 0: none.
 */
struct soak_bug {
	const char *name, *type, *traces;
	bool (*plant)(struct soak_worker *w);
	bool unseen;
	unsigned int missed_least, missed_most;
};

/** soak_all_planted() - Return: true once each kind of bug was planted. */
bool soak_all_planted(void);

/** soak_print_planted() - one line for each kind of bug, with its count. */
void soak_print_planted(void);

/** soak_threads_to_lose() - Return: threads that planted bugs have killed. */
unsigned int soak_threads_to_lose(void);

/* --- tag_bugs.c -------------------------------------------------------------------------------------- */

/* Bugs that the tag-based modes see if two tags differ; the odds are for designated initializers. */
bool soak_bug_slab_old(struct soak_worker *w);
bool plant_stack_return(struct soak_worker *w);

/*
 * slab_old: the owner before the last one. The tag is drawn from those of one parity without that of the last
 * owner: 5 with hardware tags, 118 with software tags. QEMU's IRG adds a number below 16 to the last tag, which
 * favours some of the 5: 3 or 4 in 16.
 *
 * stack_return: another frame's variable. With hardware tags 12 tags, of which QEMU's IRG draws the same twice in a
 * row 2 times in 16. With software tags four bits of the frame's address, and there may be the tag that matches all.
 */
#ifdef CONFIG_KASAN_HW_TAGS
#define SOAK_SLAB_OLD_ODDS     .missed_least = 6, .missed_most = 4
#define SOAK_STACK_RETURN_ODDS .missed_least = 16, .missed_most = 7
#else
#define SOAK_SLAB_OLD_ODDS     .missed_least = 130, .missed_most = 100
#define SOAK_STACK_RETURN_ODDS .missed_least = 17, .missed_most = 7
#endif

/* --- lock_bugs.c ------------------------------------------------------------------------------------- */

/** soak_all_locks_planted() - Return: true once each kind of lock bug was planted, and without the lock validator. */
bool soak_all_locks_planted(void);

/** soak_print_locks_planted() - one line for each kind of lock bug, with its count. */
void soak_print_locks_planted(void);

/* --- sample_bugs.c ----------------------------------------------------------------------------------- */

/** soak_all_sampled_planted() - Return: true once each kind of bug in sampled objects was planted, and without sampling. */
bool soak_all_sampled_planted(void);

/** soak_print_sampled() - one line for each of these kinds, with its count, and how many objects were sampled. */
void soak_print_sampled(void);

/* --- modules.c --------------------------------------------------------------------------------------- */

/** soak_module_bug() - load the module under a name of its own, call its function @bug, unload it.
 *  Return: false without memory, then it was not called. */
bool soak_module_bug(struct soak_worker *w, const char *bug);

/* soak_blob.S: the module's file. */
extern const char soak_module_start[], soak_module_end[];

#endif

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

#include <kernel/random.h>
#include <kernel/types.h>

/* A load and a store that the compiler keeps. */
#define SOAK_READ(lvalue)	  ((void)*(const volatile __typeof__(lvalue) *)&(lvalue))
#define SOAK_WRITE(lvalue, value) (*(volatile __typeof__(lvalue) *)&(lvalue) = (value))

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

/** soak_all_planted() - Return: true once each kind of bug was planted. */
bool soak_all_planted(void);

/** soak_print_planted() - one line for each kind of bug, with its count. */
void soak_print_planted(void);

/** soak_threads_to_lose() - Return: threads that planted bugs have killed. */
unsigned int soak_threads_to_lose(void);

/* --- lock_bugs.c ------------------------------------------------------------------------------------- */

/** soak_all_locks_planted() - Return: true once each kind of lock bug was planted, and without the lock validator. */
bool soak_all_locks_planted(void);

/** soak_print_locks_planted() - one line for each kind of lock bug, with its count. */
void soak_print_locks_planted(void);

/* --- modules.c --------------------------------------------------------------------------------------- */

/** soak_module_bug() - load the module under a name of its own, call its function @bug, unload it.
 *  Return: false without memory, then it was not called. */
bool soak_module_bug(struct soak_worker *w, const char *bug);

/* soak_blob.S: the module's file. */
extern const char soak_module_start[], soak_module_end[];

#endif

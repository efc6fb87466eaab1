/* SPDX-License-Identifier: MIT */
/*
 * lockdep_test.h - what tests may ask the lock validator, and how they expect its reports.
 */
#ifndef EXT_LOCKDEP_TEST_H
#define EXT_LOCKDEP_TEST_H

#include <kernel/lockdep.h>
#include <kernel/types.h>

/** enum lockdep_kind - what a report is about */
enum lockdep_kind {
	LOCKDEP_CIRCULAR,
	LOCKDEP_RECURSION,
	LOCKDEP_INVERSION_HARD,
	LOCKDEP_INVERSION_SOFT,
	LOCKDEP_IRQ_STATE,
	LOCKDEP_WAIT_CONTEXT,
	LOCKDEP_BAD_UNLOCK,
	LOCKDEP_HELD_FREED,
	LOCKDEP_HELD_AT_EXIT,
	LOCKDEP_HELD_IN_USER_MODE,
	LOCKDEP_HELD_IN_SLEEP,
	LOCKDEP_NO_KEY,
	LOCKDEP_ASSERTION,
	LOCKDEP_KINDS,
};

#define LOCKDEP_NAME_LEN 48

/**
 * struct lockdep_report_info - a report
 * @ip: the code place in its title. @lock, @other: names of the classes that it is about, as reports print them, without
 *	brackets; "" if there is none. For a cycle and an inversion, @lock is being taken and @other is held.
 */
struct lockdep_report_info {
	enum lockdep_kind kind;
	unsigned long ip;
	char lock[LOCKDEP_NAME_LEN];
	char other[LOCKDEP_NAME_LEN];
};

/** lockdep_line_tap_fn - gets each line of the validator before it is printed, with interrupts off. Return: false if
 *  the line is not to be printed. */
typedef bool (*lockdep_line_tap_fn)(const char *text);

/** lockdep_reports_hold(), lockdep_reports_release() - reports in between, which a test provokes, do not panic even if
 *  panic_on_warn is set. Calls nest. */
void lockdep_reports_hold(void);
void lockdep_reports_release(void);

/** lockdep_last_report() - what the newest report is about. Return: false if there was none. */
bool lockdep_last_report(struct lockdep_report_info *info);

/** lockdep_line_tap() - pass the validator's lines to @tap; NULL: stop. Return: the tap before. */
lockdep_line_tap_fn lockdep_line_tap(lockdep_line_tap_fn tap);

/** lockdep_kind_name() - Return: how titles name @kind. */
const char *lockdep_kind_name(enum lockdep_kind kind);

/* How the locks of a class were used. In interrupts: by writers and plain readers, or by recursive readers (_READ). With
 * interrupts on: by writers, or by readers (_READ). */
#define LOCKDEP_USED_IN_HARDIRQ	     0x01U
#define LOCKDEP_USED_IN_HARDIRQ_READ 0x02U
#define LOCKDEP_ENABLED_HARDIRQ	     0x04U
#define LOCKDEP_ENABLED_HARDIRQ_READ 0x08U
#define LOCKDEP_USED_IN_SOFTIRQ	     0x10U
#define LOCKDEP_USED_IN_SOFTIRQ_READ 0x20U
#define LOCKDEP_ENABLED_SOFTIRQ	     0x40U
#define LOCKDEP_ENABLED_SOFTIRQ_READ 0x80U

/**
 * struct lockdep_usage - what the validator knows of a lock's class
 * @known: it has a class. @usage: LOCKDEP_USED_IN_* and so on. @contended: number of waits.
 * @longest: longest time that one of its locks was held, ns; measured while lockdep_measure() is on.
 */
struct lockdep_usage {
	bool known;
	unsigned int usage;
	unsigned long contended;
	u64 longest;
};

void lockdep_usage(const struct lockdep_map *map, struct lockdep_usage *usage);

/** struct lockdep_counts - what the tables hold, and their sizes */
struct lockdep_counts {
	unsigned int classes, deps, chains, traces;
	unsigned int max_classes, max_deps, max_chains, max_traces;
};

void lockdep_counts(struct lockdep_counts *counts);

#endif

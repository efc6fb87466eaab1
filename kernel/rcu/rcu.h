/* SPDX-License-Identifier: MIT */
/* rcu.h - the calls between grace periods (gp.c), callbacks (callback.c) and their priority (boost.c). */
#ifndef RCU_RCU_H
#define RCU_RCU_H

#include <kernel/rcupdate.h>

/* Bits of task->rcu_special. Only the task itself, or an interrupt that came while it runs, changes them.
 * Interrupts are off then. */
#define RCU_SPECIAL_BLOCKED 1U /* switched away inside a reader: it is in a list of gp.c */
#define RCU_SPECIAL_NEED_QS 2U /* a grace period waits for this reader to end */

/* --- gp.c ------------------------------------------------------------------------------------- */

/** rcu_want_gp() - ask for a grace period that begins after this call. Any context. */
void rcu_want_gp(void);

/** rcu_expedite(), rcu_unexpedite() - a caller waits: make grace periods quick between the two. */
void rcu_expedite(void);
void rcu_unexpedite(void);

/** rcu_gp_running() - Return: true if the grace-period thread runs. Before that, one CPU runs one task. */
bool rcu_gp_running(void);

/** rcu_gp_init() - start the grace-period thread. */
void rcu_gp_init(void);

/* --- callback.c ------------------------------------------------------------------------------- */

/** rcu_callbacks_assign() - a grace period is about to begin: let all queued callbacks wait for it. */
void rcu_callbacks_assign(void);

/** rcu_callbacks_ready() - that grace period is over: have these callbacks called. */
void rcu_callbacks_ready(void);

/** rcu_callbacks_init() - start the threads that call callbacks, one for each CPU, or panic. */
void rcu_callbacks_init(void);

/* --- boost.c ---------------------------------------------------------------------------------- */

/** rcu_add_thread() - @thread is a new thread of RCU, which never ends: give it its priority. */
void rcu_add_thread(struct task *thread);

/** rcu_boost_prio() - Return: the prio to lend readers that others wait for; MAX_PRIO: none. */
int rcu_boost_prio(void);

#endif

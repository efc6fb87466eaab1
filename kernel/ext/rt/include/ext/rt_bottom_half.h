/* SPDX-License-Identifier: MIT */
/* rt_bottom_half.h - keeping soft interrupts off this CPU in a real-time kernel. Included by <kernel/bottom_half.h>. */
#ifndef EXT_RT_BOTTOM_HALF_H
#define EXT_RT_BOTTOM_HALF_H

/** local_bh_disable(), local_bh_enable() - keep soft interrupts, and other tasks that do the same, from running on this
 *  CPU in between. Calls nest. The task stays on its CPU, may be preempted, and takes no locks but those that spin in other
 *  kernels. Waiting for a soft interrupt that runs, it lends its priority. Preemptible context. */
void local_bh_disable(void);
void local_bh_enable(void);

#endif

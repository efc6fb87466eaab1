/* SPDX-License-Identifier: MIT */
/* linux/tracepoint.h - what all tracepoints share. */
#ifndef LINUX_KUNIT_LINUX_TRACEPOINT_H
#define LINUX_KUNIT_LINUX_TRACEPOINT_H

#include <kernel/rcupdate.h>

/** tracepoint_synchronize_unregister() - wait until no probe that was unregistered still runs. */
static inline void tracepoint_synchronize_unregister(void)
{
	synchronize_rcu();
}

#endif

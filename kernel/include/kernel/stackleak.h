/* SPDX-License-Identifier: MIT */
/*
 * stackleak.h - what the kernel's core calls of stack erasing, an extension in kernel/ext/stackleak/.
 */
#ifndef KERNEL_STACKLEAK_H
#define KERNEL_STACKLEAK_H

#ifdef CONFIG_KSTACK_ERASE
#include <ext/stackleak.h>
#else

struct task;

static inline void stackleak_task_init(struct task *task)
{
}
#endif

#endif

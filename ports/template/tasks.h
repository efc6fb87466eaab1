/* SPDX-License-Identifier: MIT */
/* tasks.h - Cortex-M and x86_64: tasks with stacks of their own, one after the other on each CPU. The least that reports
 * can be shown with. */
#ifndef TASKS_H
#define TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** TASK_STACK - bytes of a task's stack. */
#define TASK_STACK 1024U

/** TASKS_REGIONS - of the MPU, from 0 on, that guards take. */
#if defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__)
#define TASKS_REGIONS 2U
#else
#define TASKS_REGIONS 0U
#endif

/** struct task - @low, @high: its stack. @id: from 1 on. */
struct task {
	const char *name;
	uint32_t id;
	uintptr_t low, high;
};

/** tasks_start() - handlers, guards and zones below the stacks, before the first task. */
void tasks_start(void);

/** task_run() - run @code as the task with number @id, 1 or 2, on that task's stack, until it returns or a fault ends it.
 *  Afterwards, on Cortex-M, the zone below its stack is checked, as a system does when it switches tasks. x86_64: task
 *  2 is that of the second CPU. */
void task_run(unsigned int id, void (*code)(void));

/** task_now() - Return: the running task, NULL if none is. */
const struct task *task_now(void);

/** task_of() - Return: the task whose stack holds @addr, or begins at most @below bytes above it; NULL: none. */
const struct task *task_of(uintptr_t addr, size_t below);

#endif /* TASKS_H */

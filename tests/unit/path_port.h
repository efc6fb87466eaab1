/* SPDX-License-Identifier: MIT */
/* path_port.h - the POSIX port with a walk of its own (kasan_port_walk()), over a stack that the test makes. */
#ifndef PATH_PORT_H
#define PATH_PORT_H

#include <stdbool.h>
#include <stdint.h>

unsigned long kasan_port_irq_save(void);
void kasan_port_irq_restore(unsigned long flags);
unsigned int kasan_port_cpu(void);

#define KASAN_PORT_HAS_WALK

#define KASAN_PORT_HAS_TASK_ID
static inline uint32_t kasan_port_task_id(void)
{
	return 7;
}

/* A thread's own. */
extern __thread uintptr_t unit_stack_start, unit_stack_end;

#define KASAN_PORT_HAS_TASK_STACK
static inline bool kasan_port_task_stack(uintptr_t sp, uintptr_t *start, uintptr_t *end)
{
	*start = unit_stack_start;
	*end = unit_stack_end;
	return sp - *start < *end - *start;
}

#endif /* PATH_PORT_H */

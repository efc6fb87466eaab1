/* SPDX-License-Identifier: MIT */
/*
 * kasan_freertos.h - FreeRTOS under KASAN: include it as the last line of FreeRTOSConfig.h.
 *
 * It owns what FreeRTOS tells the port: trace macros that FreeRTOS expands inside of tasks.c, where the fields of a
 * task are known. It also owns the functions that an application calls or gives. Without KASAN it is empty.
 *
 * FreeRTOSConfig.h is also included by assembly files, so the C part is guarded.
 */
#ifndef KASAN_FREERTOS_H
#define KASAN_FREERTOS_H

#if defined(CONFIG_KASAN_GENERIC)

#if defined(configNUMBER_OF_CORES) && configNUMBER_OF_CORES > 1
#error "KASAN: this port is for FreeRTOS on one core"
#endif
#if defined(configENABLE_MPU) && configENABLE_MPU
#error "KASAN: this port is for FreeRTOS without MPU wrappers: set configENABLE_MPU 0 in builds with KASAN"
#endif
#if defined(configENABLE_TRUSTZONE) && configENABLE_TRUSTZONE
#error "KASAN: tasks with a secure context have no hook at their end; use ARM_CM33_NTZ (configENABLE_TRUSTZONE 0)"
#endif

/* The upper bound of a task's stack, and its number, become fields of a task. */
#undef configRECORD_STACK_HIGH_ADDRESS
#define configRECORD_STACK_HIGH_ADDRESS 1
#undef configUSE_TRACE_FACILITY
#define configUSE_TRACE_FACILITY 1

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- The application gives --- */

/** kasan_freertos_putc() - write one character of a report, without interrupts: wait until the device takes it.
 *  Compile it without checks. Any context, interrupts off. */
void kasan_freertos_putc(char c);

/* --- The application may call --- */

/**
 * kasan_freertos_init() - start KASAN: on the boot stack, .data and .bss in place, before constructors and before any
 * checked code
 *
 * It is also an entry of .preinit_array, so a start file that calls __libc_init_array() needs no call. A second call does
 * nothing. Wrong numbers stop the system here, with a line that says which would be right.
 */
void kasan_freertos_init(void);

/** kasan_cortexm_fault_entry() - Cortex-M: the handler of HardFault, MemManage, BusFault and UsageFault, for the vector
 *  table. It reports the access and goes on at kasan_freertos_fault_end(). */
void kasan_cortexm_fault_entry(void);

/** kasan_freertos_fault_end() - after the report of a fault. @in_task: the fault was one of a task, and this runs as that
 *  task, which cannot go on: restart the system, or delete the task, unless the fault may have been inside of FreeRTOS, whose
 *  lists are half changed then. Else it runs in the handler. Must not return. Default: a line and an endless loop. */
void kasan_freertos_fault_end(bool in_task);

/** kasan_freertos_panic() - the system cannot go on. Default: an endless loop. @why: one line, printed already. */
void kasan_freertos_panic(const char *why);

/* --- tasks.c calls, by the macros below --- */

/** struct kasan_freertos_tcb - where a task has what reports need: offsets in bytes from its start */
struct kasan_freertos_tcb {
	uint16_t name, stack, stack_end, number;
};

void kasan_freertos_created(const void *task, const struct kasan_freertos_tcb *layout);
void kasan_freertos_deleted(const void *task);
void kasan_freertos_starting(void);
void kasan_freertos_switched_out(const void *task);
void kasan_freertos_switched_in(const void *task);

#ifdef __cplusplus
}
#endif

/*
 * An application with trace macros of its own (a trace recorder) calls these five from them, and defines
 * KASAN_FREERTOS_OWN_TRACE before it includes this header.
 */
#define KASAN_FREERTOS_TASK_CREATE(tcb)                                    \
	do {                                                               \
		static const struct kasan_freertos_tcb kasan_layout = {    \
			(uint16_t)__builtin_offsetof(TCB_t, pcTaskName),   \
			(uint16_t)__builtin_offsetof(TCB_t, pxStack),      \
			(uint16_t)__builtin_offsetof(TCB_t, pxEndOfStack), \
			(uint16_t)__builtin_offsetof(TCB_t, uxTCBNumber),  \
		};                                                         \
		kasan_freertos_created((tcb), &kasan_layout);              \
	} while (0)
#define KASAN_FREERTOS_TASK_SWITCHED_OUT()  kasan_freertos_switched_out(pxCurrentTCB)
#define KASAN_FREERTOS_TASK_SWITCHED_IN()   kasan_freertos_switched_in(pxCurrentTCB)
#define KASAN_FREERTOS_STARTING_SCHEDULER() kasan_freertos_starting()
#define KASAN_FREERTOS_TASK_END(tcb)	    kasan_freertos_deleted(tcb)

#ifndef KASAN_FREERTOS_OWN_TRACE
#if defined(traceTASK_CREATE) || defined(traceTASK_SWITCHED_OUT) ||           \
	defined(traceTASK_SWITCHED_IN) || defined(traceSTARTING_SCHEDULER) || \
	defined(portCLEAN_UP_TCB)
#error "KASAN: traceTASK_CREATE, traceTASK_SWITCHED_OUT, traceTASK_SWITCHED_IN, traceSTARTING_SCHEDULER or portCLEAN_UP_TCB is defined already: call KASAN_FREERTOS_TASK_CREATE() and the others from yours, and define KASAN_FREERTOS_OWN_TRACE"
#endif
#define traceTASK_CREATE(tcb)	       KASAN_FREERTOS_TASK_CREATE(tcb)
#define traceTASK_SWITCHED_OUT()       KASAN_FREERTOS_TASK_SWITCHED_OUT()
#define traceTASK_SWITCHED_IN()	       KASAN_FREERTOS_TASK_SWITCHED_IN()
#define traceSTARTING_SCHEDULER(tasks) KASAN_FREERTOS_STARTING_SCHEDULER()
/* Called for each task that dies, when nobody uses its stack any more. */
#define portCLEAN_UP_TCB(tcb) KASAN_FREERTOS_TASK_END(tcb)
#endif

#endif /* __ASSEMBLER__ */
#endif /* CONFIG_KASAN_GENERIC */
#endif /* KASAN_FREERTOS_H */

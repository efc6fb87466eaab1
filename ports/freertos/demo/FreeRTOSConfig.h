/* SPDX-License-Identifier: MIT */
/* FreeRTOSConfig.h - the demonstration's: an ordinary configuration, with one line for KASAN at its end. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#ifndef __ASSEMBLER__
/** demo_assert() - board.c: print the place and end. */
void demo_assert(const char *file, int line);
#define configASSERT(x)                                  \
	do {                                             \
		if (!(x))                                \
			demo_assert(__FILE__, __LINE__); \
	} while (0)
#endif

#ifdef __arm__
#define configCPU_CLOCK_HZ		     25000000UL
#define configKERNEL_INTERRUPT_PRIORITY	     255
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 0x20
/* Cortex-M33: FreeRTOS and all tasks run in the secure state, in which the CPU starts. */
#define configENABLE_TRUSTZONE	       0
#define configRUN_FREERTOS_SECURE_ONLY 1
#define configENABLE_FPU	       0
#define configENABLE_MPU	       0
/* FreeRTOS's names of its handlers, as CMSIS's vector tables have them. */
#if !defined(__ARM_ARCH_8M_MAIN__)
#define vPortSVCHandler	    SVC_Handler
#define xPortPendSVHandler  PendSV_Handler
#define xPortSysTickHandler SysTick_Handler
#endif
#else
#define configCPU_CLOCK_HZ	    10000000UL
#define configMTIME_BASE_ADDRESS    0x0200bff8UL
#define configMTIMECMP_BASE_ADDRESS 0x02004000UL
#define configISR_STACK_SIZE_WORDS  512
#endif

#define configTICK_RATE_HZ			1000
#define configUSE_PREEMPTION			1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0
#define configMAX_PRIORITIES			8
#define configMINIMAL_STACK_SIZE		512
#define configMAX_TASK_NAME_LEN			12
#define configTICK_TYPE_WIDTH_IN_BITS		TICK_TYPE_WIDTH_32_BITS
#define configSTACK_DEPTH_TYPE			uint32_t
#define configIDLE_SHOULD_YIELD			1
#define configUSE_IDLE_HOOK			0
#define configUSE_TICK_HOOK			0
#define configUSE_MUTEXES			1
#define configUSE_RECURSIVE_MUTEXES		1
#define configUSE_COUNTING_SEMAPHORES		1
#define configUSE_TASK_NOTIFICATIONS		1
#define configUSE_TIMERS			1
#define configTIMER_TASK_PRIORITY		5
#define configTIMER_QUEUE_LENGTH		8
#define configTIMER_TASK_STACK_DEPTH		768
#define configUSE_STREAM_BUFFERS		1
#define configUSE_EVENT_GROUPS			1
#define configCHECK_FOR_STACK_OVERFLOW		0

/* heap_1 and heap_2 never join what was freed. */
#define configTOTAL_HEAP_SIZE		    (256 * 1024)
#define configSUPPORT_DYNAMIC_ALLOCATION    1
#define configSUPPORT_STATIC_ALLOCATION	    1
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configUSE_MALLOC_FAILED_HOOK	    1
#define configHEAP_CLEAR_MEMORY_ON_FREE	    1

#define INCLUDE_vTaskDelete		  1
#define INCLUDE_vTaskDelay		  1
#define INCLUDE_vTaskSuspend		  1
#define INCLUDE_vTaskPrioritySet	  1
#define INCLUDE_uxTaskPriorityGet	  1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#define INCLUDE_xTaskGetSchedulerState	  1
#define INCLUDE_eTaskGetState		  1
#define INCLUDE_xTaskDelayUntil		  1

#include "kasan_freertos.h"

#endif /* FREERTOS_CONFIG_H */

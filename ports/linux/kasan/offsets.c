// SPDX-License-Identifier: MIT
/* offsets.c - numbers of Linux for redzone/inline.h, which the runtime includes and Linux's headers not: redzone_offsets.h. */
#include <linux/kbuild.h>
#include <linux/sched.h>
#include <linux/scs.h>
#include <linux/thread_info.h>
#include <linux/version.h>

void redzone_offsets(void);

void redzone_offsets(void)
{
	DEFINE(REDZONE_TASK_PID, offsetof(struct task_struct, pid));
#if defined(CONFIG_X86_64) && LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
	DEFINE(REDZONE_CPU_TASK, offsetof(struct pcpu_hot, current_task));
	DEFINE(REDZONE_CPU_NUMBER, offsetof(struct pcpu_hot, cpu_number));
#elif defined(CONFIG_ARM64) || defined(CONFIG_RISCV)
	DEFINE(REDZONE_TASK_CPU, offsetof(struct task_struct, thread_info.cpu));
#endif
	DEFINE(REDZONE_TASK_STACK, offsetof(struct task_struct, stack));
	DEFINE(REDZONE_STACK_SIZE, THREAD_SIZE);
#if defined(CONFIG_ARM64) && defined(CONFIG_SHADOW_CALL_STACK)
	DEFINE(REDZONE_TASK_SCS, offsetof(struct task_struct, thread_info.scs_base));
	DEFINE(REDZONE_SCS_SIZE, SCS_SIZE);
#endif
}

/* SPDX-License-Identifier: MIT */
/* checked.c - an access that a check has reported may still be made, and fault: it must not be reported twice. */
#include "captured.h"

/**
 * struct checked - each CPU's last report, if it was one of a check of an access without shadow. The access is made
 * after the report and may fault, by then perhaps on another CPU
 * @addr: of the access, plus 1; 0: the last report was another one. @task: its number.
 */
static struct checked {
	uintptr_t addr;
	uint32_t task;
} checked[CONFIG_KASAN_NR_CPUS];

void kasan_remember_check(const struct kasan_report *report)
{
	struct checked *const mine = &checked[kasan_port_cpu()];
	const bool open = !report->is_fault && !report->has_shadow && !KASAN_IS_UNDEFINED(report);

	/* Another CPU may look for its own fault meanwhile, and must not see one report's address with another's
	 * task. */
	__atomic_store_n(&mine->addr, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&mine->task, report->task.id, __ATOMIC_RELEASE);
	__atomic_store_n(&mine->addr, open ? report->pointer + 1 : 0, __ATOMIC_RELEASE);
}

bool kasan_was_checked(uintptr_t addr)
{
	const unsigned long irq = kasan_port_irq_save();
	struct kasan_port_task task;
	uintptr_t wanted = addr + 1;
	bool found = false;
	unsigned int i;

	kasan_clear(&task);
	kasan_port_task(&task);
	for (i = 0; i < CONFIG_KASAN_NR_CPUS && wanted && !found; i++, wanted = addr + 1)
		found = __atomic_load_n(&checked[i].addr, __ATOMIC_ACQUIRE) == wanted &&
			__atomic_load_n(&checked[i].task, __ATOMIC_ACQUIRE) == task.id &&
			__atomic_compare_exchange_n(&checked[i].addr, &wanted, 0, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	kasan_port_irq_restore(irq);
	return found;
}

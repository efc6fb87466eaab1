// SPDX-License-Identifier: MIT
/*
 * module_lock.c - a module with locks, for lockdep_memory_test.c: classes that come and go with it. Embedded into the
 * test kernel.
 */
#include "module_lock.h"

DEFINE_RAW_SPINLOCK(module_static_lock);
static DEFINE_RAW_SPINLOCK(module_other_lock);

void module_lock_init(raw_spinlock_t *lock)
{
	raw_spin_lock_init(lock);
}

void module_lock_both(raw_spinlock_t *outside, bool outside_first)
{
	raw_spinlock_t *first = outside_first ? outside : &module_static_lock;
	raw_spinlock_t *second = outside_first ? &module_static_lock : outside;

	raw_spin_lock(first);
	raw_spin_lock(second);
	raw_spin_unlock(second);
	raw_spin_unlock(first);
}

void module_lock_all(void)
{
	raw_spin_lock(&module_static_lock);
	raw_spin_lock(&module_other_lock);
	raw_spin_unlock(&module_other_lock);
	raw_spin_unlock(&module_static_lock);
}

MODULE_LICENSE("MIT");

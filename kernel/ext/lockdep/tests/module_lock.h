/* SPDX-License-Identifier: MIT */
/* module_lock.h - between the test kernel and module_lock.c. */
#ifndef TESTS_MODULE_LOCK_H
#define TESTS_MODULE_LOCK_H

#include <kernel/module.h>
#include <kernel/spinlock.h>

extern raw_spinlock_t module_static_lock;

/** module_lock_init() - make @lock a lock whose key is the module's. */
void module_lock_init(raw_spinlock_t *lock);

/** module_lock_both() - take @outside and the module's lock, in this order or the other one. */
void module_lock_both(raw_spinlock_t *outside, bool outside_first);

/** module_lock_all() - take the module's two locks, one inside of the other. */
void module_lock_all(void);

/* The file, in the test kernel's constants. */
extern const char module_lock_start[], module_lock_end[];

#endif

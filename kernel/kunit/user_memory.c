// SPDX-License-Identifier: MIT
/* user_memory.c - user memory for cases that copy from or to it. */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/user_mm.h>

#include "kunit.h"

int kunit_attach_mm(void)
{
	struct mm_struct *mm;

	if (current->mm)
		return 0;
	mm = mm_alloc();
	if (IS_ERR(mm))
		return (int)PTR_ERR(mm);
	kthread_use_mm(mm);
	mmput(mm);
	return 0;
}

unsigned long kunit_vm_mmap(struct kunit *test, void *file, unsigned long addr, size_t size,
			    unsigned long prot, unsigned long flags, unsigned long offset)
{
	unsigned long at;

	/* Nothing has to be undone: each case has a thread of its own, and the last user of an address space
	 * takes the pages with it. */
	if (kunit_attach_mm())
		return 0;
	at = vm_mmap(file, addr, size, prot, flags, offset);
	return IS_ERR((void *)at) ? 0 : at;
}

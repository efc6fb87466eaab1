# SPDX-License-Identifier: MIT
"""`./redzone run --preempt-rt`: wrong use of a real-time kernel's locks is reported, correct use is not."""

import re

import pytest
from redzone.testing.needs import first

# A kernel of its own.
pytestmark = pytest.mark.rest

MODULE = """\
#include <kernel/completion.h>
#include <kernel/module.h>
#include <kernel/mutex.h>
#include <kernel/preempt.h>
#include <kernel/rtmutex.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>

static DEFINE_SPINLOCK(lock_a);
static DEFINE_SPINLOCK(lock_b);
static DEFINE_MUTEX(mutex);
static DEFINE_RT_MUTEX(first);
static DEFINE_RT_MUTEX(second);
static DECLARE_COMPLETION(both);

static __attribute__((unused)) int other(void *arg)
{
	rt_mutex_lock(&second);
	complete(&both);
	rt_mutex_lock(&first);
	rt_mutex_unlock(&first);
	rt_mutex_unlock(&second);
	return 0;
}

static int locks_init(void)
{
#if defined(SLEEP)
	spin_lock(&lock_a);
	might_sleep();
	spin_unlock(&lock_a);
#elif defined(ATOMIC)
	preempt_disable();
	spin_lock(&lock_a);
	spin_unlock(&lock_a);
	preempt_enable();
#elif defined(SPIN_TWICE)
	spin_lock(&lock_a);
	spin_lock(&lock_a);
#elif defined(MUTEX_TWICE)
	mutex_lock(&mutex);
	mutex_lock(&mutex);
#elif defined(NOT_THE_OWNER)
	mutex_unlock(&mutex);
#elif defined(CIRCLE)
	struct task *task = kthread_create(other, 0, "other");

	rt_mutex_lock(&first);
	wake_up_process(task);
	wait_for_completion(&both);
	while (READ_ONCE(task->state) != TASK_UNINTERRUPTIBLE)
		msleep(10);
	rt_mutex_lock(&second);
#endif
	spin_lock(&lock_a);
	spin_lock(&lock_b);
	spin_unlock(&lock_b);
	spin_unlock(&lock_a);
	mutex_lock(&mutex);
	spin_lock_irq(&lock_a);
	spin_unlock_irq(&lock_a);
	mutex_unlock(&mutex);
	pr_info("locks: all right\\n");
	return 0;
}

static void locks_exit(void)
{
}

module_init(locks_init);
module_exit(locks_exit);
MODULE_LICENSE("MIT");
"""

BUGS = {
    "SLEEP": r"BUG: sleeping function called from invalid context at .*locks\.c:\d+",
    "ATOMIC": r"BUG: sleeping function called from invalid context",
    "SPIN_TWICE": r"\] Kernel panic - not syncing: spinlock recursion, ",
    "MUTEX_TWICE": r"\] Kernel panic - not syncing: mutex recursion, ",
    "NOT_THE_OWNER": r"mutex_unlock\(\) by .*, not the owner",
    "CIRCLE": r"BUG: deadlock: .* waits for ever for lock 0x\w+, owner other/\d+",
}


def run(redzone, tmp_path, *options):
    (tmp_path / "locks.c").write_text(MODULE)
    return redzone("run", "--preempt-rt", "--timeout", 10, "--module", "locks.c", *options)


def test_correct_use(redzone, tmp_path):
    result = run(redzone, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "locks: all right" in result.stdout
    assert "BUG" not in result.stdout and "WARNING" not in result.stdout


@first(2, "bug", BUGS)
def test_misuse(redzone, tmp_path, bug):
    result = run(redzone, tmp_path, "-D", bug)
    assert len(re.findall(BUGS[bug], result.stdout)) == 1, result.stdout + result.stderr
    # The others end the kernel, or this task waits for ever.
    assert ("locks: all right" in result.stdout) == (bug in ("SLEEP", "ATOMIC", "NOT_THE_OWNER"))

// SPDX-License-Identifier: MIT
/*
 * bugs.c - a module that has a bug every second, for tests: a report must follow each line `redzone-bug: KIND`.
 *
 * All modes find them: they are at least a granule away from what the pointer may touch.
 */
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>

static noinline void read_at(char *object, size_t at)
{
	OPTIMIZER_HIDE_VAR(object);
	(void)READ_ONCE(object[at]);
}

static noinline void write_at(char *object, size_t at)
{
	OPTIMIZER_HIDE_VAR(object);
	WRITE_ONCE(object[at], 0);
}

static void read_after_free(char *object)
{
	kfree(object);
	read_at(object, 5);
}

static void write_after_free(char *object)
{
	kfree(object);
	write_at(object, 20);
}

static void read_past_the_end(char *object)
{
	read_at(object, 64);
	kfree(object);
}

static void double_free(char *object)
{
	kfree(object);
	OPTIMIZER_HIDE_VAR(object);
	kfree(object);
}

static const struct {
	const char *name;
	void (*plant)(char *object);
} bugs[] = {
	{"read-after-free", read_after_free},
	{"write-after-free", write_after_free},
	{"read-past-the-end", read_past_the_end},
	{"double-free", double_free},
};

static int plant_bugs(void *unused)
{
	unsigned int i;
	char *object;

	for (i = 0; !kthread_should_stop(); i = (i + 1) % ARRAY_SIZE(bugs)) {
		object = kmalloc(64, GFP_KERNEL | __GFP_NOFAIL);
		pr_info("redzone-bug: %s\n", bugs[i].name);
		bugs[i].plant(object);
		ssleep(1);
	}
	return 0;
}

static int __init start_bugs(void)
{
	return PTR_ERR_OR_ZERO(kthread_run(plant_bugs, NULL, "bugs"));
}
module_init(start_bugs);

MODULE_DESCRIPTION("Has a bug every second");
MODULE_LICENSE("Dual MIT/GPL");

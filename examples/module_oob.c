// SPDX-License-Identifier: MIT
/*
 * module_oob.c - a loadable kernel module with two bugs, for `./redzone run --module`.
 *
 * The kernel loads it from its initrd, runs module_oob_init() and, at the end, module_oob_exit().
 * Variables of a module have redzones as those of the kernel have, so both overflows are reported.
 */
#include <kernel/module.h>
#include <kernel/printk.h>
#include <kernel/slab.h>

#define NR_SLOTS 10

static int slots[NR_SLOTS];
static char *name;

/* Off by one: the last round writes past the array. */
static noinline void fill_slots(int count)
{
	for (int i = 0; i <= count; i++)
		slots[i] = i * i;
}

static noinline void fill_name(size_t size)
{
	for (size_t i = 0; i <= size; i++)
		name[i] = 'x';
}

static int module_oob_init(void)
{
	pr_info("module_oob: here I am\n");
	fill_slots(NR_SLOTS);
	name = kmalloc(13, GFP_KERNEL);
	if (!name)
		return -ENOMEM;
	fill_name(13);
	return 0;
}

static void module_oob_exit(void)
{
	pr_info("module_oob: gone, the last square was %d\n", slots[NR_SLOTS - 1]);
	kfree(name);
}

module_init(module_oob_init);
module_exit(module_oob_exit);
MODULE_LICENSE("MIT");
MODULE_DESCRIPTION("a global and a heap overflow");

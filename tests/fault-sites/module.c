// SPDX-License-Identifier: MIT
/* module.c - a module that only prints that it is loaded. */
#include <kernel/module.h>
#include <kernel/printk.h>

static int hello_init(void)
{
	pr_info("hello\n");
	return 0;
}

module_init(hello_init);
MODULE_LICENSE("MIT");

// SPDX-License-Identifier: MIT
/*
 * depot.c - Linux's own stack depot, which the runtime does not use.
 *
 * For KASAN Linux gives it the largest table that it can have, 16 MiB, at the start of the boot. Here it gets a table later, of
 * the size that it has in a kernel without KASAN. If the command line or the configuration wants it at the start, nothing
 * changes.
 *
 * The depot has no function for this, but it has a boot parameter.
 */
#include <linux/array_size.h>
#include <linux/init.h>
#include <linux/kasan.h>
#include <linux/stackdepot.h>
#include <linux/string.h>

#include <asm/setup.h>

#include "internal.h"

static bool is_later __initdata;

static bool __init is_wanted_now(void)
{
	/* Linux may read more parameters from a file that comes later. */
	static const char *const parameters[] __initconst = {
		"stack_depot_disable", "page_owner", "kmemleak",
		"slab_debug",	       "slub_debug", "bootconfig"};
	unsigned int i;

	if (IS_ENABLED(CONFIG_SLUB_DEBUG_ON) || IS_ENABLED(CONFIG_BOOT_CONFIG_FORCE) ||
	    (IS_ENABLED(CONFIG_DEBUG_KMEMLEAK) && !IS_ENABLED(CONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF)))
		return true;
	for (i = 0; i < ARRAY_SIZE(parameters); i++) {
		if (strstr(boot_command_line, parameters[i]))
			return true;
	}
	return false;
}

void __init kasan_delay_depot(void)
{
	static char off[] __initdata = "stack_depot_disable=on";

	if (is_later || is_wanted_now())
		return;
	is_later = true;
	parse_early_options(off);
}

static int __init make_depot(void)
{
	static char on[] __initdata = "stack_depot_disable=off";

	if (!is_later)
		return 0;
	parse_early_options(on);
	return stack_depot_init();
}
early_initcall(make_depot);

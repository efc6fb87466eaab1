// SPDX-License-Identifier: MIT
/*
 * start.c - starts the runtime with the boot parameters, and tells it of modules that go.
 *
 * The architecture's kasan_init() maps the shadow, and calls no function of this folder afterwards. The first one that
 * Linux calls then is kasan_cache_create(), for its first slab cache: before it nothing can be freed or overrun that KASAN
 * looks after.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include <asm/setup.h>

#include "redzone.h"

#include "arch.h"
#include "internal.h"

static int __init take_parameter(char *name, char *value, const char *unused, void *arg)
{
	if (strcmp(name, "kasan") && strcmp(name, "kasan_multi_shot") && strncmp(name, "kasan.", 6))
		return 0;
	switch (redzone_option(name, value)) {
	case KASAN_OPTION_UNKNOWN:
		pr_warn("kasan: %s: there is no such boot parameter\n", name);
		break;
	case KASAN_OPTION_INVALID:
		pr_warn("kasan: %s=%s is not accepted; accepted: %s\n", name, value ?: "",
			redzone_option_values(name));
		break;
	default:
		break;
	}
	return 0;
}

#ifdef CONFIG_KASAN_SHADOW_DYNAMIC
bool redzone_placed;

void redzone_place(void)
{
	unsigned long low, high;
	const char *wrong;

	if (redzone_placed || !kasan_arch_shadow(&low, &high))
		return;
	wrong = redzone_shadow_place(CONFIG_KASAN_SHADOW_OFFSET, low, high);
	if (wrong)
		panic("kasan: %s", wrong);
	redzone_placed = true;
}
#endif

void __init redzone_start(void)
{
	static char parameters[COMMAND_LINE_SIZE] __initdata;

#ifdef CONFIG_KASAN_SHADOW_DYNAMIC
	redzone_place();
#endif
#ifndef CONFIG_KASAN_GENERIC
	kasan_delay_depot();
#endif
	/* The parser writes into what it reads. */
	strscpy(parameters, boot_command_line, sizeof(parameters));
	/* As Linux does it: every report is whole, unless kasan.repeat=brief asks for less. */
	redzone_option("kasan.repeat", "full");
	parse_args("kasan", parameters, NULL, 0, 0, 0, NULL, take_parameter);
	redzone_init(totalram_pages() << PAGE_SHIFT);
	pr_info("kasan: Redzone %s\n", REDZONE_VERSION);
}

#if KASAN_LINUX_7 && defined(CONFIG_KASAN_GENERIC)
/* Linux 7 calls it when the shadow is mapped. All is on already where the architecture does not wait for this call. */
void __init kasan_init_generic(void)
{
	kasan_enable();
}
#endif

/* Otherwise Linux says that it knows no such parameter, and hands it to init. Those with a dot pass for a module's. */
static int __init know_multi_shot(char *value)
{
	return 1;
}
__setup("kasan_multi_shot", know_multi_shot);

static int __init know_kasan(char *value)
{
	return 1;
}
__setup("kasan=", know_kasan);

#if defined(CONFIG_MODULES) && defined(CONFIG_KASAN_GENERIC)
/* Linux calls no destructors of a module. */
static int module_goes(struct notifier_block *block, unsigned long state, void *data)
{
	const struct module *mod = data;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	for_each_mod_mem_type(type)
	{
		if (mod->mem[type].size)
			redzone_unload_globals(mod->mem[type].base, mod->mem[type].size);
	}
	return NOTIFY_OK;
}

static struct notifier_block module_block = {
	.notifier_call = module_goes,
	/* After all others: they may still look at the module's variables. */
	.priority = INT_MIN,
};

static int __init watch_modules(void)
{
	return register_module_notifier(&module_block);
}
core_initcall(watch_modules);
#endif

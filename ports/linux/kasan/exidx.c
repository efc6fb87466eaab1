// SPDX-License-Identifier: MIT
/* exidx.c - the exception index tables of 32-bit arm, that of Linux and those of modules, by which the runtime unwinds stacks. */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include <asm/unwind.h>

#include "redzone.h"

/* From the linker script. */
extern const struct unwind_idx __start_unwind_idx[], __stop_unwind_idx[];

static bool find_in_module(unsigned long pc, const void **start, const void **end)
{
	bool found = false;
#ifdef CONFIG_MODULES
	const struct unwind_table *table;
	const struct module *module;
	unsigned long flags;

	/* While interrupts are off, the module stays. */
	raw_local_irq_save(flags);
	module = __module_text_address(pc);
	if (module && module->state != MODULE_STATE_UNFORMED) {
		list_for_each_entry (table, &module->arch.unwind_list, mod_list) {
			if (pc < table->begin_addr || pc >= table->end_addr)
				continue;
			*start = table->start;
			*end = table->stop;
			found = true;
			break;
		}
	}
	raw_local_irq_restore(flags);
#endif
	return found;
}

bool kasan_port_exidx(uintptr_t pc, const void **start, const void **end)
{
	if (!core_kernel_text(pc))
		return find_in_module(pc, start, end);
	*start = __start_unwind_idx;
	*end = __stop_unwind_idx;
	return true;
}

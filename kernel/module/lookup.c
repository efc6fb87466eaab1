// SPDX-License-Identifier: MIT
/*
 * lookup.c - finds the names of addresses in modules, for traces and reports.
 *
 * It is not instrumented and takes no locks, because a report may come from inside the loader, on a CPU
 * that holds any lock. Readers of the list of modules are counted, and the memory of a module that was taken
 * off the list is freed after they have left. There are two counters, so that later readers do not matter.
 */
#include <kernel/module.h>
#include <kernel/printk.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <asm/memory.h>

#include "internal.h"

/* Longer than any lookup takes, even one that is preempted. */
#define READERS_TIMEOUT_MS 1000

static unsigned int readers[2];
/* The lowest bit says which counter new readers take. */
static unsigned int phase;

/* Return: the argument for read_end(). */
static unsigned int read_begin(void)
{
	unsigned int i = __atomic_load_n(&phase, __ATOMIC_SEQ_CST) & 1;

	__atomic_fetch_add(&readers[i], 1, __ATOMIC_SEQ_CST);
	return i;
}

static void read_end(unsigned int i)
{
	__atomic_fetch_sub(&readers[i], 1, __ATOMIC_RELEASE);
}

bool module_wait_for_readers(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/*
	 * Twice, because a reader may be late to count itself after its look at the phase: it then counts
	 * in the counter that new readers no longer take.
	 */
	for (int round = 0; round < 2; round++) {
		unsigned int old = __atomic_fetch_add(&phase, 1, __ATOMIC_SEQ_CST) & 1;

		for (int ms = 0; __atomic_load_n(&readers[old], __ATOMIC_SEQ_CST); ms++) {
			if (ms == READERS_TIMEOUT_MS)
				return false;
			msleep(1);
		}
	}
	return true;
}

static bool in_module_space(unsigned long addr)
{
	return addr >= MODULES_VADDR && addr < MODULES_END;
}

/* Find the module and the part that @addr belongs to. For use between read_begin() and read_end(). */
static const struct module *find(unsigned long addr, enum module_part_type *part)
{
	const struct list_head *at;

	for (at = READ_ONCE(modules.next); at != &modules; at = READ_ONCE(at->next)) {
		const struct module *m = container_of(at, struct module, list);

		for (unsigned int i = 0; i < MODULE_PARTS; i++) {
			if (addr - m->parts[i].start < m->parts[i].size) {
				*part = (enum module_part_type)i;
				return m;
			}
		}
	}
	return NULL;
}

/* Find the function that contains @pc: the last one that starts at or before it. @end: set to its end. */
static const struct module_symbol *find_function(const struct module *m, unsigned long pc,
						 unsigned long *end)
{
	const struct module_symtab *table = smp_load_acquire(&m->symtab);
	const struct module_symbol *found = NULL;

	*end = m->parts[MODULE_TEXT].start + m->parts[MODULE_TEXT].size;
	if (!table)
		return NULL;
	for (size_t i = 0; i < table->nr; i++) {
		const struct module_symbol *symbol = &table->symbols[i];

		if (!symbol->code)
			continue;
		if (symbol->address > pc) {
			*end = symbol->address;
			break;
		}
		/* If one address has several names, the first is the best. */
		if (!found || symbol->address != found->address)
			found = symbol;
	}
	return found;
}

static void copy_text(char *to, const char *from, size_t size)
{
	size_t i = 0;

	for (; from[i] && i + 1 < size; i++)
		to[i] = from[i];
	to[i] = '\0';
}

bool module_lookup(unsigned long addr, struct module_place *place)
{
	const struct module_symbol *symbol = NULL;
	enum module_part_type part = MODULE_TEXT;
	const struct module *m;
	unsigned long end = 0;
	unsigned int reader;

	if (!in_module_space(addr))
		return false;
	reader = read_begin();
	m = find(addr, &part);
	if (m) {
		copy_text(place->module, m->name, sizeof(place->module));
		place->part = part;
		place->unloaded = READ_ONCE(m->state) == MODULE_STATE_UNLOADED;
		place->start = m->parts[part].start;
		place->size = m->parts[part].size;
		place->name[0] = '\0';
		if (part == MODULE_TEXT)
			symbol = find_function(m, addr, &end);
		if (symbol) {
			copy_text(place->name, m->symtab->names + symbol->name,
				  sizeof(place->name));
			place->start = symbol->address;
			place->size = end - symbol->address;
		}
	}
	read_end(reader);
	return m != NULL;
}

bool module_variable(unsigned long addr, char *buf, size_t size)
{
	enum module_part_type part = MODULE_TEXT;
	const struct module_symtab *table;
	const struct module *m;
	unsigned int reader;
	bool found = false;

	if (!in_module_space(addr))
		return false;
	reader = read_begin();
	m = find(addr, &part);
	table = m ? smp_load_acquire(&m->symtab) : NULL;
	for (size_t i = 0; table && !found && i < table->nr; i++) {
		found = !table->symbols[i].code &&
			kasan_untag_addr(table->symbols[i].address) == addr;
		if (found)
			copy_text(buf, table->names + table->symbols[i].name, size);
	}
	read_end(reader);
	return found;
}

#ifdef CONFIG_KASAN_PERCPU
const struct percpu_var *module_percpu(unsigned long addr, size_t *nr)
{
	enum module_part_type part = MODULE_TEXT;
	const struct percpu_var *vars = NULL;
	const struct module *m;
	unsigned int reader;

	if (!in_module_space(addr))
		return NULL;
	reader = read_begin();
	m = find(addr, &part);
	if (m && READ_ONCE(m->state) != MODULE_STATE_UNLOADED) {
		vars = m->percpu;
		*nr = m->nr_percpu;
	}
	read_end(reader);
	return vars;
}
#endif

bool is_module_text(unsigned long pc)
{
	enum module_part_type part = MODULE_DATA;
	const struct module *m;
	unsigned int reader;
	bool live;

	if (!in_module_space(pc))
		return false;
	reader = read_begin();
	m = find(pc, &part);
	live = m && part == MODULE_TEXT && READ_ONCE(m->state) != MODULE_STATE_UNLOADED;
	read_end(reader);
	return live;
}

unsigned long module_text_start(unsigned long pc)
{
	const struct module_symbol *symbol = NULL;
	enum module_part_type part = MODULE_DATA;
	unsigned long start = 0, end;
	const struct module *m;
	unsigned int reader;

	if (!in_module_space(pc))
		return 0;
	reader = read_begin();
	m = find(pc, &part);
	if (m && part == MODULE_TEXT && READ_ONCE(m->state) != MODULE_STATE_UNLOADED)
		symbol = find_function(m, pc, &end);
	if (symbol)
		start = symbol->address;
	read_end(reader);
	return start;
}

void print_modules(void)
{
	const struct list_head *at;
	char line[200];
	size_t n = 0;
	unsigned int reader;

	reader = read_begin();
	for (at = READ_ONCE(modules.next); at != &modules; at = READ_ONCE(at->next)) {
		const struct module *m = container_of(at, struct module, list);

		if (READ_ONCE(m->state) == MODULE_STATE_UNLOADED ||
		    n + 2 + sizeof(m->name) > sizeof(line))
			continue;
		line[n++] = ' ';
		copy_text(line + n, m->name, sizeof(m->name));
		while (line[n])
			n++;
	}
	read_end(reader);
	if (n)
		printk("Modules linked in:%s\n", line);
}

// SPDX-License-Identifier: MIT
/*
 * list.c - the list of modules: finding one, or something in it, and references.
 */
#include <kernel/mm.h>
#include <kernel/mutex.h>
#include <kernel/string.h>

#include "internal.h"

LIST_HEAD(modules);
DEFINE_MUTEX(module_mutex);

/* --- Finding ------------------------------------------------------------------------------------- */

struct module *module_find_locked(const char *name)
{
	struct module *m;

	list_for_each_entry (m, &modules, list) {
		if (m->state != MODULE_STATE_UNLOADED && strcmp(m->name, name) == 0)
			return m;
	}
	return NULL;
}

struct module *find_module(const char *name)
{
	struct module *m;

	mutex_lock(&module_mutex);
	m = module_find_locked(name);
	mutex_unlock(&module_mutex);
	return m;
}

static const struct module_symbol *find_symbol(const struct module *module, const char *name,
					       bool global_only)
{
	const struct module_symtab *table = module->symtab;

	for (size_t i = 0; table && i < table->nr; i++) {
		if ((table->symbols[i].global || !global_only) &&
		    strcmp(table->names + table->symbols[i].name, name) == 0)
			return &table->symbols[i];
	}
	return NULL;
}

unsigned long module_address(const struct module *module, const char *symbol)
{
	const struct module_symbol *found = find_symbol(module, symbol, false);

	return found ? found->address : 0;
}

unsigned long module_find_symbol(const char *name, struct module **owner)
{
	struct module *m;

	list_for_each_entry (m, &modules, list) {
		const struct module_symbol *found;

		if (m->state != MODULE_STATE_LIVE)
			continue;
		found = find_symbol(m, name, true);
		if (found) {
			*owner = m;
			return found->address;
		}
	}
	return 0;
}

const char *module_info(const struct module *module, const char *tag)
{
	const char *at = module->modinfo, *end = at + module->modinfo_size;
	size_t length = strlen(tag);

	while (at < end) {
		size_t left = (size_t)(end - at), n = strnlen(at, left);

		if (n == left)
			break;
		if (n > length && at[length] == '=' && strncmp(at, tag, length) == 0)
			return at + length + 1;
		at += n + 1;
	}
	return NULL;
}

/* --- References ---------------------------------------------------------------------------------- */

bool try_module_get(struct module *module)
{
	int refs;

	if (!module)
		return true;
	refs = atomic_read(&module->refcnt);
	while (refs >= 0) {
		if (atomic_try_cmpxchg(&module->refcnt, &refs, refs + 1))
			return true;
	}
	return false;
}

void module_put(struct module *module)
{
	if (module)
		WARN(atomic_dec_return(&module->refcnt) < 0,
		     "module %s: more references given up than taken\n", module->name);
}

/* --- Errors -------------------------------------------------------------------------------------- */

int module_fail(struct load_info *info, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(info->error->text, sizeof(info->error->text), fmt, args);
	va_end(args);
	return err;
}

// SPDX-License-Identifier: MIT
/*
 * modules.c - traffic in modules: the same file is loaded under several names, near the kernel and far
 * away, used, and unloaded. Damaged copies of it are refused.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/module.h>
#include <kernel/string.h>

#include "soak.h"

#define LOADED 3U

struct loaded {
	struct module *module;
	u32 sum, value;
};

struct modules {
	struct loaded slot[LOADED];
};

static size_t file_size(void)
{
	return (size_t)(soak_module_end - soak_module_start);
}

static bool modules_setup(struct soak_worker *w)
{
	w->private = kzalloc(sizeof(struct modules), GFP_KERNEL);
	return w->private;
}

static void get_module(struct soak_worker *w, struct loaded *l, unsigned int i)
{
	unsigned int flags = soak_below(w, 3) ? 0 : MODULE_LOAD_FAR;
	char name[MODULE_NAME_LEN];
	struct module_error error;
	int err;

	snprintf(name, sizeof(name), "soak_%u_%u", w->nth, i);
	err = load_module(name, soak_module_start, file_size(), flags, &l->module, &error);
	l->sum = 0;
	if (err == -ENOMEM)
		soak_no_memory();
	else if (err)
		soak_fail("load_module(%s): %d, %s", name, err, error.text);
}

static void put_module(struct loaded *l)
{
	char name[MODULE_NAME_LEN];
	int err;

	strscpy(name, l->module->name, sizeof(name));
	err = unload_module(name);
	if (err)
		soak_fail("unload_module(%s): %d", name, err);
	l->module = NULL;
}

static void use_module(struct soak_worker *w, struct loaded *l)
{
	u32 (*step)(u32 value) = (u32(*)(u32))module_address(l->module, "soak_module_step");
	u32 value = 1 + soak_below(w, 1000), sum;

	if (!step) {
		soak_fail("%s has lost its function", l->module->name);
		return;
	}
	sum = step(value);
	if (!sum) {
		soak_no_memory();
		return;
	}
	l->sum += value;
	if (sum != l->sum)
		soak_fail("%s counted %u, not %u", l->module->name, sum, l->sum);
}

/* One byte of a copy is changed. Whatever byte it is, nothing of the module may remain. */
static void damage_module(struct soak_worker *w)
{
	struct module_error error;
	char name[MODULE_NAME_LEN];
	char *copy = vmalloc(file_size());

	if (!copy) {
		soak_no_memory();
		return;
	}
	memcpy(copy, soak_module_start, file_size());
	copy[soak_below(w, (u32)file_size())] ^= (char)(1 + soak_below(w, 255));
	snprintf(name, sizeof(name), "damaged_%u", w->nth);
	if (!load_module(name, copy, file_size(), MODULE_LOAD_NO_RUN, NULL, &error) &&
	    unload_module(name))
		soak_fail("%s cannot be unloaded", name);
	vfree(copy);
}

static void modules_step(struct soak_worker *w)
{
	struct modules *modules = w->private;
	unsigned int i = soak_below(w, LOADED);
	struct loaded *l = &modules->slot[i];

	if (!l->module)
		get_module(w, l, i);
	else if (soak_below(w, 3))
		use_module(w, l);
	else if (soak_below(w, 4))
		put_module(l);
	else
		damage_module(w);
}

static void modules_drain(struct soak_worker *w)
{
	struct modules *modules = w->private;

	for (unsigned int i = 0; i < LOADED; i++) {
		if (modules->slot[i].module)
			put_module(&modules->slot[i]);
	}
}

static void modules_teardown(struct soak_worker *w)
{
	kfree(w->private);
}

bool soak_module_bug(struct soak_worker *w, const char *bug)
{
	char name[MODULE_NAME_LEN];
	struct module_error error;
	struct module *module;
	bool (*fn)(void);
	bool done;
	int err;

	snprintf(name, sizeof(name), "soak_bug_%u", w->nth);
	err = load_module(name, soak_module_start, file_size(), 0, &module, &error);
	if (err) {
		if (err != -ENOMEM)
			soak_fail("load_module(%s): %d, %s", name, err, error.text);
		return false;
	}
	fn = (bool (*)(void))module_address(module, bug);
	done = fn && fn();
	if (!fn)
		soak_fail("%s has no %s", name, bug);
	err = unload_module(name);
	if (err)
		soak_fail("unload_module(%s): %d", name, err);
	return done;
}

const struct soak_kind soak_module_kinds[] = {
	{.name = "modules",
	 .threads = 2,
	 .setup = modules_setup,
	 .step = modules_step,
	 .drain = modules_drain,
	 .teardown = modules_teardown,
	 .pause_ms = 5},
	{},
};

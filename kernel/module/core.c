// SPDX-License-Identifier: MIT
/*
 * core.c - loading and unloading modules.
 *
 * Code of a module (constructors, init, exit) runs without module_mutex: it may fault, and the thread that
 * then ends must not hold the mutex. A module whose init or exit function was killed stays as it is,
 * because pointers into it may be left anywhere.
 *
 * The last few unloaded modules keep their addresses and their symbols (space.c). So stack traces from their time can
 * still be printed, and an access to the memory of an unloaded module is found as a bad access.
 */
#include <kernel/ctype.h>
#include <kernel/mm.h>
#include <kernel/mutex.h>
#include <kernel/percpu.h>
#include <kernel/string.h>

#include "internal.h"

/* --- The end of a module ---------------------------------------------------------------------------- */

void module_purge(void)
{
	mutex_lock(&module_mutex);
	module_forget_unloaded(0);
	mutex_unlock(&module_mutex);
}

/* Free the memory of @module, and give up its references. module_mutex is held. */
static void release_memory(struct module *module)
{
	WRITE_ONCE(module->state, MODULE_STATE_UNLOADED);
	/* While the keys and names of its lock classes can still be read. */
	lockdep_free_key_range((void *)module->base, module->span);
	module_space_free(module);
	for (size_t i = 0; i < module->nr_uses; i++)
		module_put(module->uses[i]);
	kfree(module->uses);
	module->uses = NULL;
	module->nr_uses = 0;
	module->modinfo = NULL;
	module->modinfo_size = 0;
}

static void run_destructors(struct module *module)
{
	for (size_t i = module->nr_dtors; i-- > 0;)
		module->dtors[i]();
}

/* @module is unloaded: the last of its code has run. */
static void retire(struct module *module)
{
	static unsigned long unloadings;

	mutex_lock(&module_mutex);
	module->unloaded_at = ++unloadings;
	release_memory(module);
	module_forget_unloaded(MODULE_MAX_UNLOADED);
	mutex_unlock(&module_mutex);
}

int unload_module(const char *name)
{
	struct module *module;
	int err = 0;

	mutex_lock(&module_mutex);
	module = module_find_locked(name);
	if (!module)
		err = -ENOENT;
	else if (module->state != MODULE_STATE_LIVE || (module->init && !module->exit) ||
		 atomic_cmpxchg(&module->refcnt, 0, -1) != 0)
		err = -EBUSY;
	else
		WRITE_ONCE(module->state, MODULE_STATE_GOING);
	mutex_unlock(&module_mutex);
	if (err)
		return err;

	if (module->exit)
		module->exit();
	run_destructors(module);
	retire(module);
	return 0;
}

/* --- The start of a module ------------------------------------------------------------------------- */

/* Name the module after the file: "foo-bar.ko" is module foo_bar. Return: 0 or -EINVAL. */
static int set_name(struct load_info *info, const char *name)
{
	const char *slash = strrchr(name, '/'), *p = slash ? slash + 1 : name;
	char *to = info->module->name;
	size_t n = strcspn(p, ".");

	if (!n || n >= MODULE_NAME_LEN)
		return module_fail(info, -EINVAL, "a name has 1 to %d characters",
				   MODULE_NAME_LEN - 1);
	for (size_t i = 0; i < n; i++)
		to[i] = isalnum((u8)p[i]) ? p[i] : '_';
	to[n] = '\0';
	return 0;
}

/* Copy the file: sections need alignment, and KASAN sees a read beyond a copy of the exact size. */
static int copy_image(struct load_info *info, const void *image, size_t size)
{
	if (!size)
		return module_fail(info, -ENOEXEC, "the file is empty");
	info->image = __vmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!info->image)
		return module_fail(info, -ENOMEM, "no memory for a file of %zu bytes", size);
	memcpy(info->image, image, size);
	info->size = size;
	return 0;
}

static int link_locked(struct load_info *info)
{
	struct module *module = info->module;
	int err;

	mutex_lock(&module_mutex);
	if (module_find_locked(module->name))
		err = module_fail(info, -EEXIST, "a module of this name is loaded");
	else
		err = module_link(info);
	if (err) {
		/* None of its code has run, so no trace can show it: keep nothing. */
		release_memory(module);
		module_forget(module);
	}
	mutex_unlock(&module_mutex);
	return err;
}

/* Run the constructors and the init function of @module. Return: 0, or the error of the init function; then
 * the module is unloaded. */
static int start(struct module *module, struct load_info *info)
{
	int err = 0;

	if (!(info->flags & MODULE_LOAD_NO_RUN)) {
		for (size_t i = 0; i < module->nr_ctors; i++)
			module->ctors[i]();
#ifdef CONFIG_KASAN_PERCPU
		percpu_open(module->percpu, module->nr_percpu);
#endif
		if (module->init)
			err = module->init();
	} else {
		/* Nothing was started, so nothing must be ended. */
		module->nr_dtors = 0;
		module->init = NULL;
		module->exit = NULL;
	}
	if (!err) {
		WRITE_ONCE(module->state, MODULE_STATE_LIVE);
		return 0;
	}
	module_fail(info, err, "its init function returned %d", err);
	WRITE_ONCE(module->state, MODULE_STATE_GOING);
	atomic_set(&module->refcnt, -1);
	run_destructors(module);
	retire(module);
	return err;
}

int load_module(const char *name, const void *image, size_t size, unsigned int flags,
		struct module **result, struct module_error *error)
{
	struct module_error own_error = {""};
	struct load_info info = {.flags = flags, .error = error ? error : &own_error};
	struct module *module = kzalloc(sizeof(*module), GFP_KERNEL);
	int err;

	info.module = module;
	if (!module) {
		err = module_fail(&info, -ENOMEM, "no memory");
		goto out;
	}
	module->state = MODULE_STATE_COMING;
	err = set_name(&info, name);
	if (!err)
		err = copy_image(&info, image, size);
	if (!err)
		err = module_elf_check(&info);
	if (err)
		kfree(module);
	else
		err = link_locked(&info);
	module_release_info(&info);
	if (!err)
		err = start(module, &info);
out:
	if (err && !error)
		pr_err("module %s: %s\n", name, own_error.text);
	if (result)
		*result = err ? NULL : module;
	return err;
}

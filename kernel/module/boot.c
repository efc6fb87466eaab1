// SPDX-License-Identifier: MIT
/*
 * boot.c - the parameter module.load=: loads modules of the initrd at boot, and unloads them before the
 * machine stops. Each is loaded and unloaded in a thread of its own, because a bug may end the thread.
 */
#include <kernel/initrd.h>
#include <kernel/mm.h>
#include <kernel/module.h>
#include <kernel/param.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#define MODULE_STACK_SIZE (64UL << 10)
#define MODULES_AT_BOOT	  64

static char *wanted;
core_param("module.load", wanted, charp, "names of modules in the initrd, separated by commas",
	   "load these modules at boot, unload them at the end");

static char loaded[MODULES_AT_BOOT][MODULE_NAME_LEN];
static unsigned int nr_loaded;

bool modules_wanted(void)
{
	return wanted && *wanted;
}

/* Return: the file NAME.ko, or the file NAME, or NULL. */
static const struct initrd_file *find_file(const char *name)
{
	const struct initrd_file *file = NULL;
	char with_suffix[128];

	/* A longer name cannot be a module's: those have less than MODULE_NAME_LEN characters. */
	if (snprintf(with_suffix, sizeof(with_suffix), "%s.ko", name) < (int)sizeof(with_suffix))
		file = initrd_find(with_suffix);
	return file ? file : initrd_find(name);
}

/* @err: -EFAULT until the thread has come to its end. */
struct job {
	const char *name;
	int err;
};

static int load_thread(void *arg)
{
	struct job *job = arg;
	const struct initrd_file *file = find_file(job->name);
	struct module *module;
	int err = -ENOENT;

	if (!file) {
		pr_err("module %s: no such file in the initrd\n", job->name);
	} else {
		err = load_module(job->name, file->data, file->size, 0, &module, NULL);
		if (!err) {
			strscpy(loaded[nr_loaded], module->name, MODULE_NAME_LEN);
			pr_info("module %s: loaded at %016lx, %u KiB\n", module->name, module->base,
				module->nr_pages << (PAGE_SHIFT - 10));
		}
	}
	job->err = err;
	return 0;
}

static int unload_thread(void *arg)
{
	struct job *job = arg;
	int err = unload_module(job->name);

	if (err == -EBUSY)
		pr_err("module %s: in use, it stays\n", job->name);
	else if (err)
		pr_err("module %s: not loaded\n", job->name);
	else
		pr_info("module %s: unloaded\n", job->name);
	job->err = err;
	return 0;
}

/* Run @fn for the module @name in a thread. Return: its result; -EFAULT if the thread was killed, -ETIMEDOUT if it hangs. */
static int run(int (*fn)(void *arg), const char *name)
{
	struct job *job = kmalloc(sizeof(*job), GFP_KERNEL);
	struct task *task = ERR_PTR(-ENOMEM);
	int err;

	if (job) {
		*job = (struct job){.name = name, .err = -EFAULT};
		task = kthread_create_sized(fn, job, MODULE_STACK_SIZE, "%s", name);
	}
	if (IS_ERR(task)) {
		kfree(job);
		pr_err("module %s: no memory for its thread\n", name);
		return (int)PTR_ERR(task);
	}
	wake_up_process(task);
	/* A thread that stays behind keeps its job. */
	if (!program_join_module(task, name))
		return -ETIMEDOUT;
	err = job->err;
	kfree(job);
	return err;
}

int load_wanted_modules(void)
{
	char *list = wanted, *name;
	int err = 0, one;

	while ((name = strsep(&list, ","))) {
		if (!*name)
			continue;
		if (nr_loaded == MODULES_AT_BOOT) {
			pr_err("module %s: more than %d modules\n", name, MODULES_AT_BOOT);
			return err ? err : -E2BIG;
		}
		one = run(load_thread, name);
		if (!one)
			nr_loaded++;
		else if (!err)
			err = one;
	}
	return err;
}

int unload_wanted_modules(void)
{
	int err = 0, one;

	while (nr_loaded) {
		one = run(unload_thread, loaded[--nr_loaded]);
		if (one && !err)
			err = one;
	}
	return err;
}

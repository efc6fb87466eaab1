/* SPDX-License-Identifier: MIT */
/*
 * module.h - code that is loaded into the running kernel and unloaded again.
 *
 * A module is a relocatable ELF file. Its source includes this header and names the functions that run when
 * it is loaded and unloaded:
 *
 *	static int hello_init(void) { pr_info("hello\n"); return 0; }
 *	static void hello_exit(void) { pr_info("bye\n"); }
 *	module_init(hello_init);
 *	module_exit(hello_exit);
 *	MODULE_LICENSE("MIT");
 *
 * It may use all functions and variables with external linkage of the kernel and of modules loaded before
 * it. Those modules cannot be unloaded before it.
 */
#ifndef KERNEL_MODULE_H
#define KERNEL_MODULE_H

#include <kasan/kasan.h>
#include <kernel/atomic.h>
#include <kernel/kallsyms.h>
#include <kernel/kernel.h>
#include <kernel/list.h>
#include <kernel/types.h>
#include <asm/memory.h>

#define MODULE_NAME_LEN 56

struct module;
struct module_symtab;
struct percpu_var;

/* Variables in sections that the loader reads: there are no redzones between them. GCC adds none to
 * variables in named sections. */
#ifdef __clang__
#define __module_plain __no_sanitize_address
#else
#define __module_plain
#endif

/* The loader finds the functions here, not by name or alias: compilers rename such functions, and traces
 * would not show the source's name. */
#define MODULE_INIT_SECTION ".module_init"
#define MODULE_EXIT_SECTION ".module_exit"
#define MODULE_THIS_SECTION ".this_module"

/** THIS_MODULE - the module that the code is in, NULL in the kernel itself. A pointer that the loader
 *  fills in: struct module may lie farther away than code can address. */
#ifdef MODULE
static struct module *volatile __this_module __used __section(MODULE_THIS_SECTION) __module_plain;
#define THIS_MODULE ((struct module *)__this_module)
#else
#define THIS_MODULE ((struct module *)NULL)
#endif

/** module_init() - @fn, int (*)(void), runs once when all else is in place. If it does not return 0, the
 *  module is unloaded again. */
#define module_init(fn)                                                                  \
	static int (*const __module_init_fn)(void) __used __section(MODULE_INIT_SECTION) \
		__module_plain = fn

/** module_exit() - @fn, void (*)(void), runs before the module is unloaded. A module with an init function
 *  but without this one stays for ever. */
#define module_exit(fn)                                                                   \
	static void (*const __module_exit_fn)(void) __used __section(MODULE_EXIT_SECTION) \
		__module_plain = fn

/* For module_info(): "tag=text" strings, one after the other. */
#define __modinfo_concat2(a, b) a##b
#define __modinfo_concat(a, b)	__modinfo_concat2(a, b)
#define MODULE_INFO(tag, text)                                                            \
	static const char __modinfo_concat(__modinfo_##tag, __LINE__)[] __used __section( \
		".modinfo") __aligned(1) __module_plain = #tag "=" text

#define MODULE_LICENSE(text)	 MODULE_INFO(license, text)
#define MODULE_AUTHOR(text)	 MODULE_INFO(author, text)
#define MODULE_DESCRIPTION(text) MODULE_INFO(description, text)
#define MODULE_VERSION(text)	 MODULE_INFO(version, text)

enum module_state {
	MODULE_STATE_COMING, /* its init function runs, or was killed */
	MODULE_STATE_LIVE,
	MODULE_STATE_GOING,    /* its exit function runs, or was killed */
	MODULE_STATE_UNLOADED, /* memory is freed; name and symbols remain for old traces */
};

/** struct module_part - pages with one protection. @size: bytes used in them. */
struct module_part {
	unsigned long start;
	size_t size;
};

enum module_part_type {
	MODULE_TEXT,   /* read and execute; branch veneers after the code */
	MODULE_RODATA, /* read; also constructor tables and the GOT */
	MODULE_DATA,   /* read and write */
	MODULE_PARTS,
};

/**
 * struct module - a module, from its loading until its traces are forgotten
 * @name: letters, digits and '_'.
 * @refcnt: references that keep it from being unloaded; -1 during the unloading.
 * @parts: its memory.
 * @base, @span: its whole address space, with a guard page on either side.
 * @unloaded_at: running number of the unloading; larger means later.
 * @has_shadow: all of @span has real shadow.
 * @veneers: number of branches that use a veneer, because the kernel is out of their reach.
 * @modinfo, @modinfo_size: its .modinfo section, inside @parts.
 * @percpu, @nr_percpu: its per-CPU variables, a table in its constants.
 * @uses: modules whose symbols it uses; it holds a reference to each.
 */
struct module {
	char name[MODULE_NAME_LEN];
	enum module_state state;
	atomic_t refcnt;
	struct list_head list;
	struct module_part parts[MODULE_PARTS];
	unsigned long base;
	size_t span;
	struct page **pages;
	unsigned int nr_pages;
	bool has_shadow;
	unsigned long unloaded_at;
	unsigned int veneers;
	int (*init)(void);
	void (*exit)(void);
	void (*const *ctors)(void);
	void (*const *dtors)(void);
	size_t nr_ctors, nr_dtors;
	const char *modinfo;
	size_t modinfo_size;
	struct module_symtab *symtab;
	struct module **uses;
	size_t nr_uses;
#ifdef CONFIG_KASAN_PERCPU
	const struct percpu_var *percpu;
	size_t nr_percpu;
#endif
#ifdef CONFIG_KASAN_TAGGED_GLOBALS
	struct kasan_globals_table globals;
#endif
};

/** struct module_error - why a module cannot be loaded, one line that names what is wrong */
struct module_error {
	char text[192];
};

/* Flags of load_module(). */
#define MODULE_LOAD_FAR \
	1U /* as far from the kernel as module space allows: branches need veneers */
#define MODULE_LOAD_NO_RUN 2U /* map and relocate, but call nothing: no constructors, no init */

/**
 * load_module() - link a relocatable file into the kernel and run its init function
 * @name: its name; characters other than letters and digits become '_'.
 * @image, @size: the file, only needed during the call; need not be aligned.
 * @flags: MODULE_LOAD_*.
 * @module: filled if not NULL.
 * @error: filled with the reason of a failure; NULL: the reason is printed.
 *
 * The init function runs in the calling thread. May sleep.
 *
 * Return: 0; -ENOEXEC (the file is damaged or made for another kernel), -ENOENT (it needs a symbol that
 * does not exist), -EEXIST (the name is taken), -EINVAL (no name), -ENOMEM, -EFBIG (no room in module
 * space); or the init function's error. After a failure nothing of the module remains.
 */
int load_module(const char *name, const void *image, size_t size, unsigned int flags,
		struct module **module, struct module_error *error);

/**
 * unload_module() - run a module's exit function and unload it
 *
 * May sleep. Return: 0; -ENOENT (no such module), -EBUSY (referenced, or its init or exit function
 * runs or was killed, or it cannot be unloaded because it has no exit function).
 */
int unload_module(const char *name);

/** module_purge() - forget unloaded modules now: their addresses may be reused, and old traces show their
 *  frames as numbers. */
void module_purge(void);

/** find_module() - Return: the module @name, or NULL. Valid only as long as the caller keeps it from being
 *  unloaded. */
struct module *find_module(const char *name);

/** try_module_get() - keep @module from being unloaded; NULL stands for the kernel itself. Any
 *  context. Return: false if it is being unloaded. */
bool try_module_get(struct module *module);
void module_put(struct module *module);

/** module_refcount() - Return: number of references, including those of dependent modules. */
static inline int module_refcount(struct module *module)
{
	return atomic_read(&module->refcnt);
}

/** module_address() - Return: address of a symbol of @module, which may be local; 0 if there is none. */
unsigned long module_address(const struct module *module, const char *symbol);

/** module_info() - Return: text of the first MODULE_INFO(@tag, ...) of @module; NULL if there is none. */
const char *module_info(const struct module *module, const char *tag);

/** module_used_pages() - Return: number of pages that loaded modules take, for tests. */
unsigned long module_used_pages(void);

/* --- For traces and reports: any context, no locks, not instrumented -------------------------- */

/** struct module_place - an address in a module, live or unloaded. @name: the symbol, "" if there is none;
 * @start, @size: its extent. @part: the part of the module. */
struct module_place {
	char module[MODULE_NAME_LEN];
	char name[KSYM_NAME_LEN];
	unsigned long start, size;
	enum module_part_type part;
	bool unloaded;
};

/** module_lookup() - find the module and symbol of @addr: the function for code, only the section for data.
 *  Return: true if @addr is in a module. */
bool module_lookup(unsigned long addr, struct module_place *place);

/** module_variable() - find the name of the variable that begins at @addr, without a tag, in a loaded module.
 *  @buf, @size: filled with it. Return: true if found. */
bool module_variable(unsigned long addr, char *buf, size_t size);

#ifdef CONFIG_KASAN_PERCPU
/** module_percpu() - Return: the per-CPU variables of the loaded module that @addr is in, NULL if it has none. @nr: filled. */
const struct percpu_var *module_percpu(unsigned long addr, size_t *nr);
#endif

/** is_module_text() - Return: true if @pc lies in the code of a module that is loaded. */
bool is_module_text(unsigned long pc);

/** kernel_text_address() - Return: true if @pc is code of the kernel or of a loaded module. */
static inline bool kernel_text_address(unsigned long pc)
{
	return is_kernel_text(pc) || is_module_text(pc);
}

/** module_text_start() - Return: start of the loaded module's function that holds @pc, 0: unknown. */
unsigned long module_text_start(unsigned long pc);

/** print_modules() - print "Modules linked in: a b", nothing if there are none. */
void print_modules(void);

/* --- Boot ------------------------------------------------------------------------------------- */

/** modules_wanted() - Return: true if the parameter module.load= names modules. */
bool modules_wanted(void);

/** load_wanted_modules(), unload_wanted_modules() - load the modules of module.load= from the initrd, in
 *  order, and unload them in reverse order, each in its own thread. Return: 0, or the first error; -EFAULT
 *  if its thread was killed. */
int load_wanted_modules(void);
int unload_wanted_modules(void);

#endif

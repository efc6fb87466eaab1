/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of the module loader share.
 *
 * elf_check.c decides whether a file is well-formed. loader.c lays it out, copies and relocates it. space.c
 * owns addresses, pages and shadow. core.c loads and unloads, list.c has the list. lookup.c
 * is the view that traces and reports have of the list. boot.c owns the parameter module.load=.
 */
#ifndef MODULE_INTERNAL_H
#define MODULE_INTERNAL_H

#include <kernel/arch.h>
#include <kernel/elf.h>
#include <kernel/module.h>
#include <asm/elf.h>

/* Largest module, in bytes. Branches reach much farther, so those inside a module never need a veneer. */
#define MODULE_MAX_SIZE (32UL << 20)

/* How many unloaded modules keep their addresses, unused, and their symbols, for old traces. */
#define MODULE_MAX_UNLOADED 8U

/**
 * struct module_symbol - a symbol of a module, for traces and for other modules
 * @address: absolute. @name: offset in the table's names, in bytes.
 */
struct module_symbol {
	unsigned long address;
	u32 name;
	bool code, global;
};

/** struct module_symtab - all symbols of a module, by ascending address; one allocation with their names */
struct module_symtab {
	size_t nr;
	const char *names;
	struct module_symbol symbols[];
};

/** struct section_place - where an allocated section goes */
struct section_place {
	bool loaded;
	enum module_part_type part;
	size_t offset;
	unsigned long address;
};

/**
 * struct load_info - a file that is being loaded
 * @image: aligned copy of the file.
 * @sections, @names: section headers and their names.
 * @symbols, @strings: the symbol table and its names; NULL if the file has none.
 * @places: where each section goes, by section number.
 * @values: the value of each symbol, by symbol number.
 * @globals_offset, @globals_size: descriptors of tagged globals, in the module's constants, in bytes.
 * @got_slots: by symbol number: the number of its entry in the GOT, counted from 1; 0 if it has none.
 */
struct load_info {
	struct module *module;
	struct module_error *error;
	unsigned int flags;

	u8 *image;
	size_t size;
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;
	unsigned int nr_sections;
	const char *names;
	const Elf64_Sym *symbols;
	unsigned int nr_symbols, symbols_section;
	const char *strings;

	struct section_place *places;
	u64 *values;
	u32 *got_slots;
	size_t veneer_offset, nr_veneers, max_veneers;
	size_t got_offset, nr_got, max_got;
	size_t globals_offset, globals_size;
};

/** module_fail() - store the reason of the failure. Return: @err. */
int module_fail(struct load_info *info, int err, const char *fmt, ...) __printf(3, 4);

static inline const char *section_name(const struct load_info *info, unsigned int section)
{
	return info->names + info->sections[section].sh_name;
}

static inline const char *symbol_name(const struct load_info *info, unsigned int symbol)
{
	return info->strings + info->symbols[symbol].st_name;
}

/* elf_check.c */

/** module_elf_check() - check info->image, and fill in what is found. Nothing in the image may be used before.
 *  Return: 0 or -ENOEXEC. */
int module_elf_check(struct load_info *info);

/* loader.c */

/** module_link() - put the code and data of a checked file in place, and info->module on the list.
 *  module_mutex is held. Return: 0 or a negative error; the caller cleans up. */
int module_link(struct load_info *info);

/** module_release_info() - free what was needed for loading only. */
void module_release_info(struct load_info *info);

/* space.c: module_mutex is held in all of these */

/** module_space_alloc() - get addresses, pages and shadow for @module, whose parts' sizes are known, and
 *  put it on the list. All parts can be written until module_space_protect(). Return: 0; -EFBIG: no room;
 *  -ENOMEM. */
int module_space_alloc(struct module *module, bool far);
void module_space_protect(struct module *module);

/** module_space_free() - free the pages. The addresses stay with @module, and their shadow is poisoned. */
void module_space_free(struct module *module);

/** module_forget() - give up everything of @module, its symbols included. */
void module_forget(struct module *module);

/** module_forget_unloaded() - forget the oldest unloaded modules; @keep are left. */
void module_forget_unloaded(unsigned int keep);

/* list.c */

/* All modules, including unloaded ones. Changed under module_mutex; lookup.c reads it without. */
extern struct list_head modules;
extern struct mutex module_mutex;

/** module_find_locked() - find_module() for a caller that holds module_mutex. */
struct module *module_find_locked(const char *name);

/** module_find_symbol() - find the symbol @name that a loaded module exports. @owner: filled with the
 *  module. module_mutex is held. Return: its address; 0 if no module exports it. */
unsigned long module_find_symbol(const char *name, struct module **owner);

/* lookup.c */

/** module_wait_for_readers() - wait until no reader can be at a module that was taken off the list. Sleeps.
 *  Return: true if it may be freed; false if a reader has not left in time. */
bool module_wait_for_readers(void);

#endif

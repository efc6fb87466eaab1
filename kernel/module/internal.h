/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of the module loader share.
 *
 * Who owns what: elf_check.c decides whether a file may be believed; loader.c lays it out, copies and
 * relocates it; space.c owns addresses, pages and shadow; core.c the list of modules and their lives;
 * lookup.c the view that traces and reports have of the list; boot.c the parameter module.load=.
 */
#ifndef MODULE_INTERNAL_H
#define MODULE_INTERNAL_H

#include <kernel/elf.h>
#include <kernel/module.h>
#include <asm/module.h>

/* Largest module. Far below a branch's reach, so that branches inside of one always arrive. */
#define MODULE_MAX_SIZE (32UL << 20)

/* Unloaded modules whose addresses rest and whose symbols are kept for old traces. */
#define MODULE_MAX_UNLOADED 8U

/**
 * struct module_symbol - a symbol of a module, for traces and for other modules
 * @address: absolute. @name: offset into the table's names.
 */
struct module_symbol {
	unsigned long address;
	u32 name;
	bool code, global;
};

/** struct module_symtab - all symbols of a module by ascending address. One allocation. */
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
 * @symbols, @strings: symbol table. NULL if the file has none.
 * @places: by section number.
 * @values: by symbol number, resolved.
 * @got_slots: by symbol number: entry of the GOT + 1.
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
};

/** module_fail() - say why, and Return: @err. */
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

/** module_elf_check() - believe nothing of info->image until this has looked at it; fills in what is
 *  found. Return: 0 or -ENOEXEC. */
int module_elf_check(struct load_info *info);

/* loader.c */

/** module_link() - from a checked file to code in place: info->module has its list entry. With
 *  module_mutex held. Return: 0 or a negative error; the caller cleans up. */
int module_link(struct load_info *info);

/** module_release_info() - free what belongs to the loading. */
void module_release_info(struct load_info *info);

/* space.c; with module_mutex held */

/** module_space_alloc() - addresses, pages and shadow for @module, whose parts' sizes are known; it is
 *  put on the list. All parts can be written until module_space_protect(). */
int module_space_alloc(struct module *module, bool far);
void module_space_protect(struct module *module);

/** module_space_free() - give the pages back; the addresses stay with @module, their shadow poisoned. */
void module_space_free(struct module *module);

/** module_space_forget() - give the shadow back, too: after module_space_free(), before somebody else gets the
 *  addresses. */
void module_space_forget(struct module *module);

/* core.c */

/* All modules, unloaded ones too; changed under module_mutex, read by lookup.c without it. */
extern struct list_head modules;
extern struct mutex module_mutex;

/** module_forget_unloaded() - down to @keep. With module_mutex held. */
void module_forget_unloaded(unsigned int keep);

/** module_find_symbol() - Return: address of what a loaded module exports as @name, and the module as
 *  @owner; 0: nobody does. With module_mutex held. */
unsigned long module_find_symbol(const char *name, struct module **owner);

/* lookup.c */

/** module_wait_for_readers() - after @module was taken off the list. Return: true if nobody reads it
 *  any more, so that it may be freed. */
bool module_wait_for_readers(void);

#endif

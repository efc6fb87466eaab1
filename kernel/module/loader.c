// SPDX-License-Identifier: MIT
/*
 * loader.c - puts the code of a checked relocatable file in place: layout, copy, symbols, relocations.
 *
 * elf_check.c has found the file to be well-formed. Everything else may still be wrong: a relocation may
 * overflow, a symbol may be missing.
 */
#include <kasan/kasan.h>
#include <kernel/mm.h>
#include <kernel/mutex.h>
#include <kernel/percpu.h>
#include <kernel/sort.h>
#include <kernel/string.h>
#include <asm/elf.h>

#include "internal.h"

#define GOT_ENTRY_SIZE sizeof(u64)

/* Clang's descriptors of tagged globals; after ".note." the name of a section that points to them. */
#define GLOBALS_SECTION "hwasan_globals"
#define GLOBALS_NOTE	"hwasan.globals"

/* --- Layout --------------------------------------------------------------------------------------- */

static enum module_part_type part_of(const struct load_info *info, unsigned int section)
{
	const Elf64_Shdr *s = &info->sections[section];
	const char *name = section_name(info, section);

	if (s->sh_flags & SHF_EXECINSTR)
		return MODULE_TEXT;
	/* Only relocations write to these. */
	if (!(s->sh_flags & SHF_WRITE) || s->sh_type == SHT_INIT_ARRAY ||
	    s->sh_type == SHT_FINI_ARRAY || str_has_prefix(name, ".data.rel.ro"))
		return MODULE_RODATA;
	return MODULE_DATA;
}

/* Reserve @size bytes at the end of a part. Return: their offset in it. */
static size_t append(struct module *module, enum module_part_type type, size_t size, size_t align)
{
	size_t offset = ALIGN(module->parts[type].size, align);

	module->parts[type].size = offset + size;
	return offset;
}

/* The order of constructors is by priority, as a linker puts them. Those without a priority come last. */
static unsigned long array_priority(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (!dot || dot == name)
		return ULONG_MAX;
	return simple_strtoul(dot + 1, NULL, 10);
}

/* Place all sections of @type, SHT_INIT_ARRAY or SHT_FINI_ARRAY, side by side. Return: bytes used. */
static size_t place_arrays(struct load_info *info, u32 type, size_t *start)
{
	size_t total = 0;

	*start = append(info->module, MODULE_RODATA, 0, 8);
	for (;;) {
		unsigned long best_priority = 0;
		unsigned int best = 0;

		for (unsigned int i = 1; i < info->nr_sections; i++) {
			const Elf64_Shdr *s = &info->sections[i];
			unsigned long priority;

			if (s->sh_type != type || !(s->sh_flags & SHF_ALLOC) ||
			    info->places[i].loaded || s->sh_size % sizeof(u64))
				continue;
			priority = array_priority(section_name(info, i));
			if (!best || priority < best_priority) {
				best = i;
				best_priority = priority;
			}
		}
		if (!best)
			return total;
		info->places[best].loaded = true;
		info->places[best].part = MODULE_RODATA;
		info->places[best].offset =
			append(info->module, MODULE_RODATA, info->sections[best].sh_size, 8);
		total += info->sections[best].sh_size;
	}
}

/* Place all descriptors of tagged globals side by side. */
static int place_globals(struct load_info *info)
{
	info->globals_offset = append(info->module, MODULE_RODATA, 0, 8);
	for (unsigned int i = 1; i < info->nr_sections; i++) {
		const Elf64_Shdr *s = &info->sections[i];

		if (!(s->sh_flags & SHF_ALLOC) || strcmp(section_name(info, i), GLOBALS_SECTION))
			continue;
		if (s->sh_size % sizeof(struct kasan_global_descriptor))
			return module_fail(info, -ENOEXEC, "section %u (%s): 0x%llx bytes", i,
					   GLOBALS_SECTION, (unsigned long long)s->sh_size);
		info->places[i].loaded = true;
		info->places[i].part = MODULE_RODATA;
		info->places[i].offset = append(info->module, MODULE_RODATA, s->sh_size, 1);
		info->globals_size += s->sh_size;
	}
	return 0;
}

/* Return: true if @symbol is in a section of this file that is loaded. */
static bool is_loaded(const struct load_info *info, u32 symbol)
{
	unsigned int section = info->symbols[symbol].st_shndx;

	return section < SHN_LORESERVE && info->places[section].loaded;
}

/* Count how many veneers and GOT entries may be needed at most. */
static void count_extras(struct load_info *info)
{
	for (unsigned int i = 1; i < info->nr_sections; i++) {
		const Elf64_Shdr *s = &info->sections[i];
		const Elf64_Rela *rela = (const Elf64_Rela *)(info->image + s->sh_offset);

		if (s->sh_type != SHT_RELA || !info->places[s->sh_info].loaded)
			continue;
		for (size_t n = s->sh_size / sizeof(*rela); n; n--, rela++) {
			u32 symbol = ELF64_R_SYM(rela->r_info), type = ELF64_R_TYPE(rela->r_info);

			/*
			 * A symbol needs one of each at most; the marks for that are cleared below.
			 * A branch inside the module never needs a veneer.
			 */
			if (module_reloc_is_branch(type)) {
				if (is_loaded(info, symbol))
					continue;
				if (rela->r_addend || !(info->got_slots[symbol] & 2))
					info->max_veneers++;
				info->got_slots[symbol] |= 2;
			} else if (module_reloc_is_got(type)) {
				info->max_got += !(info->got_slots[symbol] & 1);
				info->got_slots[symbol] |= 1;
			}
		}
	}
	memset(info->got_slots, 0, info->nr_symbols * sizeof(*info->got_slots));
}

static int lay_out(struct load_info *info, size_t *ctors, size_t *dtors)
{
	struct module *module = info->module;
	size_t total = 0;
	int err = place_globals(info);

	if (err)
		return err;
	module->nr_ctors = place_arrays(info, SHT_INIT_ARRAY, ctors) / sizeof(u64);
	module->nr_dtors = place_arrays(info, SHT_FINI_ARRAY, dtors) / sizeof(u64);
	for (unsigned int i = 1; i < info->nr_sections; i++) {
		const Elf64_Shdr *s = &info->sections[i];
		struct section_place *place = &info->places[i];

		/* The note tells user space where the descriptors are. */
		if (!(s->sh_flags & SHF_ALLOC) || place->loaded ||
		    !strcmp(section_name(info, i), ".note." GLOBALS_NOTE))
			continue;
		place->loaded = true;
		place->part = part_of(info, i);
		place->offset = append(module, place->part, s->sh_size,
				       s->sh_addralign ? s->sh_addralign : 1);
		/* Each size is bounded, and the sum is checked at each step, so it cannot wrap. */
		if (module->parts[place->part].size > MODULE_MAX_SIZE)
			return module_fail(info, -EFBIG, "larger than %lu MiB",
					   MODULE_MAX_SIZE >> 20);
	}
	count_extras(info);
	info->veneer_offset =
		append(module, MODULE_TEXT, info->max_veneers * MODULE_VENEER_SIZE, 8);
	info->got_offset = append(module, MODULE_RODATA, info->max_got * GOT_ENTRY_SIZE, 8);
	for (int i = 0; i < MODULE_PARTS; i++)
		total += module->parts[i].size;
	if (total > MODULE_MAX_SIZE)
		return module_fail(info, -EFBIG, "larger than %lu MiB", MODULE_MAX_SIZE >> 20);
	if (!module->parts[MODULE_TEXT].size && !module->parts[MODULE_DATA].size &&
	    !module->parts[MODULE_RODATA].size)
		return module_fail(info, -ENOEXEC, "nothing in it is to be loaded");
	return 0;
}

/* Return: the number of the loaded section @name; 0 if there is none. */
static unsigned int find_section(const struct load_info *info, const char *name)
{
	for (unsigned int i = 1; i < info->nr_sections; i++) {
		if (info->places[i].loaded && strcmp(section_name(info, i), name) == 0)
			return i;
	}
	return 0;
}

static void copy_sections(struct load_info *info)
{
	unsigned int this;

	for (unsigned int i = 1; i < info->nr_sections; i++) {
		const Elf64_Shdr *s = &info->sections[i];
		struct section_place *place = &info->places[i];

		if (!place->loaded)
			continue;
		place->address = info->module->parts[place->part].start + place->offset;
		/* The pages are zero already, as a section without data must be. */
		if (s->sh_type != SHT_NOBITS)
			memcpy((void *)place->address, info->image + s->sh_offset, s->sh_size);
	}
	/* THIS_MODULE: there is one for each file that was joined into this one. */
	this = find_section(info, MODULE_THIS_SECTION);
	for (size_t i = 0; this && i < info->sections[this].sh_size / sizeof(info->module); i++)
		memcpy((struct module **)info->places[this].address + i, &info->module,
		       sizeof(info->module));
}

/* --- Symbols -------------------------------------------------------------------------------------- */

/* Note that @module uses symbols of @owner. Return: 0 or -ENOMEM. */
static int add_use(struct module *module, struct module *owner)
{
	struct module **uses;

	for (size_t i = 0; i < module->nr_uses; i++) {
		if (module->uses[i] == owner)
			return 0;
	}
	uses = krealloc_array(module->uses, module->nr_uses + 1, sizeof(struct module *),
			      GFP_KERNEL);
	if (!uses)
		return -ENOMEM;
	module->uses = uses;
	/* module_mutex is held, so @owner cannot begin to be unloaded. */
	atomic_inc(&owner->refcnt);
	uses[module->nr_uses++] = owner;
	return 0;
}

static int resolve_undefined(struct load_info *info, unsigned int i, unsigned int *unknown)
{
	const Elf64_Sym *symbol = &info->symbols[i];
	const char *name = symbol_name(info, i);
	struct module *owner = NULL;

	if (!*name)
		return 0;
	/* The note's, which every file brings: they mean this module's own descriptors. */
	if (!strcmp(name, "__start_" GLOBALS_SECTION) || !strcmp(name, "__stop_" GLOBALS_SECTION))
		return 0;
	info->values[i] = kallsyms_exported(name);
	if (!info->values[i])
		info->values[i] = module_find_symbol(name, &owner);
	if (owner)
		return add_use(info->module, owner);
	if (!info->values[i] && ELF64_ST_BIND(symbol->st_info) != STB_WEAK) {
		if (!(*unknown)++)
			module_fail(info, -ENOENT, "unknown symbol %s", name);
	}
	return 0;
}

static int resolve_symbols(struct load_info *info)
{
	unsigned int unknown = 0;
	int err = 0;

	for (unsigned int i = 1; !err && i < info->nr_symbols; i++) {
		const Elf64_Sym *symbol = &info->symbols[i];

		if (symbol->st_shndx == SHN_UNDEF)
			err = resolve_undefined(info, i, &unknown);
		else if (symbol->st_shndx == SHN_ABS)
			info->values[i] = symbol->st_value;
		else if (info->places[symbol->st_shndx].loaded)
			info->values[i] = info->places[symbol->st_shndx].address + symbol->st_value;
	}
	if (err)
		return module_fail(info, err, "no memory");
	if (unknown > 1) {
		size_t n = strlen(info->error->text);

		snprintf(info->error->text + n, sizeof(info->error->text) - n, " (and %u more)",
			 unknown - 1);
	}
	return unknown ? -ENOENT : 0;
}

static bool is_interesting(const struct load_info *info, unsigned int i)
{
	const Elf64_Sym *symbol = &info->symbols[i];
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);
	const char *name = symbol_name(info, i);

	/* Names with '$' mark code and data for disassemblers; the compiler's labels begin with ".L". */
	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE &&
	       info->places[symbol->st_shndx].loaded && *name && *name != '$' &&
	       !str_has_prefix(name, ".L") && type <= STT_FUNC;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct module_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* Traces show the first of several names of one address: let it be a global one. */
	return (int)y->global - (int)x->global;
}

static int make_symtab(struct load_info *info)
{
	size_t nr = 0, bytes = 0, room;
	struct module_symtab *table;
	char *names;

	for (unsigned int i = 1; i < info->nr_symbols; i++) {
		if (is_interesting(info, i)) {
			nr++;
			bytes += strlen(symbol_name(info, i)) + 1;
		}
	}
	/* Names may overlap in the file, so all of them together may be far larger than the file. */
	if (bytes > MODULE_MAX_SIZE)
		return module_fail(info, -EFBIG, "%zu bytes of symbol names", bytes);
	room = sizeof(*table) + nr * sizeof(table->symbols[0]);
	table = kvmalloc(room + bytes + 1, GFP_KERNEL);
	if (!table)
		return module_fail(info, -ENOMEM, "no memory for %zu symbols", nr);
	names = (char *)table + room;
	table->names = names;
	table->nr = 0;
	bytes = 0;
	for (unsigned int i = 1; i < info->nr_symbols; i++) {
		const Elf64_Sym *symbol = &info->symbols[i];

		if (!is_interesting(info, i))
			continue;
		table->symbols[table->nr++] = (struct module_symbol){
			.address = info->values[i],
			.name = (u32)bytes,
			.code = info->places[symbol->st_shndx].part == MODULE_TEXT,
			.global = ELF64_ST_BIND(symbol->st_info) != STB_LOCAL,
		};
		strcpy(names + bytes, symbol_name(info, i));
		bytes += strlen(symbol_name(info, i)) + 1;
	}
	sort(table->symbols, table->nr, sizeof(table->symbols[0]), compare_symbols, NULL);
	smp_store_release(&info->module->symtab, table);
	return 0;
}

/* --- Relocations ---------------------------------------------------------------------------------- */

/* Return: the address of the GOT entry that holds the address of symbol @i. */
static u64 got_entry(struct load_info *info, u32 i)
{
	u64 *got = (u64 *)(info->module->parts[MODULE_RODATA].start + info->got_offset);

	if (!info->got_slots[i]) {
		got[info->nr_got++] = info->values[i];
		info->got_slots[i] = (u32)info->nr_got;
	}
	return (u64)(uintptr_t)&got[info->got_slots[i] - 1];
}

/* Return: the address of code that jumps to @target. */
static u64 veneer_for(struct load_info *info, u64 target)
{
	char *veneers = (char *)info->module->parts[MODULE_TEXT].start + info->veneer_offset;
	char *veneer = veneers;

	for (size_t i = 0; i < info->nr_veneers; i++, veneer += MODULE_VENEER_SIZE) {
		/* The last word of a veneer is its target. */
		if (*(u64 *)(veneer + MODULE_VENEER_SIZE - sizeof(u64)) == target)
			return (u64)(uintptr_t)veneer;
	}
	if (info->nr_veneers == info->max_veneers)
		return target;
	module_write_veneer(veneer, target);
	info->nr_veneers++;
	return (u64)(uintptr_t)veneer;
}

/* @reloc: all but what belongs to @rela alone. */
static int relocate_one(struct load_info *info, unsigned int section, const Elf64_Rela *rela,
			struct module_reloc *reloc)
{
	static const char *const problems[] = {
		[MODULE_RELOC_UNKNOWN] = "unknown type",
		[MODULE_RELOC_OVERFLOW] = "the value does not fit",
		[MODULE_RELOC_UNALIGNED] = "the value is not aligned",
		[MODULE_RELOC_OUT_OF_RANGE] = "the branch does not reach its target",
	};
	u32 i = ELF64_R_SYM(rela->r_info);
	enum module_reloc_result result;

	reloc->type = ELF64_R_TYPE(rela->r_info);
	if (module_reloc_is_none(reloc->type))
		return 0;
	reloc->place = (void *)(reloc->section + rela->r_offset);
	reloc->value = info->values[i] + (u64)rela->r_addend;
	if (module_reloc_is_got(reloc->type))
		reloc->value = got_entry(info, i);
	result = module_relocate(reloc);
	if (result == MODULE_RELOC_OUT_OF_RANGE) {
		reloc->value = veneer_for(info, reloc->value);
		result = module_relocate(reloc);
		if (result == MODULE_RELOC_OK)
			info->module->veneers++;
	}
	if (result == MODULE_RELOC_OK)
		return 0;
	return module_fail(info, -ENOEXEC, "%s: relocation at 0x%llx, type %u, symbol %s: %s",
			   section_name(info, section), (unsigned long long)rela->r_offset,
			   reloc->type, symbol_name(info, i), problems[result]);
}

static int relocate(struct load_info *info)
{
	for (unsigned int i = 1; i < info->nr_sections; i++) {
		const Elf64_Shdr *s = &info->sections[i];
		struct module_reloc reloc = {
			.relas = (const Elf64_Rela *)(info->image + s->sh_offset),
			.nr = s->sh_size / sizeof(Elf64_Rela),
			.symbols = info->values};

		if (s->sh_type != SHT_RELA || !info->places[s->sh_info].loaded)
			continue;
		reloc.section = info->places[s->sh_info].address;
		for (size_t n = 0; n < reloc.nr; n++) {
			int err = relocate_one(info, i, &reloc.relas[n], &reloc);

			if (err)
				return err;
		}
	}
	return 0;
}

/* --- The whole load ------------------------------------------------------------------------------------ */

static bool is_function(const struct load_info *info, unsigned long address)
{
	const struct module_part *text = &info->module->parts[MODULE_TEXT];

	return address - text->start < text->size && !(address & (ELF_CODE_ALIGN - 1));
}

/* Read the pointer to a function in section @name. @entry: filled with it; 0 without such a section. */
static int find_entry(struct load_info *info, const char *name, unsigned long *entry)
{
	unsigned int section = find_section(info, name);

	*entry = 0;
	if (!section)
		return 0;
	if (info->sections[section].sh_size >= sizeof(*entry))
		memcpy(entry, (void *)info->places[section].address, sizeof(*entry));
	return is_function(info, *entry)
		       ? 0
		       : module_fail(info, -ENOEXEC, "section %s names no function", name);
}

static int find_entries(struct load_info *info, size_t ctors, size_t dtors)
{
	struct module *module = info->module;
	unsigned long rodata = module->parts[MODULE_RODATA].start, init, exit;
	unsigned int modinfo;
	int err;

	err = find_entry(info, MODULE_INIT_SECTION, &init);
	if (!err)
		err = find_entry(info, MODULE_EXIT_SECTION, &exit);
	if (err)
		return err;
	module->init = (int (*)(void))init;
	module->exit = (void (*)(void))exit;
	module->ctors = (void (*const *)(void))(rodata + ctors);
	module->dtors = (void (*const *)(void))(rodata + dtors);
	for (size_t i = 0; i < module->nr_ctors + module->nr_dtors; i++) {
		unsigned long fn =
			(unsigned long)(i < module->nr_ctors ? module->ctors[i]
							     : module->dtors[i - module->nr_ctors]);

		if (!is_function(info, fn))
			return module_fail(info, -ENOEXEC,
					   "constructor or destructor %zu is not a function", i);
	}
	modinfo = find_section(info, ".modinfo");
	if (modinfo) {
		module->modinfo = (const char *)info->places[modinfo].address;
		module->modinfo_size = info->sections[modinfo].sh_size;
	}
	return 0;
}

#ifdef CONFIG_KASAN_TAGGED_GLOBALS
/* Does @d describe memory inside of the module? It decides where the runtime writes. */
static bool is_inside(const struct module *module, const struct kasan_global_descriptor *d)
{
	unsigned long start = (unsigned long)d + (unsigned long)(long)d->offset;
	size_t span = ALIGN(kasan_global_size(d), KASAN_GRANULE_SIZE);

	for (int i = 0; i < MODULE_PARTS; i++) {
		const struct module_part *part = &module->parts[i];

		if (i != MODULE_TEXT && start >= part->start && start < part->start + part->size)
			return !(start % KASAN_GRANULE_SIZE) &&
			       span <= PAGE_ALIGN(part->size) - (start - part->start);
	}
	return false;
}
#endif

/* Give the memory of the module's globals the tags that their symbols have. */
static int tag_globals(struct load_info *info)
{
#ifdef CONFIG_KASAN_TAGGED_GLOBALS
	const struct kasan_global_descriptor *start =
		(const void *)(info->module->parts[MODULE_RODATA].start + info->globals_offset);
	const struct kasan_global_descriptor *end = start + info->globals_size / sizeof(*start);

	for (const struct kasan_global_descriptor *d = start; d < end; d++) {
		if (!is_inside(info->module, d))
			return module_fail(info, -ENOEXEC,
					   "%s: entry %zu describes no variable of the module",
					   GLOBALS_SECTION, (size_t)(d - start));
	}
	if (start < end) {
		kasan_prepare_globals(start, end);
		kasan_load_globals(&info->module->globals, start, end);
	}
#endif
	return 0;
}

/* Find the table of per-CPU variables, which decides where the runtime writes. */
static int find_percpu(struct load_info *info)
{
#ifdef CONFIG_KASAN_PERCPU
	const unsigned int section = find_section(info, PERCPU_VARS_SECTION);
	const struct module_part *data = &info->module->parts[MODULE_DATA];
	const struct percpu_var *vars;
	size_t nr;

	if (!section)
		return 0;
	vars = (const struct percpu_var *)info->places[section].address;
	nr = info->sections[section].sh_size / sizeof(*vars);
	for (size_t i = 0; i < nr; i++) {
		const unsigned long first = (unsigned long)kasan_reset_tag(vars[i].first);

		if (first < data->start || first - data->start > data->size ||
		    first % SMP_CACHE_BYTES || vars[i].stride % SMP_CACHE_BYTES ||
		    vars[i].size > vars[i].stride ||
		    vars[i].stride > (data->size - (first - data->start)) / NR_CPUS)
			return module_fail(info, -ENOEXEC,
					   PERCPU_VARS_SECTION
					   ": entry %zu describes no variable of the module",
					   i);
	}
	info->module->percpu = vars;
	info->module->nr_percpu = nr;
#endif
	return 0;
}

int module_link(struct load_info *info)
{
	size_t ctors = 0, dtors = 0;
	int err;

	info->places = kvzalloc(info->nr_sections * sizeof(*info->places), GFP_KERNEL);
	/* One more than needed, so that the size is never 0. */
	info->values = kvzalloc((info->nr_symbols + 1UL) * sizeof(*info->values), GFP_KERNEL);
	info->got_slots = kvzalloc((info->nr_symbols + 1UL) * sizeof(*info->got_slots), GFP_KERNEL);
	if (!info->places || !info->values || !info->got_slots)
		return module_fail(info, -ENOMEM, "no memory for %u symbols", info->nr_symbols);

	err = lay_out(info, &ctors, &dtors);
	if (err)
		return err;
	err = module_space_alloc(info->module, info->flags & MODULE_LOAD_FAR);
	if (err == -EFBIG)
		return module_fail(info, err, "no room for %zu bytes in module space",
				   info->module->span);
	if (err)
		return module_fail(info, err, "no memory for %zu bytes", info->module->span);

	copy_sections(info);
	err = resolve_symbols(info);
	if (!err)
		err = make_symtab(info);
	if (!err)
		err = relocate(info);
	if (!err)
		err = find_entries(info, ctors, dtors);
	if (!err)
		err = tag_globals(info);
	if (!err)
		err = find_percpu(info);
	if (!err)
		module_space_protect(info->module);
	return err;
}

void module_release_info(struct load_info *info)
{
	kvfree(info->places);
	kvfree(info->values);
	kvfree(info->got_slots);
	vfree(info->image);
}

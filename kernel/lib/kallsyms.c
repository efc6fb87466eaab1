/* SPDX-License-Identifier: MIT */
/*
 * kallsyms.c - finds symbols in the image's symbol table.
 *
 * Not instrumented, because reports use it for the names in stack traces. The table comes from the
 * second link pass (tools/build-scripts/kallsyms.py); the first pass has an empty one, kallsyms_empty.S.
 */
#include <kernel/kallsyms.h>
#include <kernel/module.h>
#include <kernel/types.h>
#include <asm/memory.h>

/* Offsets are ascending, in bytes from _text. */
extern const u32 kallsyms_num, kallsyms_offsets[], kallsyms_name_offsets[];
extern const char kallsyms_names[];

/* Symbols with external linkage, for modules, sorted by name. */
extern const u32 ksymtab_num, ksymtab_name_offsets[];
extern const u64 ksymtab_addresses[];
extern const char ksymtab_names[];

/* Variables that have a tag. Offsets are in bytes from _text, or with KVARS_DATA set from __data_start. */
extern const u32 kvars_num, kvars_offsets[], kvars_name_offsets[];
extern const char kvars_names[];
#define KVARS_DATA (1U << 31)

bool kallsyms_lookup(unsigned long pc, const char **name, unsigned long *start, unsigned long *size)
{
	unsigned long base = (unsigned long)_text, end = (unsigned long)_etext;
	u32 low = 0, high = kallsyms_num;

	if (pc < base || pc >= end || high == 0 || pc - base < kallsyms_offsets[0])
		return false;
	/* Find the last entry that is not above the address. */
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (pc - base >= kallsyms_offsets[middle])
			low = middle;
		else
			high = middle;
	}
	if (low + 1 < kallsyms_num)
		end = base + kallsyms_offsets[low + 1];
	if (name)
		*name = kallsyms_names + kallsyms_name_offsets[low];
	if (start)
		*start = base + kallsyms_offsets[low];
	if (size)
		*size = end - (base + kallsyms_offsets[low]);
	return true;
}

bool kallsyms_matches(const char *pattern, size_t length)
{
	for (u32 i = 0; i < kallsyms_num; i++) {
		const char *name = kallsyms_names + kallsyms_name_offsets[i];
		size_t n = 0;

		while (n < length && pattern[n] != '*' && pattern[n] == name[n])
			n++;
		if ((n < length && pattern[n] == '*') ||
		    (n == length && (name[n] == '\0' || name[n] == '.')))
			return true;
	}
	return false;
}

bool kallsyms_variable(unsigned long addr, const char **name)
{
	unsigned long data = (unsigned long)__data_start;
	u32 low = 0, high = kvars_num, wanted;

	if (!is_kernel_image((void *)addr))
		return false;
	wanted = (u32)(addr >= data ? (addr - data) | KVARS_DATA : addr - (unsigned long)_text);
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (kvars_offsets[middle] == wanted) {
			*name = kvars_names + kvars_name_offsets[middle];
			return true;
		}
		if (kvars_offsets[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* The same as strcmp(), but not instrumented. */
static int compare_names(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (u8)*a - (u8)*b;
}

unsigned long kallsyms_exported(const char *name)
{
	u32 low = 0, high = ksymtab_num;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		int order = compare_names(name, ksymtab_names + ksymtab_name_offsets[middle]);

		if (!order)
			return ksymtab_addresses[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}

/* Do not use the formatter: it may be the code that is being reported. */
static char *put_text(char *p, const char *end, const char *text)
{
	while (*text && p < end)
		*p++ = *text++;
	return p;
}

static char *put_hex(char *p, const char *end, unsigned long value)
{
	int shift = 60;

	p = put_text(p, end, "0x");
	while (shift > 0 && (value >> shift) == 0)
		shift -= 4;
	for (; shift >= 0 && p < end; shift -= 4)
		*p++ = "0123456789abcdef"[(value >> shift) & 0xf];
	return p;
}

/* Print the name of the symbol that holds @lookup, with the offset of @address in it if @offset. */
static int format_symbol(char *buf, unsigned long lookup, unsigned long address, bool offset)
{
	unsigned long start, size;
	const char *name;
	const char *end = buf + KSYM_SYMBOL_LEN - 1;
	struct module_place place;
	char *p = buf;

	place.module[0] = '\0';
	if (!kallsyms_lookup(lookup, &name, &start, &size)) {
		name = "";
		if (module_lookup(lookup, &place) && place.part == MODULE_TEXT) {
			name = place.name;
			start = place.start;
			size = place.size;
		}
	}
	if (!*name) {
		p = put_hex(p, end, address);
	} else {
		p = put_text(p, buf + KSYM_NAME_LEN - 1, name);
		if (offset) {
			p = put_text(p, end, "+");
			p = put_hex(p, end, address - start);
			p = put_text(p, end, "/");
			p = put_hex(p, end, size);
		}
		if (place.module[0]) {
			p = put_text(p, end, " [");
			p = put_text(p, end, place.module);
			p = put_text(p, end, "]");
		}
	}
	*p = '\0';
	return (int)(p - buf);
}

int sprint_symbol(char *buf, unsigned long address)
{
	return format_symbol(buf, address, address, true);
}

int sprint_symbol_no_offset(char *buf, unsigned long address)
{
	return format_symbol(buf, address, address, false);
}

int sprint_backtrace(char *buf, unsigned long address)
{
	/* A call that does not return may be the last instruction of a function, so look up the call
	 * and not the address after it. */
	return format_symbol(buf, address - 1, address, true);
}

/* SPDX-License-Identifier: MIT */
/*
 * kallsyms.h - names of code addresses, from a table that the build puts into the image.
 *
 * Not instrumented, takes no locks, any context. The table is empty in the first link pass.
 */
#ifndef KERNEL_KALLSYMS_H
#define KERNEL_KALLSYMS_H

#include <kernel/types.h>

#define KSYM_NAME_LEN	256
#define KSYM_SYMBOL_LEN (KSYM_NAME_LEN + 100)

/** kallsyms_lookup() - find the function that holds @pc. @name, @start, @size: filled, each may be NULL.
 *  The size is the distance to the next symbol. Return: true if found. */
bool kallsyms_lookup(unsigned long pc, const char **name, unsigned long *start,
		     unsigned long *size);

/** kallsyms_matches() - Return: true if a function of the kernel, not of a module, has this name. @pattern:
 *  a name, or the start of one with '*' after it. @length: its characters. A clone (name.constprop.0)
 *  counts. */
bool kallsyms_matches(const char *pattern, size_t length);

/** kallsyms_variable() - find the kernel's global variable that begins at @addr, without a tag. Only variables whose
 *  pointers have a tag are known. @name: filled. Return: true if found. */
bool kallsyms_variable(unsigned long addr, const char **name);

/** kallsyms_exported() - Return: address of the function or variable @name with external linkage; 0 if there
 *  is none. Modules link to these. */
unsigned long kallsyms_exported(const char *name);

/** sprint_symbol() - write "name+0xoff/0xsize", with " [module]" after it for code of a module, or
 *  "0xaddress" if the address is unknown. @buf: KSYM_SYMBOL_LEN bytes. Return: the length. The _backtrace
 *  form is for a return address: it names the function that made the call. */
int sprint_symbol(char *buf, unsigned long address);
int sprint_symbol_no_offset(char *buf, unsigned long address);
int sprint_backtrace(char *buf, unsigned long address);

#endif

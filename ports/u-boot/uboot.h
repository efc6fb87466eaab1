/* SPDX-License-Identifier: MIT */
/*
 * uboot.h - declarations shared by the port's files. U-Boot's headers and <kasan/kasan.h> both define the
 * standard integer types, and not alike, so no file includes both: board.c and command.c speak U-Boot, the
 * others speak <kasan/kasan.h>, and this header uses plain C types only.
 */
#ifndef UBOOT_PORT_H
#define UBOOT_PORT_H

/**
 * struct uboot_layout - where U-Boot put itself, after relocation; addresses and bytes
 * @ram_base: first byte of RAM.
 * @ram_top: first byte behind what U-Boot uses; from here on @hidden bytes are the runtime's.
 * @hidden: CONFIG_SYS_MEM_TOP_HIDE.
 * @reloc_offset: runtime address minus link address.
 * @stack_top: first byte above the stack.
 * @early_start, @early_end: pool of malloc() before relocation.
 */
struct uboot_layout {
	unsigned long ram_base, ram_top, hidden, reloc_offset, stack_top;
	unsigned long early_start, early_end;
};

/* board.c */

/** uboot_get_layout() - fill @layout. After relocation, before an EFI program can have changed gd. */
void uboot_get_layout(struct uboot_layout *layout);

/** uboot_puts() - write to the debug serial port, whatever state the console is in. */
void uboot_puts(const char *text);

/** uboot_hang() - print @why and stop. */
_Noreturn void uboot_hang(const char *why);

/** uboot_heap_used() - Return: bytes of the heap that are allocated or in quarantine. */
unsigned long uboot_heap_used(void);

/* start.c */

/** uboot_say_window() - print where the window is and how far U-Boot was moved: what the host needs to read addresses. */
void uboot_say_window(void);

/* port.c */

/** uboot_port_init() - tell the port's functions where things are. @pool: free memory up to the end of the
 *  hidden part, for the runtime's tables. @stack_start: lowest address that counts as stack. */
void uboot_port_init(const struct uboot_layout *layout, unsigned long stack_start,
		     unsigned long pool);

/** uboot_forget_reports() - report every place anew: each is reported a few times only. */
void uboot_forget_reports(void);

/** uboot_put_hex() - write @before, @value in hexadecimal with 0x. */
void uboot_put_hex(const char *before, unsigned long value);

/* What only a U-Boot that is fuzzed has, in fuzz/inputs.c. Elsewhere they do nothing. */

/** uboot_before_line() - a line of the runtime begins: mark it as one. */
void uboot_before_line(void);

/** uboot_note_fault() - the processor has taken an exception that ends U-Boot. @data: a bad address of data.
 *  Return: a code address to go on at; 0: let it end. */
unsigned long uboot_note_fault(unsigned long syndrome, unsigned long address, unsigned long pc,
			       int data);

/* heap.c */

/** uboot_heap_start() - from now on malloc() and its family go through the runtime. @start, @size: the heap. */
void uboot_heap_start(const struct uboot_layout *layout, unsigned long start, unsigned long size);

/** uboot_heap_settle() - empty the quarantine, so that the heap's own counters are right. */
void uboot_heap_settle(void);

#endif /* UBOOT_PORT_H */

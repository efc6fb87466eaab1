/* SPDX-License-Identifier: MIT */
/*
 * clang.h - included before every C file of U-Boot that Clang compiles: lists that the linker makes.
 *
 * U-Boot marks the ends of such a list by static arrays without elements, and reads its entries behind the
 * first of them. No code stores to that array, so Clang takes the memory behind it for undefined, and drops the
 * loop: no driver of a PCI device is ever found. The same symbols, by an address that Clang knows nothing of.
 */
#ifndef UBOOT_CLANG_H
#define UBOOT_CLANG_H

#include <linker_lists.h>

#define redzone_list_mark(type, list_section, alignment)                                    \
	({                                                                                  \
		static char mark[0]                                                         \
			__attribute__((__aligned__(alignment), __section__(list_section))); \
		void *address = mark;                                                       \
                                                                                            \
		asm("" : "+r"(address));                                                    \
		(type *)address;                                                            \
	})

#undef ll_entry_start
#undef ll_entry_end
#undef ll_start
#undef ll_end

#define ll_entry_start(type, list) \
	redzone_list_mark(type, "__u_boot_list_2_" #list "_1", CONFIG_LINKER_LIST_ALIGN)
#define ll_entry_end(type, list) redzone_list_mark(type, "__u_boot_list_2_" #list "_3", 4)
#define ll_start(type)		 redzone_list_mark(type, "__u_boot_list_1", 4)
#define ll_end(type)		 redzone_list_mark(type, "__u_boot_list_3", 4)

#endif /* UBOOT_CLANG_H */

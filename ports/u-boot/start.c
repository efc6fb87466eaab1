/* SPDX-License-Identifier: MIT */
/*
 * start.c - puts the shadow in place and starts the runtime, at the moment when U-Boot opens its heap: it has
 * relocated itself, cleared .bss and switched the caches on.
 *
 * U-Boot uses the top of RAM, downwards: image, heap, board data, stack. One window covers all of that,
 * wherever it is, and its shadow lies behind it, in memory that CONFIG_SYS_MEM_TOP_HIDE keeps from U-Boot:
 *
 *	... stack | board data | heap | image | shadow | runtime's tables
 *	    ^ window start             ram_top ^                         ^ end of RAM
 *
 * So nothing depends on the size of RAM. Before this moment there is no window, every check passes, and the
 * runtime's state, in .data because .bss does not exist yet, is only read.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "uboot.h"

/*
 * U-Boot's only bound for its stack is the 16 MiB that it keeps from EFI programs. UEFI asks firmware for
 * 128 KiB. A stack of twice that is taken for a runaway recursion: the memory below it is poisoned.
 */
#define STACK_SIZE  (256UL << 10)
#define STACK_GUARD (256UL << 10)

/* Tables need at least this much behind the shadow. */
#define POOL_MIN (CONFIG_KASAN_DEPOT_SIZE + (1UL << 20))

typedef void (*constructor)(void);
extern constructor __kasan_ctors_start[], __kasan_ctors_end[];

void __real_mem_malloc_init(unsigned long start, unsigned long size);
void __wrap_mem_malloc_init(unsigned long start, unsigned long size);

static struct uboot_layout the_layout;
static unsigned long window_start;

void uboot_say_window(void)
{
	uboot_before_line();
	uboot_put_hex("KASAN: window ", window_start);
	uboot_put_hex("-", the_layout.ram_top);
	uboot_put_hex(" shadow ", the_layout.ram_top);
	uboot_put_hex(" relocated by ", the_layout.reloc_offset);
	uboot_puts("\n");
}

static void open_window(const struct uboot_layout *layout)
{
	const unsigned long stack_start = layout->stack_top - STACK_SIZE - STACK_GUARD;
	const unsigned long start = stack_start & ~(CONFIG_KASAN_PAGE_SIZE - 1);
	const unsigned long size = layout->ram_top - start;
	const unsigned long shadow_size = size >> KASAN_SHADOW_SCALE_SHIFT;
	const char *wrong;

	the_layout = *layout;
	window_start = start;
	uboot_say_window();
	if (shadow_size + POOL_MIN > layout->hidden) {
		uboot_put_hex("KASAN: CONFIG_SYS_MEM_TOP_HIDE is ", layout->hidden);
		uboot_put_hex(", must be at least ", shadow_size + POOL_MIN);
		uboot_puts("\n");
		uboot_hang("KASAN: no room for the shadow");
	}
	wrong = kasan_window_add(start, size, (void *)layout->ram_top);
	if (wrong)
		uboot_hang(wrong);
	uboot_port_init(layout, stack_start, layout->ram_top + shadow_size);
	kasan_poison((void *)start, STACK_GUARD, KASAN_STACK_LEFT);
}

void __wrap_mem_malloc_init(unsigned long start, unsigned long size)
{
	struct uboot_layout layout;
	constructor *call;

	__real_mem_malloc_init(start, size);
	uboot_get_layout(&layout);
	open_window(&layout);
	for (call = __kasan_ctors_start; call < __kasan_ctors_end; call++)
		(*call)();
	uboot_heap_start(&layout, start, size);
	kasan_option("kasan_multi_shot", NULL);
	/* The port's filter says how many reports a place may have; those are whole. */
	kasan_option("kasan.repeat", "full");
	kasan_init(size);
}

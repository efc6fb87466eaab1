/* SPDX-License-Identifier: MIT */
/*
 * port.c - every function of <kasan/port.h> that U-Boot gives.
 *
 * Nothing here uses gd: an EFI program may have changed the register that holds it, and calls U-Boot's
 * functions, checked, before those restore it.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "uboot.h"

static uintptr_t stack_low, stack_high;
static uintptr_t readable_low, readable_high;
static uintptr_t pool_next, pool_end;

void uboot_put_hex(const char *before, unsigned long value)
{
	char digits[2 * sizeof(value) + 1];
	unsigned int n = sizeof(digits) - 1;

	digits[n] = '\0';
	do {
		digits[--n] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	uboot_puts(before);
	uboot_puts("0x");
	uboot_puts(digits + n);
}

void kasan_port_task(struct kasan_port_task *task)
{
	task->id = 0;
	task->name = "u-boot";
	task->stack_start = stack_low;
	task->stack_end = stack_high;
}

void *kasan_port_alloc(size_t size)
{
	void *memory = (void *)pool_next;

	if (size > pool_end - pool_next)
		return NULL;
	pool_next += size;
	/* RAM that U-Boot never touched holds whatever was there before. */
	return __memset(memory, 0, size);
}

/* --- Reports ---------------------------------------------------------------------------------------------- */

/*
 * A bad access in a loop, or in a recursion, would fill the serial line for minutes. Each code address is
 * reported a few times: more than once, because strlen() is where many different bugs show.
 */
#define SITES	     256U
#define SITE_REPORTS 4U

static struct {
	uintptr_t ip;
	unsigned int count;
} sites[SITES];

static bool is_news(const struct kasan_report_info *info)
{
	unsigned int at = (unsigned int)(info->ip >> 2) % SITES, i;

	for (i = 0; i < SITES; i++, at = (at + 1) % SITES) {
		if (sites[at].ip && sites[at].ip != info->ip)
			continue;
		sites[at].ip = info->ip;
		return sites[at].count++ < SITE_REPORTS;
	}
	return false;
}

void uboot_forget_reports(void)
{
	__memset(sites, 0, sizeof(sites));
}

void uboot_port_init(const struct uboot_layout *layout, unsigned long stack_start,
		     unsigned long pool)
{
	stack_low = stack_start;
	stack_high = layout->stack_top;
	readable_low = layout->ram_base;
	readable_high = layout->ram_top + layout->hidden;
	pool_next = (pool + CONFIG_KASAN_PAGE_SIZE - 1) & ~(CONFIG_KASAN_PAGE_SIZE - 1);
	pool_end = readable_high;
	kasan_report_filter(is_news);
}

__attribute__((weak)) void uboot_before_line(void)
{
}

__attribute__((weak)) unsigned long uboot_note_fault(unsigned long syndrome, unsigned long address,
						     unsigned long pc, int data)
{
	(void)syndrome;
	(void)address;
	(void)pc;
	(void)data;
	return 0;
}

void kasan_port_print(const char *text)
{
	uboot_before_line();
	uboot_puts(text);
	uboot_puts("\n");
}

_Noreturn void kasan_port_panic(const char *why)
{
	uboot_hang(why);
}

bool kasan_port_readable(const void *addr, size_t size)
{
	const uintptr_t first = (uintptr_t)addr;

	return first >= readable_low && first < readable_high && size <= readable_high - first;
}

/* SPDX-License-Identifier: MIT */
/*
 * x86_64.h - x86_64 only: where everything is in the upper half of the address space, and what the files of this machine
 * have from each other. Assembly includes the first part.
 *
 *	ffff800000000000  PML4 slot 256: the first 4 GiB of physical memory, with the local APIC; the heap is in there
 *	ffffec0000000000  slots 472 to 503: shadow of this half, at (address >> 3) + dffffc0000000000
 *	ffffffff80000000  slot 511: physical memory from 0 on again, for the image (PIE: higher, by a number from the boot)
 */
#ifndef X86_64_H
#define X86_64_H

#define X86_64_IMAGE_PHYSICAL 0x100000
#define X86_64_HIGH	      0xffffffff80000000
#define X86_64_DIRECT_SLOT    256
#define X86_64_SHADOW_SLOT    472
#define X86_64_SHADOW_SLOTS   32

/* The second CPU starts in 16 bits, below 1 MiB. */
#define X86_64_TRAMPOLINE 0x8000

#define X86_64_CODE_SELECTOR 8
#define X86_64_DATA_SELECTOR 16

/* PML4 and page table entries: present, writable, not cached, 2 MiB. */
#define X86_64_PRESENT	1
#define X86_64_WRITABLE 2
#define X86_64_UNCACHED 0x18
#define X86_64_LARGE	0x80

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_64_DIRECT 0xffff800000000000

/** x86_64_start() - called by x86_64_start.S in the upper half, on the boot stack. @offset: from physical addresses to
 *  those of the image. Nothing is relocated yet. */
__attribute__((__noreturn__)) void x86_64_start(uintptr_t offset);

/* --- x86_64_paging.c --- */

/** paging_start() - shadow for the whole upper half: one read-only page of zeroes. Null pointers fault from here on.
 *  @offset: as above. */
void paging_start(uintptr_t offset);

/** paging_map_shadow() - give [@start, @start + @size) shadow that can be written, all zero. */
void paging_map_shadow(uintptr_t start, size_t size);

/** paging_add_windows() - the image and the heap; in the full layout there are none. Return: NULL, or what is wrong. */
const char *paging_add_windows(void);

/** paging_forbid() - unmap the page at @addr, which is a part of the image: the guard below a stack. */
void paging_forbid(const void *addr);

/** paging_maps() - is there memory at @addr? Any number may be asked about. */
bool paging_maps(uintptr_t addr);

/** paging_root() - Return: physical address of the PML4. paging_start_root(): of one that also has memory at its
 *  physical addresses, for the second CPU's start. */
uint32_t paging_root(void);
uint32_t paging_start_root(void);

/* --- x86_64_cpu.c --- */

/** cpu_start() - descriptor tables, stacks and the number of this CPU, which is @number. */
void cpu_start(unsigned int number);

/** cpu_start_second() - if there is a second CPU, start it. cpu_count(): CPUs that run. */
void cpu_start_second(void);
unsigned int cpu_count(void);

/** cpu_stack() - does a stack for interrupts of this CPU hold @sp? Then fill its bounds. */
bool cpu_stack(uintptr_t sp, uintptr_t *start, uintptr_t *end);

/** cpu_timer_on() - call board_tick() about every millisecond from now on, on this CPU. */
void cpu_timer_on(void);

/** cpu_nmi() - send an NMI to this CPU, which calls board_nmi(). */
void cpu_nmi(void);

/** cpu_idle() - what a CPU does that has nothing else to do: wait for work from cpu_run(). */
__attribute__((__noreturn__)) void cpu_idle(void);

/** cpu_call() - begin @code as a task of the second CPU; cpu_wait(): until it has ended. With one CPU that runs @code
 *  before cpu_call() returns. */
void cpu_call(void (*code)(void));
void cpu_wait(void);

/** board_tick, board_nmi - called in the handlers, unless NULL. */
extern void (*volatile board_tick)(void);
extern void (*volatile board_nmi)(void);

#endif
#endif /* X86_64_H */

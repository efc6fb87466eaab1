/* SPDX-License-Identifier: MIT */
/*
 * config.h - the CONFIG_KASAN_* options and their consistency checks.
 *
 * Options come from the compiler's command line (-DCONFIG_KASAN_GENERIC=1) or from a header that the port names with
 * -DKASAN_PORT_CONFIG_H='"my_kasan_config.h"'. With no mode selected, <kasan/kasan.h> turns every hook into an empty
 * inline function.
 *
 * This header holds preprocessor lines only, so that assembly files can include it too.
 */
#ifndef KASAN_CONFIG_H
#define KASAN_CONFIG_H

#include <kasan/version.h>

#ifdef KASAN_PORT_CONFIG_H
#include KASAN_PORT_CONFIG_H
#endif

/* --- UBSan --- */

/*
 * CONFIG_KASAN_UBSAN=1: the runtime has the functions that code built with -fsanitize=undefined calls. Without a mode of KASAN
 * the system has the part of the API that is about reports, and the hooks for memory are empty. The runtime's own files
 * are then compiled for the smallest configuration that has reports: no window, so that all memory is accessible.
 */
/*
 * CONFIG_KASAN_SAMPLE=1: one allocation now and then lies on a page of its own, whose neighbours are closed
 * (<kasan/sample.h>). It too needs no mode.
 */
#if (defined(CONFIG_KASAN_UBSAN) || defined(CONFIG_KASAN_SAMPLE)) &&        \
	!defined(CONFIG_KASAN_GENERIC) && !defined(CONFIG_KASAN_SW_TAGS) && \
	!defined(CONFIG_KASAN_HW_TAGS)
#define KASAN_ALONE 1 /* reports, without a mode of KASAN */
#ifndef CONFIG_KASAN_SAMPLE
#define KASAN_UBSAN_ALONE 1 /* each of them is UBSan's */
#endif
#ifdef KASAN_RUNTIME_FILE
#define CONFIG_KASAN_GENERIC	     1
#define CONFIG_KASAN_SHADOW_WINDOWED 1
#define CONFIG_KASAN_NULL_CHECK	     0UL
#define CONFIG_KASAN_STACK	     0
#define CONFIG_KASAN_SLAB	     0
#define CONFIG_KASAN_GLOBALS	     0
#define CONFIG_KASAN_STACK_OBJECTS   0
#define CONFIG_KASAN_BUG_TYPES	     0
#define CONFIG_KASAN_START_CHECKS    0
#endif
#endif

/* CONFIG_KASAN_OVERLAP=1: a memcpy() whose ranges overlap is reported, unless kasan.overlap=off. Each call takes five
 * instructions more. The system's string functions call kasan_check_overlap(). */

/* --- Mode: at most one --- */

#if (defined(CONFIG_KASAN_GENERIC) && defined(CONFIG_KASAN_SW_TAGS)) ||     \
	(defined(CONFIG_KASAN_GENERIC) && defined(CONFIG_KASAN_HW_TAGS)) || \
	(defined(CONFIG_KASAN_SW_TAGS) && defined(CONFIG_KASAN_HW_TAGS))
#error "KASAN: define at most one of CONFIG_KASAN_GENERIC, CONFIG_KASAN_SW_TAGS, CONFIG_KASAN_HW_TAGS"
#endif

#if defined(CONFIG_KASAN_GENERIC)
#define CONFIG_KASAN 1
/* One shadow byte describes 2^3 = 8 bytes: the compilers' default mapping scale. */
#define KASAN_SHADOW_SCALE_SHIFT 3
#endif

/* CONFIG_KASAN_TAGS - defined in both tag-based modes. A pointer carries a tag in its top byte, and each 16 bytes of
 * memory have a tag, in a shadow byte (SW_TAGS) or in the CPU (HW_TAGS). */
#if defined(CONFIG_KASAN_SW_TAGS) || defined(CONFIG_KASAN_HW_TAGS)
#define CONFIG_KASAN	  1
#define CONFIG_KASAN_TAGS 1
/* Compiler ABI of kernel-hwaddress, and the architecture's granule: 16 bytes. */
#define KASAN_SHADOW_SCALE_SHIFT 4

#define KASAN_TAG_KERNEL  0xFF /* pointer tag: matches all memory */
#define KASAN_TAG_INVALID 0xFE /* tag of free memory: matches only the pointer tag above */
#define KASAN_TAG_MAX	  0xFD
#ifdef CONFIG_KASAN_HW_TAGS
/* The CPU compares the lower four bits; the upper four are those of a kernel address. Memory that was never handed out
 * still has the tag 0 from reset, so no pointer gets the tag 0. No pointer gets 1 either, because there must be as many
 * odd tags as even ones. */
#define KASAN_TAG_MIN 0xF2
#else
/* A shadow byte below 16 says how many bytes of the granule are accessible: see docs/internals/tag-modes.md. */
#define KASAN_TAG_MIN 0x10
#endif

#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ < 8
#error "KASAN: the tag-based modes need 64-bit pointers, whose top byte the CPU ignores"
#endif
#endif

/* --- Pages, also without a mode: <kasan/page_heap.h> --- */

/* Units of memory from kasan_port_alloc(), and of what a report says about pages. A microcontroller has no pages. */
#ifndef CONFIG_KASAN_PAGE_SIZE
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define CONFIG_KASAN_PAGE_SIZE 1024UL
#else
#define CONFIG_KASAN_PAGE_SIZE 4096UL
#endif
#endif

/* CONFIG_KASAN_DMA=1: buffers that a device has are watched (<kasan/dma.h>). How many there can be, a multiple of 8: each
 * takes about 100 bytes. */
#ifndef CONFIG_KASAN_DMA_MAPPINGS
#define CONFIG_KASAN_DMA_MAPPINGS 256
#endif
#if CONFIG_KASAN_DMA_MAPPINGS < 8 || CONFIG_KASAN_DMA_MAPPINGS % 8
#error "KASAN: CONFIG_KASAN_DMA_MAPPINGS is not a multiple of 8"
#endif

/* Objects of CONFIG_KASAN_SAMPLE that there can be at a time. Each takes two pages of address space, one page of memory, and
 * 72 bytes; its two stacks are in the depot. */
#ifndef CONFIG_KASAN_SAMPLE_OBJECTS
#define CONFIG_KASAN_SAMPLE_OBJECTS 64
#endif
/* kasan.sample= if it is not given. Beside a mode, which sees every object, sampling is for tests. */
#ifndef CONFIG_KASAN_SAMPLE_INTERVAL
#ifdef KASAN_ALONE
#define CONFIG_KASAN_SAMPLE_INTERVAL 100
#else
#define CONFIG_KASAN_SAMPLE_INTERVAL 0
#endif
#endif
#if CONFIG_KASAN_SAMPLE_OBJECTS < 1 || CONFIG_KASAN_SAMPLE_OBJECTS > 65535
#error "KASAN: CONFIG_KASAN_SAMPLE_OBJECTS is not from 1 to 65535"
#endif

/* A fault within this many bytes below a stack, or a bug while the stack pointer is there, is an overflow of that stack. */
#ifndef CONFIG_KASAN_STACK_GUARD
#define CONFIG_KASAN_STACK_GUARD 256UL
#endif

#ifdef CONFIG_KASAN

#define KASAN_GRANULE_SIZE (1UL << KASAN_SHADOW_SCALE_SHIFT)
#define KASAN_GRANULE_MASK (KASAN_GRANULE_SIZE - 1)

/* --- Shadow layout: exactly one; HW_TAGS has no shadow --- */

/*
 * CONFIG_KASAN_SHADOW_FULL      every address in [CONFIG_KASAN_SHADOW_LOW, CONFIG_KASAN_SHADOW_HIGH]
 *                               (inclusive) has a mapped shadow byte at
 *                               (addr >> 3) + CONFIG_KASAN_SHADOW_OFFSET. A check needs no range
 *                               test; addresses outside are null, user or wild.
 * CONFIG_KASAN_SHADOW_WINDOWED  only registered windows (kasan_window_add()) have shadow, all other
 *                               addresses are accessible. CONFIG_KASAN_SHADOW_OFFSET is the offset
 *                               of the first window when it is known at compile time; without it
 *                               the first kasan_window_add() decides, and
 *                               __asan_shadow_memory_dynamic_address is set to it.
 */
/*
 * CONFIG_KASAN_SHADOW_COMPACT   windowed, with 2 bits of shadow for 8 bytes: 1/32 of the window instead of 1/8. For simple
 *                               heaps (<kasan/heap.h>) and outline checks only, without stack objects and
 *                               globals: docs/port/small-memory.md says which bugs it misses.
 */
#ifdef CONFIG_KASAN_SHADOW_COMPACT
#ifndef CONFIG_KASAN_GENERIC
#error "KASAN: CONFIG_KASAN_SHADOW_COMPACT is for CONFIG_KASAN_GENERIC"
#endif
#if defined(CONFIG_KASAN_SHADOW_OFFSET)
#error "KASAN: CONFIG_KASAN_SHADOW_COMPACT has no offset that compiled code could use: outline checks, no CONFIG_KASAN_SHADOW_OFFSET"
#endif
#ifndef CONFIG_KASAN_SHADOW_WINDOWED
#define CONFIG_KASAN_SHADOW_WINDOWED 1
#endif
#ifndef CONFIG_KASAN_STACK
#define CONFIG_KASAN_STACK 0
#elif CONFIG_KASAN_STACK != 0
#error "KASAN: CONFIG_KASAN_SHADOW_COMPACT cannot describe stacks: compile without stack instrumentation, CONFIG_KASAN_STACK=0"
#endif
/* Memory that one byte of shadow describes: 2^5 bytes. */
#define KASAN_WINDOW_SHIFT 5
#elif defined(CONFIG_KASAN)
#define KASAN_WINDOW_SHIFT KASAN_SHADOW_SCALE_SHIFT
#endif

/*
 * CONFIG_KASAN_WINDOW_START     windowed: the first window begins here and has CONFIG_KASAN_WINDOW_SIZE bytes. The
 *                               functions that check an access have these numbers as constants, and load nothing but the
 *                               shadow, so CONFIG_KASAN_SHADOW_OFFSET must be known too (not with the compact shadow).
 *                               kasan_window_add() accepts only this window as the first.
 */
#if defined(CONFIG_KASAN_WINDOW_START) != defined(CONFIG_KASAN_WINDOW_SIZE)
#error "KASAN: CONFIG_KASAN_WINDOW_START and CONFIG_KASAN_WINDOW_SIZE go together"
#endif
#ifdef CONFIG_KASAN_WINDOW_START
#ifndef CONFIG_KASAN_SHADOW_WINDOWED
#error "KASAN: CONFIG_KASAN_WINDOW_START is for CONFIG_KASAN_SHADOW_WINDOWED"
#endif
#if !defined(CONFIG_KASAN_SHADOW_OFFSET) && !defined(CONFIG_KASAN_SHADOW_COMPACT)
#error "KASAN: CONFIG_KASAN_WINDOW_START needs CONFIG_KASAN_SHADOW_OFFSET"
#endif
#endif

#ifdef CONFIG_KASAN_HW_TAGS
#if defined(CONFIG_KASAN_SHADOW_FULL) || defined(CONFIG_KASAN_SHADOW_WINDOWED)
#error "KASAN: CONFIG_KASAN_HW_TAGS has no shadow, so no CONFIG_KASAN_SHADOW_* option"
#endif
#elif defined(CONFIG_KASAN_SHADOW_FULL) == defined(CONFIG_KASAN_SHADOW_WINDOWED)
#error "KASAN: define exactly one of CONFIG_KASAN_SHADOW_FULL and CONFIG_KASAN_SHADOW_WINDOWED"
#endif
#if defined(CONFIG_KASAN_SW_TAGS) && defined(CONFIG_KASAN_SHADOW_WINDOWED)
#error "KASAN: CONFIG_KASAN_SW_TAGS needs the full layout: the compilers' checks test no range"
#endif
/*
 * CONFIG_KASAN_SHADOW_DYNAMIC  full layout: where the shadow lies is known only at run time (KASLR, page tables of several
 *                              depths, position-independent hypervisors). kasan_shadow_place() says it once, and
 *                              CONFIG_KASAN_SHADOW_LOW and _HIGH are not given. CONFIG_KASAN_SHADOW_OFFSET may be, if only
 *                              the range is not known. Until then no address has shadow, and every access passes.
 * CONFIG_KASAN_SHADOW_PIECES   full layout: the shadow is not one piece with one offset. The port's kasan_port_shadow()
 *                              translates each address. For outline checks, without stack objects.
 */
#if defined(CONFIG_KASAN_SHADOW_DYNAMIC) || defined(CONFIG_KASAN_SHADOW_PIECES)
#ifndef CONFIG_KASAN_SHADOW_FULL
#error "KASAN: CONFIG_KASAN_SHADOW_DYNAMIC and CONFIG_KASAN_SHADOW_PIECES are for the full layout"
#endif
#if defined(CONFIG_KASAN_SHADOW_LOW) || defined(CONFIG_KASAN_SHADOW_HIGH)
#error "KASAN: CONFIG_KASAN_SHADOW_LOW and _HIGH are known only at run time: leave them out"
#endif
#if defined(CONFIG_KASAN_SHADOW_FAULTS)
#error "KASAN: CONFIG_KASAN_SHADOW_FAULTS needs a shadow whose place is a constant"
#endif
#endif
#ifdef CONFIG_KASAN_SHADOW_PIECES
#if !defined(CONFIG_KASAN_GENERIC) || defined(CONFIG_KASAN_SHADOW_DYNAMIC) || \
	defined(CONFIG_KASAN_SHADOW_OFFSET)
#error "KASAN: CONFIG_KASAN_SHADOW_PIECES is for CONFIG_KASAN_GENERIC, without an offset: kasan_port_shadow() has them"
#endif
#ifndef CONFIG_KASAN_STACK
#define CONFIG_KASAN_STACK 0
#elif CONFIG_KASAN_STACK != 0
#error "KASAN: CONFIG_KASAN_SHADOW_PIECES: stack poison is compiled for one offset; compile without it, CONFIG_KASAN_STACK=0"
#endif
#elif defined(CONFIG_KASAN_SHADOW_FULL)
/* One offset for all addresses. */
#define KASAN_FULL_LINEAR 1
#endif
#if defined(KASAN_FULL_LINEAR) && !defined(CONFIG_KASAN_SHADOW_DYNAMIC)
#ifndef CONFIG_KASAN_SHADOW_OFFSET
#error "KASAN: the full layout needs CONFIG_KASAN_SHADOW_OFFSET, equal to the compiler's offset"
#endif
#ifndef CONFIG_KASAN_SHADOW_LOW
#error "KASAN: the full layout needs CONFIG_KASAN_SHADOW_LOW, the lowest address with shadow"
#endif
#ifndef CONFIG_KASAN_SHADOW_HIGH
#error "KASAN: the full layout needs CONFIG_KASAN_SHADOW_HIGH, the last address with shadow"
#endif
#endif

/* CONFIG_KASAN_SHADOW_FAULTS - full layout: outline checks load the shadow of any address without testing whether it
 * has shadow, as inline checks do. This saves a range test in the hottest code. When a shadow load inside
 * [__kasan_access_start, __kasan_access_end) faults, the port's fault handler must give it the value "no byte is
 * accessible" and continue after it; the runtime's slow path does the rest. The code is in the sections
 * .text.kasan_access*; the linker script puts the two symbols around them. */
#if defined(CONFIG_KASAN_SHADOW_FAULTS) && !defined(CONFIG_KASAN_SHADOW_FULL)
#error "KASAN: CONFIG_KASAN_SHADOW_FAULTS is for the full layout"
#endif

/*
 * CONFIG_KASAN_SHADOW_HOLES - full layout: some of that shadow is not mapped at times, as the shadow of vmalloc space
 * that no area has. An access there faults on its check, and reports ask kasan_port_readable() before they read shadow.
 */
#if defined(CONFIG_KASAN_SHADOW_HOLES) && !defined(CONFIG_KASAN_SHADOW_FULL)
#error "KASAN: CONFIG_KASAN_SHADOW_HOLES is for the full layout"
#endif

/* CONFIG_KASAN_SHADOW_EARLY - full layout: all memory has shadow before the first call of memcpy() or memset(), so these
 * need not ask whether it has. CONFIG_KASAN_SHADOW_FAULTS implies it. */
#if defined(CONFIG_KASAN_SHADOW_FAULTS) && !defined(CONFIG_KASAN_SHADOW_EARLY)
#define CONFIG_KASAN_SHADOW_EARLY 1
#endif
#if defined(CONFIG_KASAN_SHADOW_EARLY) && !defined(CONFIG_KASAN_SHADOW_FULL)
#error "KASAN: CONFIG_KASAN_SHADOW_EARLY is for the full layout"
#endif

/* --- Sizes and bounds --- */

/* CPUs that kasan_port_cpu() may name: 0 .. CONFIG_KASAN_NR_CPUS - 1. */
#ifndef CONFIG_KASAN_NR_CPUS
#define CONFIG_KASAN_NR_CPUS 1
#endif

/* Number of reports that can wait while another one is printed, about 1 KiB each: bugs inside that report, and bugs of
 * CPUs that hold something the reporting CPU waits for. Further ones are only counted. */
#ifndef CONFIG_KASAN_WAITING_REPORTS
#define CONFIG_KASAN_WAITING_REPORTS (CONFIG_KASAN_NR_CPUS + 3)
#endif
#if CONFIG_KASAN_WAITING_REPORTS < 0
#error "KASAN: CONFIG_KASAN_WAITING_REPORTS must be at least 0"
#endif

/* Number of places of bugs that the runtime remembers, 64 bytes each, 32 on 32-bit systems. The 2nd, 4th, 8th report and
 * so on of a known place are a single line, the others are counted (kasan.repeat=brief). When there are more, the runtime forgets the place that was quiet for
 * the longest time. */
#ifndef CONFIG_KASAN_REPEAT_PLACES
#define CONFIG_KASAN_REPEAT_PLACES 64
#endif
#if CONFIG_KASAN_REPEAT_PLACES < 1
#error "KASAN: CONFIG_KASAN_REPEAT_PLACES must be at least 1"
#endif

/* Are reports of a known place that have no line counted without capturing the rest? 0 saves code: a bug in a loop then
 * takes eight times as long. */
#ifndef CONFIG_KASAN_CHEAP_REPEATS
#define CONFIG_KASAN_CHEAP_REPEATS 1
#endif

/* Largest number of windows in the windowed layout. The first window is the fast one. */
#ifndef CONFIG_KASAN_MAX_WINDOWS
#define CONFIG_KASAN_MAX_WINDOWS 4
#endif

/* Largest number of frames kept of one stack trace. */
#ifndef CONFIG_KASAN_STACK_DEPTH
#define CONFIG_KASAN_STACK_DEPTH 48
#endif

/* The number of frames, from 1 to 7, by which a stack is looked up before all of it is compared with a known trace. They are
 * compared without a loop, but a stack with fewer than two further frames takes longer. More than 4 help a system whose stacks are deep
 * and alike in their first functions. A CPU of 32 bits always takes 1. */
#ifndef CONFIG_KASAN_NEAR_FRAMES
#define CONFIG_KASAN_NEAR_FRAMES 4
#endif

/* Bytes the stack depot may grow to, 2 KiB or more. The boot parameter kasan.depot_size= changes it, unless it is below
 * 1 MiB: such a depot has small blocks, and cannot grow beyond its size. Others take 64 KiB at a time from
 * kasan_port_alloc(). */
#ifndef CONFIG_KASAN_DEPOT_SIZE
#define CONFIG_KASAN_DEPOT_SIZE (8UL << 20)
#endif
#if (CONFIG_KASAN_DEPOT_SIZE) < 2048
#error "KASAN: CONFIG_KASAN_DEPOT_SIZE is less than 2 KiB"
#endif
/* Bytes that the depot takes at a time; mebibytes that kasan.depot_size= allows, a plain number, because it becomes
 * part of a string. */
#if (CONFIG_KASAN_DEPOT_SIZE) < 1048576
#define KASAN_DEPOT_IS_SMALL 1
#define KASAN_DEPOT_BLOCK    CONFIG_KASAN_PAGE_SIZE
#else
#define KASAN_DEPOT_BLOCK 65536UL
#if __SIZEOF_POINTER__ > 4
#define KASAN_DEPOT_MAX_MIB 128
#else
#define KASAN_DEPOT_MAX_MIB 8
#endif
#endif

/* Buckets of the depot's hash table, a power of two. */
#ifndef CONFIG_KASAN_DEPOT_BUCKETS
#if (CONFIG_KASAN_DEPOT_SIZE) <= 16384
#define CONFIG_KASAN_DEPOT_BUCKETS 32
#elif defined(KASAN_DEPOT_IS_SMALL)
#define CONFIG_KASAN_DEPOT_BUCKETS 256
#else
#define CONFIG_KASAN_DEPOT_BUCKETS 4096
#endif
#endif

/* Generic mode: the quarantine holds at most 1/2^N of the memory given to kasan_init() (5: 1/32), unless the boot
 * parameter kasan.quarantine_size= says otherwise. */
#ifndef CONFIG_KASAN_QUARANTINE_SHIFT
#define CONFIG_KASAN_QUARANTINE_SHIFT 5
#endif

/* Smaller addresses count as a null pointer plus an offset. */
#ifndef CONFIG_KASAN_NULL_LIMIT
#define CONFIG_KASAN_NULL_LIMIT 4096UL
#endif

/* Windowed layout: checks refuse this many bytes from address 0 on, unless a window covers them. On Cortex-M nothing
 * else stops a null pointer, because readable flash or an alias of it lies at 0. The first KiB holds vectors, which
 * only the processor reads. Set it to 0 if instrumented code reads there. */
#ifndef CONFIG_KASAN_NULL_CHECK
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define CONFIG_KASAN_NULL_CHECK 1024UL
#else
#define CONFIG_KASAN_NULL_CHECK 0UL
#endif
#endif

/* Set 0 if code is compiled without stack instrumentation (asan-stack=0). With stack instrumentation the first window
 * must cover the image, and this is checked at the start. Stacks outside the image may lie in other windows, whose
 * shadow must then have the first window's offset. */
#ifndef CONFIG_KASAN_STACK
#ifdef CONFIG_KASAN_HW_TAGS
/* The CPU checks only memory that was tagged, and no compiler tags the stack. */
#define CONFIG_KASAN_STACK 0
#else
#define CONFIG_KASAN_STACK 1
#endif
#endif

/*
 * What a small board can leave out of the runtime, Generic mode. docs/port/small-memory.md says what each takes.
 *
 * CONFIG_KASAN_SLAB=0            slab and page allocators' hooks, their objects in reports, and areas of
 *                                kasan_port_find_area(); simple heaps stay
 * CONFIG_KASAN_GLOBALS=0         the names of globals; with code that is compiled without their redzones
 * CONFIG_KASAN_STACK_OBJECTS=0   the names of stack variables; overflows are still reported CONFIG_KASAN_BUG_TYPES=0
 * what kind of bad access it is: the title says invalid-access CONFIG_KASAN_WAITING_REPORTS=0 bugs that are found
 * inside of reports: they are counted only CONFIG_KASAN_IGNORE=0          kasan.ignore= CONFIG_KASAN_START_CHECKS=0
 * the checks of kasan_window_add() and kasan_check_offset(), when the numbers are right CONFIG_KASAN_CALLBACKS=0
 * what <kasan/asan_interface.h> says of the last report, and its callbacks
 */
#if defined(CONFIG_KASAN_SHADOW_COMPACT) && !defined(CONFIG_KASAN_SLAB)
#define CONFIG_KASAN_SLAB 0
#endif
#if defined(CONFIG_KASAN_SHADOW_COMPACT) && !defined(CONFIG_KASAN_GLOBALS)
#define CONFIG_KASAN_GLOBALS 0
#endif
#ifndef CONFIG_KASAN_SLAB
#define CONFIG_KASAN_SLAB 1
#endif
#ifndef CONFIG_KASAN_GLOBALS
#define CONFIG_KASAN_GLOBALS 1
#endif
#ifndef CONFIG_KASAN_STACK_OBJECTS
#define CONFIG_KASAN_STACK_OBJECTS CONFIG_KASAN_STACK
#endif
#ifndef CONFIG_KASAN_BUG_TYPES
#define CONFIG_KASAN_BUG_TYPES 1
#endif
#ifndef CONFIG_KASAN_IGNORE
#define CONFIG_KASAN_IGNORE 1
#endif
#ifndef CONFIG_KASAN_CALLBACKS
#define CONFIG_KASAN_CALLBACKS 1
#endif
/* Bytes of a report's text that the callback of __asan_set_error_report_callback() gets, 256 or more. */
#ifndef CONFIG_KASAN_REPORT_TEXT
#if __SIZEOF_POINTER__ > 4
#define CONFIG_KASAN_REPORT_TEXT 8192
#else
#define CONFIG_KASAN_REPORT_TEXT 2048
#endif
#endif
#if CONFIG_KASAN_REPORT_TEXT < 256
#error "KASAN: CONFIG_KASAN_REPORT_TEXT is less than 256 bytes"
#endif
#ifndef CONFIG_KASAN_START_CHECKS
#define CONFIG_KASAN_START_CHECKS 1
#endif
#if defined(CONFIG_KASAN_SHADOW_COMPACT) && (CONFIG_KASAN_SLAB || CONFIG_KASAN_GLOBALS)
#error "KASAN: CONFIG_KASAN_SHADOW_COMPACT is for simple heaps: no CONFIG_KASAN_SLAB, no CONFIG_KASAN_GLOBALS"
#endif
#if !defined(CONFIG_KASAN_GENERIC) && !(CONFIG_KASAN_SLAB && CONFIG_KASAN_GLOBALS)
#error "KASAN: only CONFIG_KASAN_GENERIC can leave out CONFIG_KASAN_SLAB or CONFIG_KASAN_GLOBALS"
#endif

/* CONFIG_KASAN_RECORD=1: the first reports are also written, packed, to memory that survives a reset: <kasan/record.h>.
 * Of each trace at most CONFIG_KASAN_RECORD_FRAMES are written. */
#ifndef CONFIG_KASAN_RECORD_FRAMES
#define CONFIG_KASAN_RECORD_FRAMES 8
#endif

/* CONFIG_KASAN_PACKED_STACK=1: on s390x, the system and the runtime are compiled with -mpacked-stack, and so with
 * -msoft-float. */

/* CONFIG_KASAN_MULTI_SHOT=1: reports every bug, like the option kasan_multi_shot. A system that never calls
 * kasan_option() saves the code of all options with it. */
#ifndef CONFIG_KASAN_MULTI_SHOT
#define CONFIG_KASAN_MULTI_SHOT 0
#endif

/* CONFIG_KASAN_EXTRA_INFO: allocation and free tracks also hold the CPU and the time, and reports print them. A track
 * takes 8 bytes more, so slots and chunks grow. Not defined by default. */

#endif /* CONFIG_KASAN */
#endif /* KASAN_CONFIG_H */

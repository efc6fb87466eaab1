/* SPDX-License-Identifier: MIT */
/*
 * config.h - the options of the runtime, from those of Linux (KASAN_PORT_CONFIG_H).
 *
 * CONFIG_KASAN_GENERIC and its sisters, CONFIG_KASAN_SHADOW_OFFSET and CONFIG_KASAN_EXTRA_INFO have the same name and
 * meaning in both. Linux's autoconf.h is included before.
 */
#ifndef KASAN_LINUX_CONFIG_H
#define KASAN_LINUX_CONFIG_H

#define CONFIG_KASAN_PAGE_SIZE (1UL << CONFIG_PAGE_SHIFT)
#define CONFIG_KASAN_NR_CPUS   CONFIG_NR_CPUS
/* The first buckets are part of the image, and the depot adds more as traces come. */
#define CONFIG_KASAN_DEPOT_BUCKETS 256
/* The stacks of drivers are deep, and alike in their first six functions. With 4, a boot on arm64 with hardware tags takes 1 %
 * more instructions. The hooks of Generic mode would have to save registers for it. */
#ifndef CONFIG_KASAN_GENERIC
#define CONFIG_KASAN_NEAR_FRAMES 7
#endif
/* Linux has one guard page, and says so of any access to it. */
#define CONFIG_KASAN_NULL_LIMIT CONFIG_KASAN_PAGE_SIZE

/* The tables of Linux's ORC unwinder: orc.c. */
#if defined(CONFIG_UNWINDER_ORC) && defined(CONFIG_X86_64)
#define KASAN_PORT_HAS_WALK
#elif defined(CONFIG_X86_64) && !defined(CONFIG_FRAME_POINTER)
#error "Redzone needs CONFIG_UNWINDER_ORC=y or CONFIG_UNWINDER_FRAME_POINTER=y: its traces would have one function"
#elif defined(CONFIG_ARM_UNWIND)
/* exidx.c */
#define KASAN_PORT_HAS_EXIDX
#elif defined(CONFIG_RISCV) && !defined(CONFIG_FRAME_POINTER)
#error "Redzone needs CONFIG_FRAME_POINTER=y: it follows frames, and its traces would have one function"
#endif
#if defined(CONFIG_ARM) && !defined(CONFIG_ARM_UNWIND) && !defined(__clang__)
#error "Redzone needs CONFIG_UNWINDER_ARM=y: it does not follow the frames of GCC's -mapcs"
#endif

#ifndef CONFIG_KASAN_HW_TAGS
#define CONFIG_KASAN_SHADOW_FULL 1
/* The upper half of the address space, if nothing else is said. Addresses in it that are not mapped may have no shadow. A
 * check of such an address faults, as it does with Linux's own KASAN. */
#if defined(CONFIG_ARM64_VA_BITS)
#define CONFIG_KASAN_SHADOW_HIGH 0xffffffffffffffffUL
#define CONFIG_KASAN_SHADOW_LOW	 (-(1UL << CONFIG_ARM64_VA_BITS))
#elif defined(CONFIG_ARM)
/* The area of modules begins where the shadow ends, that of the last address. */
#define CONFIG_KASAN_SHADOW_HIGH 0xffffffffUL
#define CONFIG_KASAN_SHADOW_LOW	 (CONFIG_KASAN_SHADOW_OFFSET + (1UL << 29))
#elif defined(CONFIG_RISCV)
/* How many bits an address has is found out at boot: arch.h. */
#define CONFIG_KASAN_SHADOW_DYNAMIC 1
#elif defined(CONFIG_PPC_BOOK3S_64)
/* Linux maps the shadow late, after it has switched the MMU on, and not at all with a hash MMU: arch.h. */
#define CONFIG_KASAN_SHADOW_DYNAMIC 1
#elif defined(CONFIG_LOONGARCH)
/* Each window onto memory has a piece of its own: pieces.c. */
#define CONFIG_KASAN_SHADOW_PIECES 1
#undef CONFIG_KASAN_SHADOW_OFFSET
#elif defined(CONFIG_S390)
/* The kernel has an address space of its own, from 0 to where a fourth level of page tables ends. */
#define CONFIG_KASAN_SHADOW_LOW	  0x0UL
#define CONFIG_KASAN_SHADOW_HIGH  0x1fffffffffffffUL
#define CONFIG_KASAN_PACKED_STACK 1
#elif defined(CONFIG_X86_64)
#define CONFIG_KASAN_SHADOW_HIGH 0xffffffffffffffffUL
#if CONFIG_PGTABLE_LEVELS > 4
#define CONFIG_KASAN_SHADOW_LOW 0xff00000000000000UL
#else
#define CONFIG_KASAN_SHADOW_LOW 0xffff800000000000UL
#endif
#else
#error "Redzone does not run in Linux for this architecture"
#endif
/* Shadow of vmalloc space comes and goes with its areas, so reports look before they read. */
#define CONFIG_KASAN_SHADOW_HOLES 1
/* Linux maps shadow before it checks anything, except where it switches KASAN on late. */
#if !defined(CONFIG_KASAN_SHADOW_DYNAMIC) && !defined(CONFIG_KASAN_SHADOW_PIECES)
#define CONFIG_KASAN_SHADOW_EARLY 1
#endif
#endif

/* In Linux an option that is off is not defined. */
#ifndef CONFIG_KASAN_STACK
#define CONFIG_KASAN_STACK 0
#endif

#endif

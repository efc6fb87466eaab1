/* SPDX-License-Identifier: MIT */
/*
 * kasan.h - the hooks that a kernel, an allocator or a firmware calls: the one header to include.
 *
 *	core.h		life cycle, options, shadow, explicit checks: every system
 *	heap.h		simple heaps (malloc, free): firmware
 *	page_heap.h	simple page allocators: small kernels
 *	slab.h		caches of objects of one size: kernels
 *	pages.h		whole pages, memory pools, vmalloc, stacks, loadable modules: kernels
 *	dma.h		buffers that devices have
 *	percpu.h	variables with one copy per CPU
 *	report.h	what a port or a test does with reports
 *	record.h	reports that survive a reset
 *	hw_tags.h	setting up CPUs that have memory tags, and their faults
 *	sample.h	sampling with guard pages
 *	tag.h		pointer tags
 *
 * Unless its comment says otherwise, a function may be called in any context (interrupts on or off, any CPU, any lock
 * of the caller held but those that its own callbacks take), never sleeps, and takes only the runtime's own locks, with
 * interrupts off. In an NMI, kasan_record_aux_stack(), kasan_stack_save(), checks and reports may be called, because
 * they wait for nothing that the interrupted code holds.
 *
 * Sizes are in bytes. A "granule" is KASAN_GRANULE_SIZE bytes of memory, aligned to that size: 8 in Generic mode, 16 in
 * the tag-based modes.
 *
 * Tag-based modes: an allocator gives its users the pointer that a hook returned, and no other. It may keep free slots
 * and pages in its lists with the tag of their last user's pointer. When it hands them to kasan_slab_alloc() or
 * kasan_alloc_pages() again, the next user gets a different tag.
 *
 * C++: every declaration has C linkage. The headers compile as C11 and as C++17.
 *
 * With no mode configured every hook is an empty inline function (see hook.h), so callers need no #ifdef.
 */
#ifndef KASAN_KASAN_H
#define KASAN_KASAN_H

#include <kasan/core.h>
#include <kasan/dma.h>
#include <kasan/heap.h>
#include <kasan/hw_tags.h>
#include <kasan/page_heap.h>
#include <kasan/pages.h>
#include <kasan/percpu.h>
#include <kasan/record.h>
#include <kasan/report.h>
#include <kasan/sample.h>
#include <kasan/slab.h>

#endif /* KASAN_KASAN_H */

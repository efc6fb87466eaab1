/* SPDX-License-Identifier: MIT */
/*
 * user_mm.h - the address space of a user program: its mapped areas.
 *
 * Pages come from the page allocator when they are mapped, cleared, and go back when they are
 * unmapped or when the last user of the address space is gone. There is no paging: all pages of an area
 * exist. User addresses have no shadow; the same pages have shadow at their addresses in the linear map.
 */
#ifndef KERNEL_USER_MM_H
#define KERNEL_USER_MM_H

#include <kernel/arch.h>
#include <kernel/atomic.h>
#include <kernel/list.h>
#include <kernel/mutex.h>
#include <kernel/types.h>

struct page;

/* Values of the Linux ABI. */
#define PROT_NONE     0x0U
#define PROT_READ     0x1U
#define PROT_WRITE    0x2U
#define PROT_EXEC     0x4U
#define MAP_PRIVATE   0x02U
#define MAP_ANONYMOUS 0x20U

/* Lowest address that can be mapped, so that null pointers with an offset fault. */
#define MMAP_MIN_ADDR 0x10000UL
/* vm_mmap() without an address takes the lowest free one from here on up. */
#define MMAP_BASE 0x100000000000UL
/* The first stack ends here. Mappings without an address do not use the room below it. */
#define USER_STACK_TOP	0x800000000000UL
#define USER_STACK_SIZE (128UL * 1024)

/** struct vm_area - pages with the same rights: [@start, @end), multiples of PAGE_SIZE */
struct vm_area {
	unsigned long start, end;
	unsigned int prot;
	struct list_head list;
};

#define MM_AREAS_MAX 1024U

/**
 * struct mm_struct - an address space
 * @users: references of the tasks that use it, and others.
 * @lock: guards all members below except @pgd and @asid. Exceptions and interrupts never take it.
 * @areas: sorted by address, not overlapping.
 * @start_brk, @brk: the heap, whose end brk() moves; @brk need not be aligned.
 * @nr_areas: number of areas, at most MM_AREAS_MAX; then mapping fails.
 * @nr_pages: number of mapped pages. @nr_tables: number of page table pages.
 * @pgd, @asid: for the architecture: the top page table, and the number in its TLB entries.
 */
struct mm_struct {
	atomic_t users;
	struct mutex lock;
	struct list_head areas;
	unsigned int nr_areas;
	unsigned long start_brk, brk;
	unsigned long nr_pages, nr_tables;
	u64 *pgd;
	unsigned int asid;
};

/** mm_alloc() - make an empty address space with one reference. May sleep. Return: the address space,
 *  ERR_PTR(-ENOMEM), or ERR_PTR(-EAGAIN) if all numbers of the hardware are in use (255). */
struct mm_struct *mm_alloc(void);

static inline void mmget(struct mm_struct *mm)
{
	atomic_inc(&mm->users);
}

/** mmput() - drop a reference; the last one frees all pages and tables. */
void mmput(struct mm_struct *mm);

/** kthread_use_mm() - give @mm to the running kernel thread, which has no address space, with a reference.
 *  kthread_unuse_mm() or the end of the thread drops it. */
void kthread_use_mm(struct mm_struct *mm);
void kthread_unuse_mm(struct mm_struct *mm);

/** exit_mm() - the running task gives up its address space, if it has one. */
void exit_mm(void);

/**
 * mm_map() - map fresh, cleared pages
 * @start: page aligned, at least MMAP_MIN_ADDR; 0: the lowest free address from MMAP_BASE on.
 * @size: bytes, rounded up to pages.
 * @prot: PROT_*; writable or executable memory is also readable, and PROT_NONE takes no pages.
 *
 * May sleep. Return: the address; or, with nothing changed, -EINVAL: not a range in user space; -EEXIST: a
 * part is mapped already; -ENOMEM.
 */
long mm_map(struct mm_struct *mm, unsigned long start, size_t size, unsigned int prot);

/** mm_unmap() - unmap all pages in [@start, @start + @size); @start is page aligned, @size is rounded up to
 *  pages. Return: 0; or, with nothing changed, -EINVAL: not a range in user space; -ENOMEM: no memory to cut
 *  an area in two. */
int mm_unmap(struct mm_struct *mm, unsigned long start, size_t size);

/** user_pgtable_entry() - Return: the entry of the page tables for the page at @va, below TASK_SIZE; 0 if there is none. Takes no
 *  lock: the tables of an address space that runs stay. */
u64 user_pgtable_entry(struct mm_struct *mm, unsigned long va);

/** mm_brk() - move the end of the heap to @brk. Return: the new end; after a failure the old one. */
unsigned long mm_brk(struct mm_struct *mm, unsigned long brk);

/** mm_write() - write into mapped pages of any address space, with or without the program's right to write. Written code
 *  can be executed afterwards. Return: 0, or -EFAULT if part of the range is not mapped. */
int mm_write(struct mm_struct *mm, unsigned long to, const void *from, size_t n);

/** vm_mmap() - mm_map() in the address space of the running task, with the arguments of mmap(2). @file
 *  is NULL and @flags are MAP_PRIVATE | MAP_ANONYMOUS; @addr must be 0. vm_munmap() is the reverse. */
unsigned long vm_mmap(void *file, unsigned long addr, size_t size, unsigned long prot,
		      unsigned long flags, unsigned long offset);
int vm_munmap(unsigned long addr, size_t size);

/** user_pages_in_use(), user_tables_in_use() - Return: number of mapped pages, and of page table pages, in
 *  all address spaces. */
unsigned long user_pages_in_use(void);
unsigned long user_tables_in_use(void);

#endif

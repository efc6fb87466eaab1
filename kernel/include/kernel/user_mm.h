/* SPDX-License-Identifier: MIT */
/*
 * user_mm.h - the address space of a user program: what is mapped where.
 *
 * Pages come from the page allocator when they are mapped, cleared, and go back when they are
 * unmapped or when the last user of the address space is gone. There is no paging: what an area may
 * hold is there. User addresses have no shadow; the same pages seen through the linear map do.
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

/* Below nothing is ever mapped, so that null pointers with an offset fault. */
#define MMAP_MIN_ADDR 0x10000UL
/* vm_mmap() without an address takes the lowest free one from here on. */
#define MMAP_BASE 0x100000000000UL
/* The first stack ends here; below it is room that no other mapping takes by itself. */
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
 * @users: references: tasks that use it, and whoever else holds one.
 * @lock: guards everything below but @pgd and @asid. Never taken by an exception or an interrupt.
 * @areas: by address, not overlapping.
 * @start_brk, @brk: the heap that brk() moves the end of; @brk need not be aligned.
 * @nr_areas: how many, at most MM_AREAS_MAX; then mapping fails.
 * @nr_pages: pages mapped; @nr_tables: pages of page tables.
 * @pgd, @asid: the architecture's: top page table, and the number that its TLB entries carry.
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

/** mm_alloc() - an empty address space with one reference. May sleep. Return: ERR_PTR(-ENOMEM), or
 *  ERR_PTR(-EAGAIN) if there are as many as the hardware has numbers for (255). */
struct mm_struct *mm_alloc(void);

static inline void mmget(struct mm_struct *mm)
{
	atomic_inc(&mm->users);
}

/** mmput() - drop a reference; the last one frees all pages and tables. */
void mmput(struct mm_struct *mm);

/** kthread_use_mm() - the running kernel thread, which has no address space, gets @mm as its own, with
 *  a reference that kthread_unuse_mm() or the end of the thread gives up. */
void kthread_use_mm(struct mm_struct *mm);
void kthread_unuse_mm(struct mm_struct *mm);

/** exit_mm() - the running task gives up its address space, if it has one. */
void exit_mm(void);

/**
 * mm_map() - map fresh, cleared pages
 * @start: page aligned, at least MMAP_MIN_ADDR; 0: the lowest free address from MMAP_BASE on.
 * @size: bytes, rounded up to pages.
 * @prot: PROT_*; memory that may be written or executed may be read, and PROT_NONE takes no pages.
 *
 * May sleep. Return: the address; or -EINVAL: no such range in user space; -EEXIST: something is
 * mapped there; -ENOMEM, with nothing changed.
 */
long mm_map(struct mm_struct *mm, unsigned long start, size_t size, unsigned int prot);

/** mm_unmap() - unmap what is mapped in [@start, @start + @size); @start page aligned, @size rounded up
 *  to pages. Return: 0; -EINVAL: no such range in user space; -ENOMEM: an area would have to be cut in
 *  two and there is no memory for the second half, nothing changed. */
int mm_unmap(struct mm_struct *mm, unsigned long start, size_t size);

/** mm_brk() - move the end of the heap to @brk. Return: where the end then is; on failure where it was. */
unsigned long mm_brk(struct mm_struct *mm, unsigned long brk);

/** mm_write() - write into mapped pages, whatever rights the program has on them, of any address
 *  space; mm_read() the reverse. Code that is written can be executed afterwards. Return: 0 or -EFAULT
 *  if part of the range is not mapped. */
int mm_write(struct mm_struct *mm, unsigned long to, const void *from, size_t n);
int mm_read(struct mm_struct *mm, void *to, unsigned long from, size_t n);

/** vm_mmap() - mm_map() in the address space of the running task, with the arguments of mmap(2). @file
 *  is NULL and @flags are MAP_PRIVATE | MAP_ANONYMOUS; @addr must be 0. vm_munmap() is the reverse. */
unsigned long vm_mmap(void *file, unsigned long addr, size_t size, unsigned long prot,
		      unsigned long flags, unsigned long offset);
int vm_munmap(unsigned long addr, size_t size);

/** user_pages_in_use(), user_tables_in_use() - pages mapped and pages of tables, of all address
 *  spaces. */
unsigned long user_pages_in_use(void);
unsigned long user_tables_in_use(void);

#endif

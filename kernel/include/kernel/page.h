/* SPDX-License-Identifier: MIT */
/*
 * page.h - struct page, one for every 4 KiB of RAM, and how addresses, frame numbers and
 * descriptors map to each other.
 */
#ifndef KERNEL_PAGE_H
#define KERNEL_PAGE_H

#include <asm/memory.h>
#include <kasan/kasan.h>
#include <kernel/list.h>
#include <kernel/rcupdate.h>
#include <kernel/types.h>

/* Bits of page->flags. Only the owner of a page changes them; that is the allocator while the page is free. */
enum pageflags {
	PG_reserved, /* never given to the page allocator: kernel image, boot allocations, holes */
	PG_buddy,    /* head of a free block; page->order is valid */
	PG_pcp,	     /* free, in a CPU's own list */
	PG_head,     /* head of an allocated block of more than one page */
	PG_tail,     /* another page of such a block; page->head is valid */
	PG_slab,     /* head of a slab; page->slab_cache and its neighbours are valid */
	PG_large,    /* head of a large kmalloc(); page->large is valid */
	PG_large_freed, /* was head of a large kmalloc() until it was freed; page->large still has both stacks */
	PG_quarantine, /* head of a freed block in the quarantine; page->nr is valid */
	PG_lead, /* head of a large kmalloc(), now or before: its first page is a redzone, and the object begins after it */
	PG_redzone, /* after the block page->head, and no one's (page_redzone.c) */
	NR_PAGEFLAGS,
};

struct slab_bitmap;

/**
 * struct page - descriptor of a page
 * @flags: bits PG_*; in the tag-based modes also the tag of pointers to the page, see page_kasan_tag().
 * @refcount: references to the block, at its head; 0: free.
 * @order: head of a free block: its order.
 * @nr: head of an allocated block: number of its pages.
 * @lru: link in a buddy list, a CPU's list or a cache's list of slabs.
 * @rcu_head: slab of a type-safe cache that is in no list: frees it after a grace period.
 * @slab_cache: slab: the cache it belongs to.
 * @freelist: slab (slub): its free slots, except those that a CPU has taken into its own list.
 * @bitmap: slab (slab): which of its slots are free.
 * @inuse: slab: number of slots that are not in @freelist.
 * @objects: slab: number of all slots.
 * @large: large kmalloc: the stacks that allocated and freed it.
 * @head: tail page: the block's head.
 * @first_slot: slab: its first slot.
 * @not_head: room for @slab_cache and others, which tail pages do not have.
 *
 * It has 64 bytes, so that an array of them wastes no cache line. That is 1.6 % of RAM.
 */
struct page {
	unsigned long flags;
	int refcount;
	union {
		unsigned int order;
		unsigned int nr;
	};
	union {
		struct list_head lru;
		struct rcu_head rcu_head;
	};
	union {
		struct {
			struct kmem_cache *slab_cache;
			union {
				void *freelist;
				struct slab_bitmap *bitmap;
			};
			u16 inuse;
			u16 objects;
			void *first_slot;
		};
		struct kasan_large_meta large;
		struct {
			u64 not_head[3];
			struct page *head;
		};
	};
};

/* mem_map[] describes the frames [min_pfn, max_pfn); holes between banks are PG_reserved. */
extern struct page *mem_map;
extern unsigned long min_pfn, max_pfn;

/**
 * struct linear_ram - the same, for addresses that may not be in the linear map
 * @start: address of the first page in the linear map. @bytes: extent of RAM that mem_map[] describes.
 * @pages: mem_map. @base: what page_to_virt() adds to a descriptor's address, which it multiplies: that is
 *	faster than the way over the number of the frame.
 *
 * The members are side by side, because every kfree() reads them.
 */
extern struct linear_ram {
	unsigned long start, bytes;
	struct page *pages;
	unsigned long base;
} linear_ram;

static inline bool page_flag(const struct page *page, enum pageflags bit)
{
	return READ_ONCE(page->flags) & BIT(bit);
}

static inline void page_set_flag(struct page *page, enum pageflags bit)
{
	WRITE_ONCE(page->flags, page->flags | BIT(bit));
}

static inline void page_clear_flag(struct page *page, enum pageflags bit)
{
	WRITE_ONCE(page->flags, page->flags & ~BIT(bit));
}

#define PageReserved(page) page_flag((page), PG_reserved)
#define PageBuddy(page)	   page_flag((page), PG_buddy)
#define PageTail(page)	   page_flag((page), PG_tail)
#define PageSlab(page)	   page_flag((page), PG_slab)
#define PageLarge(page)	   page_flag((page), PG_large)

/** pfn_valid() - Return: true if mem_map[] describes frame @pfn. */
static inline bool pfn_valid(unsigned long pfn)
{
	return pfn >= min_pfn && pfn < max_pfn;
}

static inline struct page *pfn_to_page(unsigned long pfn)
{
	return mem_map + (pfn - min_pfn);
}

static inline unsigned long page_to_pfn(const struct page *page)
{
	return (unsigned long)(page - mem_map) + min_pfn;
}

static inline phys_addr_t page_to_phys(const struct page *page)
{
	return (phys_addr_t)page_to_pfn(page) << PAGE_SHIFT;
}

static inline struct page *phys_to_page(phys_addr_t pa)
{
	return pfn_to_page((unsigned long)(pa >> PAGE_SHIFT));
}

/** page_to_virt() - Return: the page's address in the linear map, without a tag. For the allocators. */
static inline void *page_to_virt(const struct page *page)
{
	/* With CPU and time in tracks the size of a descriptor is not a power of two. */
	if (PAGE_SIZE % sizeof(*page))
		return (void *)(linear_ram.start +
				((unsigned long)(page - linear_ram.pages) << PAGE_SHIFT));
	return (void *)(linear_ram.base + (unsigned long)page * (PAGE_SIZE / sizeof(*page)));
}

/** large_lead(), large_start() - Return: bytes before a large kmalloc() with the head @head, live or freed; its address,
 *  without a tag. */
static inline size_t large_lead(const struct page *head)
{
	return page_flag(head, PG_lead) ? PAGE_SIZE : 0;
}
static inline void *large_start(const struct page *head)
{
	return (char *)page_to_virt(head) + large_lead(head);
}

/** virt_to_page() - Return: descriptor of the page at @addr, in the linear map, see virt_addr_valid(). */
static inline struct page *virt_to_page(const void *addr)
{
	return phys_to_page((phys_addr_t)__pa(addr));
}

/** compound_head() - Return: head of the allocated block that @page belongs to, @page itself if it is
 *  the head or not allocated. */
static inline struct page *compound_head(struct page *page)
{
	return PageTail(page) ? page->head : page;
}

/*
 * page_kasan_tag(), page_kasan_tag_set() - tag of pointers to an allocated page; for a free page the tag of
 * its last user. The flags hold it inverted, so that zero bits mean KASAN_TAG_KERNEL. _set() is for a block
 * of @nr pages.
 */
#ifdef CONFIG_KASAN_TAGS
#define PAGE_KASAN_TAG_SHIFT 56
#define PAGE_KASAN_TAG_MASK  (0xffUL << PAGE_KASAN_TAG_SHIFT)

static inline u8 page_kasan_tag(const struct page *page)
{
	return (u8) ~(READ_ONCE(page->flags) >> PAGE_KASAN_TAG_SHIFT);
}

static inline void page_kasan_tag_set(struct page *page, unsigned int nr, u8 tag)
{
	const unsigned long bits = (unsigned long)(u8)~tag << PAGE_KASAN_TAG_SHIFT;
	const struct page *end = page + nr;

	do
		WRITE_ONCE(page->flags, (page->flags & ~PAGE_KASAN_TAG_MASK) | bits);
	while (++page != end);
}
#else
#define PAGE_KASAN_TAG_MASK 0UL

static inline u8 page_kasan_tag(const struct page *page)
{
	return 0xff;
}

static inline void page_kasan_tag_set(struct page *page, unsigned int nr, u8 tag)
{
}
#endif

/** page_address() - Return: the address of an allocated page in the linear map, with the tag for its user. */
static inline void *page_address(const struct page *page)
{
	return kasan_set_tag(page_to_virt(page), page_kasan_tag(page));
}

static inline struct page *virt_to_head_page(const void *addr)
{
	return compound_head(virt_to_page(addr));
}

/** ram_head_page() - Return: head of the block that @addr lies in; NULL if it is not in the linear map of
 *  RAM. @addr may have any value. */
static inline struct page *ram_head_page(const void *addr)
{
	unsigned long offset = kasan_untag_addr((unsigned long)addr) - linear_ram.start;
	struct page *head;

	if (unlikely(offset >= linear_ram.bytes))
		return NULL;
	head = compound_head(&linear_ram.pages[offset >> PAGE_SHIFT]);
	/* So callers do not look again. */
	if (!head)
		__builtin_unreachable();
	return head;
}

/** page_size() - Return: bytes of the allocated block with the head @head. */
static inline size_t page_size(const struct page *head)
{
	return (size_t)head->nr << PAGE_SHIFT;
}

static inline int page_count(const struct page *page)
{
	return __atomic_load_n(&page->refcount, __ATOMIC_RELAXED);
}

/** get_page() - take one more reference to the block; put_page() drops it, and the last one frees the block. */
static inline void get_page(struct page *page)
{
	__atomic_fetch_add(&compound_head(page)->refcount, 1, __ATOMIC_RELAXED);
}
void put_page(struct page *page);

#endif /* KERNEL_PAGE_H */

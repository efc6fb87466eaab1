/* SPDX-License-Identifier: MIT */
/*
 * kasan.h - the hooks that a kernel, an allocator or a firmware calls.
 *
 * Unless a function says otherwise it may be called in any context (interrupts on or off, any CPU,
 * any lock of the caller held), never sleeps, and takes only locks of its own with interrupts off.
 * Sizes are in bytes. A "granule" is KASAN_GRANULE_SIZE bytes of memory, aligned: 8 in Generic mode, 16 in
 * the tag-based modes, where it also is what "aligned to 8" below means.
 *
 * Tag-based modes: an allocator gives its users the pointer that a hook returned, and no other. It may keep
 * free slots and pages in its lists with whatever tag their last user's pointer had: handed back to
 * kasan_slab_alloc() or kasan_alloc_pages(), that is the tag that the next user will not get.
 *
 * With no mode configured every hook is an empty inline function, so callers need no #ifdef.
 */
#ifndef KASAN_KASAN_H
#define KASAN_KASAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kasan/config.h>
#include <kasan/hw_tags.h>
#include <kasan/tag.h>

#ifdef CONFIG_KASAN_TAGS
/* Memory that no pointer may touch has one tag, whatever the reason: reports tell them apart by other means. */
#define KASAN_PAGE_FREE	      KASAN_TAG_INVALID
#define KASAN_PAGE_REDZONE    KASAN_TAG_INVALID
#define KASAN_SLAB_REDZONE    KASAN_TAG_INVALID
#define KASAN_SLAB_FREE	      KASAN_TAG_INVALID
#define KASAN_VMALLOC_INVALID KASAN_TAG_INVALID
#else
/* --- Shadow values of Generic mode -------------------------------------------------------------
 * 00: all 8 bytes accessible; 01..07: the first N; negative: none, and why. F1-F3, F8 and CA, CB are
 * written or named by the compilers (their ABI); the others are the field's own.
 */
#define KASAN_PAGE_FREE		0xFF /* page given back to the page allocator */
#define KASAN_PAGE_REDZONE	0xFE /* behind a large allocation, up to the end of its pages */
#define KASAN_SLAB_REDZONE	0xFC /* slab memory that no object owns */
#define KASAN_SLAB_FREE		0xFB /* freed slab object */
#define KASAN_SLAB_FREE_META	0xFA /* same, and its first bytes hold a valid kasan_free_meta */
#define KASAN_GLOBAL_REDZONE	0xF9
#define KASAN_STACK_AFTER_SCOPE 0xF8 /* compiler */
#define KASAN_VMALLOC_INVALID	0xF7 /* vmalloc space that no area owns */
#define KASAN_HEAP_LEFT_REDZONE 0xF6 /* simple heap: before the object */
#define KASAN_STACK_LEFT	0xF1 /* compiler */
#define KASAN_STACK_MID		0xF2 /* compiler */
#define KASAN_STACK_RIGHT	0xF3 /* compiler */
#define KASAN_ALLOCA_LEFT	0xCA
#define KASAN_ALLOCA_RIGHT	0xCB
#endif

/* --- What is tracked of an object ---------------------------------------------------------------- */

/**
 * struct kasan_track - who did it, and with CONFIG_KASAN_EXTRA_INFO where and when
 * @pid: task number. @stack: stack depot handle, 0: none.
 * @cpu: number of the CPU. @when: kasan_port_clock() in units of 256 ns, which lasts for 52 days.
 */
struct kasan_track {
	uint32_t pid;
	uint32_t stack;
#ifdef CONFIG_KASAN_EXTRA_INFO
	uint64_t cpu : 20;
	uint64_t when : 44;
#endif
};
#define KASAN_TRACK_CLOCK_SHIFT 8

/** struct kasan_alloc_meta - lives in an object's redzone while the slot exists */
struct kasan_alloc_meta {
	struct kasan_track alloc;
	uint32_t aux_stack[2]; /* last two related work creations, newest first */
	uint32_t size;	       /* bytes asked for at the last allocation */
	uint32_t flags;	       /* KASAN_META_* */
};

/** struct kasan_free_meta - overlays a freed object's first bytes, or sits in its redzone */
struct kasan_free_meta {
	uintptr_t check; /* of @free and the object's address: a write after the free shows */
	struct kasan_track free;
};

/** struct kasan_large_meta - tracks of one page-level allocation; the port keeps it beside the
 *  page's own descriptor, zeroed when the page is first created */
struct kasan_large_meta {
	struct kasan_track alloc;
	struct kasan_track free;
	size_t size;
	uint32_t aux_stack[2]; /* last two related work creations, newest first */
};

/* --- Caches (slab allocators) ---------------------------------------------------------------------- */

#define KASAN_CACHE_NO_FREE_META_IN_OBJECT \
	1U /* constructor or RCU: a free object keeps its bytes */
#define KASAN_CACHE_NO_QUARANTINE \
	2U			    /* slots must be released at once (SLAB_TYPESAFE_BY_RCU
						 objects are neither poisoned nor delayed) */
#define KASAN_CACHE_KMALLOC	 4U /* size class: objects smaller than object_size are usual */
#define KASAN_CACHE_RELEASE_BULK 8U /* @release_bulk is given */
/* The allocator never writes into a free slot: who freed its object stays known until it is used again. */
#define KASAN_CACHE_LEAVES_FREE 16U

#define KASAN_NO_FREE_META UINT32_MAX

/**
 * struct kasan_cache - what the runtime knows of one cache; the port embeds it in its own descriptor
 * @name: for reports; must outlive the cache.
 * @object_size: usable bytes of an object.
 * @slot_size: distance of two objects, redzone and metadata included.
 * @alloc_meta_offset: of struct kasan_alloc_meta, from the object's start.
 * @free_meta_offset: of struct kasan_free_meta, or KASAN_NO_FREE_META.
 * @flags: KASAN_CACHE_*.
 * @release: gives a slot back to the allocator when the quarantine lets go of it. Called in any
 *	context that frees, interrupts on or off, no runtime lock held.
 * @release_bulk: optional, with KASAN_CACHE_RELEASE_BULK in @flags: the same for @count slots at once,
 *	as many as come out of the quarantine together; cheaper where the allocator takes a lock.
 */
struct kasan_cache {
	const char *name;
	uint32_t object_size;
	uint32_t slot_size;
	uint32_t alloc_meta_offset;
	uint32_t free_meta_offset;
	uint32_t flags;
	void (*release)(struct kasan_cache *cache, void *object);
	void (*release_bulk)(struct kasan_cache *cache, void *const *objects, size_t count);
};

enum kasan_object_kind {
	KASAN_OBJECT_NONE,
	KASAN_OBJECT_SLAB,  /* slot of a kasan_cache */
	KASAN_OBJECT_LARGE, /* page-level kmalloc */
	KASAN_OBJECT_HEAP,  /* chunk of a kasan_heap */
};

/**
 * struct kasan_object - an object as kasan_port_find_object() describes it
 * @kind: which members are valid.
 * @cache: SLAB: its cache.
 * @start: first byte of the object (not of its slot's redzone).
 * @size: LARGE and HEAP: bytes asked for; SLAB: ignored (the runtime knows better).
 * @large: LARGE: its tracks, may be NULL.
 * @name: LARGE and HEAP: name of the allocator or heap for the report, may be NULL.
 */
struct kasan_object {
	enum kasan_object_kind kind;
	struct kasan_cache *cache;
	void *start;
	size_t size;
	struct kasan_large_meta *large;
	const char *name;
};

/** struct kasan_area - a vmalloc area. @start, @size: without guard pages. @caller: code address that
 *  asked for it, 0 if unknown. */
struct kasan_area {
	uintptr_t start;
	size_t size;
	uintptr_t caller;
};

enum kasan_free_verdict {
	KASAN_FREE_NOW,		/* the allocator releases the slot now */
	KASAN_FREE_QUARANTINED, /* the runtime keeps it and calls @release later */
	KASAN_FREE_BAD, /* reported: double or invalid free; the allocator must not touch it */
};

/* --- Reports ----------------------------------------------------------------------------------------- */

/** struct kasan_report_info - summary of one report, for hooks and tests */
struct kasan_report_info {
	const char *bug_type; /* "slab-out-of-bounds", ... */
	uintptr_t addr;	      /* of the access or free, in tag modes with the tag of the pointer */
	size_t size;	      /* of the access, 0 for a free */
	bool is_write;
	bool is_free;
	bool is_async; /* hardware tags: some access, some time before; @addr and @size are 0 */
	uintptr_t ip;  /* code address of the access */
};

#ifdef CONFIG_KASAN

/* --- Life cycle and options ---------------------------------------------------------------------- */

/**
 * kasan_init() - start reporting
 * @memory: bytes of memory under management; the quarantine's bound is 1/32 of it
 *	(CONFIG_KASAN_QUARANTINE_SHIFT).
 *
 * Call once, on the boot CPU, after real shadow is in place. Before it a failed check is ignored.
 */
void kasan_init(size_t memory);

/**
 * kasan_option() - set one option by its boot parameter name
 * @name: "kasan.fault", "kasan_multi_shot", "kasan.stacktrace", ...
 * @value: its text; NULL if the parameter came without "=".
 *
 * Parameters of every mode are known in every build. "kasan=off" before kasan_init() is for good: see
 * kasan_on().
 *
 * Return: 0; KASAN_OPTION_NO_EFFECT: name and value are right, but for another mode than this build's;
 * KASAN_OPTION_UNKNOWN: no such name; KASAN_OPTION_INVALID: value not accepted, the option keeps what it had
 * (kasan_option_values() says what would be).
 */
int kasan_option(const char *name, const char *value);
#define KASAN_OPTION_NO_EFFECT 1
#define KASAN_OPTION_UNKNOWN   (-1)
#define KASAN_OPTION_INVALID   (-2)

/** kasan_option_values() - Return: accepted values of option @name as text, "report|panic", or
 *  NULL if there is no such option. */
const char *kasan_option_values(const char *name);

/** kasan_options() - the table of options. @count: filled. Each has a name, values, one line of help, the value
 *  without the parameter, and the modes in which it does something. */
struct kasan_option_doc {
	const char *name, *values, *help, *fallback, *modes;
};
const struct kasan_option_doc *kasan_options(size_t *count);

/** kasan_enabled() - Return: true between kasan_init() and a stop. */
bool kasan_enabled(void);

/**
 * kasan_on() - Return: false if kasan=off was given before kasan_init()
 *
 * Then the hooks of slabs, pages, vmalloc areas and pools return at once, as in a kernel without KASAN, and
 * allocators need no redzones and no room for metadata. It does not change after kasan_init(), so it may decide how memory is laid out.
 */
extern bool kasan_hooks_off;
static inline bool kasan_on(void)
{
	return __builtin_expect(!kasan_hooks_off, 1);
}

/* --- Shadow ----------------------------------------------------------------------------------------- */

#ifdef CONFIG_KASAN_SHADOW_WINDOWED
/**
 * kasan_window_add() - give a range of memory its shadow
 * @start: first byte, aligned to 8.
 * @size: bytes, a multiple of 8.
 * @shadow: @size / 8 bytes, outside the range; zeroed here.
 *
 * The first window is the one that inline checks and stack instrumentation use: its shadow must lie
 * at (start >> 3) + CONFIG_KASAN_SHADOW_OFFSET where that is defined.
 *
 * Return: NULL, or a message that says what is wrong and which number would be right.
 */
const char *kasan_window_add(uintptr_t start, size_t size, void *shadow);
#endif

/**
 * kasan_check_offset() - does instrumented code see the shadow where the runtime keeps it?
 *
 * Call it from an instrumented file once shadow is in place (after kasan_window_add()), and stop with
 * its message if there is one: a wrong offset shows in no other way than as strange behaviour.
 * CONFIG_KASAN_STACK=0 leaves out what needs stack instrumentation.
 *
 * Return: NULL if all is well or the caller is not instrumented; else what is wrong and which number
 * would be right.
 */
#ifdef CONFIG_KASAN_GENERIC
const char *kasan_probe_begin(const volatile void *object, size_t size, bool has_redzones);
const char *kasan_probe_end(const volatile void *object);
#endif

#if !defined(CONFIG_KASAN_GENERIC)
/* Tag checks of compiled code are proven by the first tagged access that is refused, not by a probe. */
#elif defined(__SANITIZE_ADDRESS__)
#define KASAN_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KASAN_INSTRUMENTED 1
#endif
#endif

static __attribute__((__noinline__, __unused__)) const char *kasan_check_offset(void)
{
#ifdef KASAN_INSTRUMENTED
	char object[16] __attribute__((__aligned__(8)));
	volatile char *touched = object;
	const char *wrong;

	/* The compiler must not know what is touched: it would prove that no check is needed. */
	__asm__ volatile("" : "+r"(touched) : : "memory");
	wrong = kasan_probe_begin(touched, sizeof(object), CONFIG_KASAN_STACK);
	if (wrong)
		return wrong;
	(void)touched[0];
	return kasan_probe_end(touched);
#else
	return NULL;
#endif
}

/** kasan_shadow_of() - Return: the shadow byte's address of @addr, NULL where there is none (with HW_TAGS
 *  nowhere). */
uint8_t *kasan_shadow_of(const void *addr);

/** kasan_memory_state() - what a report would print of the granule at @addr: its shadow byte or its
 *  memory tag. @state: filled. Return: false if it has none. */
bool kasan_memory_state(const void *addr, uint8_t *state);

/** kasan_poison() - make [@addr, @addr + @size) inaccessible. @addr aligned to 8, @size a multiple of
 *  8, all of it with shadow; @value: KASAN_* above, in tag modes the tag that the memory gets. */
void kasan_poison(const void *addr, size_t size, uint8_t value);

/** kasan_unpoison() - make [@addr, @addr + @size) accessible to the byte: the rest of the last
 *  granule becomes inaccessible. @addr aligned to 8. In tag modes accessible to pointers with @addr's
 *  tag; HW_TAGS to the granule only. */
void kasan_unpoison(const void *addr, size_t size);

/** kasan_poison_tail() - poison what follows an object inside [@addr, @addr + @span): the first
 *  @size bytes stay (or become) accessible, the rest gets @value. @addr, @span aligned to 8. */
void kasan_poison_tail(const void *addr, size_t size, size_t span, uint8_t value);

/* What is about to be written need not be initialised: GCC takes a pointer to const for a read. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define KASAN_READS_NOTHING __attribute__((__access__(__none__, 1)))
#else
#define KASAN_READS_NOTHING
#endif

/* --- Explicit checks -------------------------------------------------------------------------------- */

/** kasan_check_read(), kasan_check_write() - report if [@addr, @addr + @size) is not all accessible.
 *  Return: true if it is. For uninstrumented code that touches memory for somebody. */
bool kasan_check_read(const volatile void *addr, size_t size);
KASAN_READS_NOTHING bool kasan_check_write(const volatile void *addr, size_t size);

/** kasan_check_byte() - Return: true if the byte at @addr is accessible; reports if not. */
bool kasan_check_byte(const void *addr);

/** kasan_byte_accessible() - the same without a report. */
bool kasan_byte_accessible(const void *addr);

/** kasan_report_fault() - report an access that the MMU refused (null, user, wild)
 *  @addr: address of the access; @size: bytes, 0 if not known; @ip: code address of the access;
 *  @fp: frame pointer there, for the call trace, 0 if unknown.
 *  Return: true if a report was printed. */
bool kasan_report_fault(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

#ifdef CONFIG_KASAN_TAGS
/** kasan_report_tag_mismatch() - report an access whose check by tags failed, for the handler of an inline
 *  check's trap or of the CPU's tag check fault
 *  @addr: of the access, with its tag. @ip: code address behind the instruction. The others as above. */
bool kasan_report_tag_mismatch(uintptr_t addr, size_t size, bool is_write, uintptr_t ip,
			       uintptr_t fp);
#endif

/** kasan_disable_current(), kasan_enable_current() - bad accesses and frees of the running task are not
 *  reported in between; they take place. The two nest, and the task may sleep, be preempted and move to
 *  another CPU. Other tasks and interrupt handlers are reported as ever, and so is all that the task makes
 *  others do. Without kasan_port_task_depth() the silence is that of the CPU: do not let it schedule. */
void kasan_disable_current(void);
void kasan_enable_current(void);

/* --- Slab objects ----------------------------------------------------------------------------------- */

/**
 * kasan_cache_create() - lay out a cache's redzones and metadata
 * @cache: name, object_size, flags and release filled by the caller; the rest is filled here.
 * @align: alignment of objects, a power of two of at least 8.
 *
 * Return: the slot size to use, a multiple of @align.
 */
uint32_t kasan_cache_create(struct kasan_cache *cache, uint32_t align);

/** kasan_poison_slab() - pages become a slab: all of it is redzone until objects are handed out. */
void kasan_poison_slab(const void *slab, size_t size);

/** kasan_init_slab_object() - a slot of a new slab exists: clear its metadata. The slot's memory is
 *  writable to the runtime, contents undefined. */
void kasan_init_slab_object(struct kasan_cache *cache, void *object);

/** kasan_init_slab_slot() - the same. Return: the pointer that the allocator shall keep in its list and hand
 *  to a constructor: in tag modes objects of a cache with constructor or RCU readers have one tag as long as
 *  their slab exists, because they may contain pointers to themselves. */
#ifdef CONFIG_KASAN_TAGS
void *kasan_init_slab_slot(struct kasan_cache *cache, void *object);
#else
static inline void *kasan_init_slab_slot(struct kasan_cache *cache, void *object)
{
	kasan_init_slab_object(cache, object);
	return object;
}
#endif

/** kasan_unpoison_object(), kasan_poison_object() - let a constructor into a slot that is not
 *  allocated, and shut it again as redzone. */
void kasan_unpoison_object(struct kasan_cache *cache, void *object);
void kasan_poison_object(struct kasan_cache *cache, void *object);

/**
 * kasan_slab_alloc() - an object is handed out
 * @object: its address; NULL is passed through. Tag modes: with the tag that its last user's pointer had,
 *	0xFF if that is not known.
 * @size: bytes asked for, at most @cache->object_size; the slack behind them becomes redzone.
 *
 * Records the allocation stack of the caller. Return: the pointer to give to the user.
 */
void *kasan_slab_alloc(struct kasan_cache *cache, void *object, size_t size);

/**
 * kasan_has_integrated_init() - is clearing memory while it is tagged cheaper than afterwards?
 *
 * If so the allocator asks kasan_slab_alloc_init(), kasan_alloc_pages_init() and kasan_unpoison_vmalloc_init()
 * for memory that shall read as zero, @init true, and does not clear it itself. They clear only if this is
 * true: objects to the end of the granule that their last byte is in, areas to the end of their last page.
 */
#ifdef CONFIG_KASAN_HW_TAGS
bool kasan_has_integrated_init(void);
void *kasan_slab_alloc_init(struct kasan_cache *cache, void *object, size_t size, bool init);
void *kasan_alloc_pages_init(const void *addr, size_t size, bool init);
void *kasan_unpoison_vmalloc_init(const void *start, size_t size, bool init);
#else
static inline bool kasan_has_integrated_init(void)
{
	return false;
}
#define kasan_slab_alloc_init(cache, object, size, init) kasan_slab_alloc((cache), (object), (size))
#define kasan_alloc_pages_init(addr, size, init)	 kasan_alloc_pages((addr), (size))
#define kasan_unpoison_vmalloc_init(start, size, init)	 kasan_unpoison_vmalloc((start), (size))
#endif

/** kasan_slab_realloc() - the object stays and now has @size bytes. */
void *kasan_slab_realloc(struct kasan_cache *cache, void *object, size_t size);

/**
 * kasan_slab_free() - an object comes back
 * @object: the pointer that the user gave.
 * @base: start of the slot that holds @object, as the allocator knows it.
 * @ip: code address that frees, for the report.
 *
 * Checks for double and invalid frees, poisons, records the stack, queues.
 *
 * Return: what the allocator must do with the slot.
 */
enum kasan_free_verdict kasan_slab_free(struct kasan_cache *cache, void *object, void *base,
					uintptr_t ip);

/**
 * kasan_slab_free_deferred() - nobody can look any more at an object of a KASAN_CACHE_NO_QUARANTINE
 *	cache that kasan_slab_free() let go with KASAN_FREE_NOW
 * @object: freed, and not handed out since.
 *
 * For allocators that hold such objects back until their readers have left (SLAB_TYPESAFE_BY_RCU):
 * only now it is poisoned and queued.
 *
 * Return: as kasan_slab_free(), but never KASAN_FREE_BAD.
 */
enum kasan_free_verdict kasan_slab_free_deferred(struct kasan_cache *cache, void *object);

/** kasan_report_invalid_free() - the allocator found that @addr is no object of its own. */
void kasan_report_invalid_free(const void *addr, uintptr_t ip);
/** kasan_report_double_free() - it knows that @addr was freed before. @ip: who frees it, 0: the caller. */
void kasan_report_double_free(const void *addr, uintptr_t ip);

/** kasan_record_aux_stack() - remember the current stack as work created for the object at @addr. */
void kasan_record_aux_stack(const void *addr);

/** kasan_cache_shrink() - release all that the quarantine holds of @cache, or of every cache if NULL.
 *  Call before a cache is destroyed. Other CPUs' queues are emptied too; may take long. */
void kasan_cache_shrink(struct kasan_cache *cache);

/** kasan_object_size() - Return: bytes asked for when the live object at @object of @cache was
 *  allocated. Unpoisons nothing. */
size_t kasan_object_size(struct kasan_cache *cache, const void *object);

/* --- Whole pages ------------------------------------------------------------------------------------ */

/** kasan_free_pages(), kasan_alloc_pages() - @size bytes of whole pages at @addr go to, come from the
 *  page allocator. kasan_alloc_pages() returns the pointer to give to the user; in tag modes it has a tag
 *  that differs from those of the memory on either side and from that of @addr, which is the pages' last. */
void kasan_free_pages(const void *addr, size_t size);
#ifdef CONFIG_KASAN_TAGS
void *kasan_alloc_pages(const void *addr, size_t size);
#else
void kasan_unpoison_pages(const void *addr, size_t size);
static inline void *kasan_alloc_pages(const void *addr, size_t size)
{
	kasan_unpoison_pages(addr, size);
	return (void *)(uintptr_t)addr;
}
#endif

/** kasan_kmalloc_large() - @size bytes are handed out of the @span bytes of pages at @ptr; the rest is
 *  redzone. @meta: where to record the stack, or NULL. Return: the pointer for the user. */
void *kasan_kmalloc_large(void *ptr, size_t size, size_t span, struct kasan_large_meta *meta);

/** kasan_kfree_large() - @ptr comes back; @base: start of its allocation. Return: KASAN_FREE_NOW or
 *  KASAN_FREE_BAD. The caller gives the pages to kasan_free_pages(). */
enum kasan_free_verdict kasan_kfree_large(void *ptr, void *base, struct kasan_large_meta *meta,
					  uintptr_t ip);

/* --- Memory pools ------------------------------------------------------------------------------------ */

/**
 * kasan_mempool_poison_object() - an object goes into a pool of spare ones instead of being freed
 * @ptr: the pointer that the user gave; of a slab cache or a large allocation, which
 *	kasan_port_find_object() tells.
 * @ip: code address that frees, for the report.
 *
 * Checks for double and invalid frees, poisons, and records the stack, but queues nothing.
 *
 * Return: false if a bug was reported: the pool must not take @ptr.
 */
bool kasan_mempool_poison_object(void *ptr, uintptr_t ip);

/** kasan_mempool_unpoison_object() - the pool hands @ptr out again, for @size bytes. Records the
 *  allocation stack. Return: the pointer to give to the user. */
void *kasan_mempool_unpoison_object(void *ptr, size_t size);

/** kasan_mempool_poison_pages(), kasan_mempool_unpoison_pages() - the same for @size bytes of whole
 *  pages at @addr. Pages that are poisoned already are reported as a double free: false. */
bool kasan_mempool_poison_pages(void *addr, size_t size, uintptr_t ip);
void *kasan_mempool_unpoison_pages(void *addr, size_t size);

/* --- Globals ----------------------------------------------------------------------------------------- */

/** kasan_unload_globals() - the image of a loadable module at @start, @size bytes, is about to go: forget
 *  the globals whose descriptors lie in it. Its destructors may have done so already, or there are none.
 *  Their redzones become accessible. The memory must still be readable. */
void kasan_unload_globals(const void *start, size_t size);

/* --- vmalloc and stacks ------------------------------------------------------------------------------ */

/** kasan_unpoison_vmalloc(), kasan_poison_vmalloc() - an area, whose shadow is mapped, comes and goes.
 *  @size: to the byte for unpoison (the rest of the last page becomes KASAN_VMALLOC_INVALID). An area for a
 *  task's stack is opened by kasan_unpoison_stack() instead, as a stack pointer has no tag.
 *  Return: the pointer to give to the user. */
#ifdef CONFIG_KASAN_TAGS
void *kasan_unpoison_vmalloc(const void *start, size_t size);
#else
void kasan_open_vmalloc(const void *start, size_t size);
static inline void *kasan_unpoison_vmalloc(const void *start, size_t size)
{
	kasan_open_vmalloc(start, size);
	return (void *)(uintptr_t)start;
}
#endif
void kasan_poison_vmalloc(const void *start, size_t size);

/** kasan_unpoison_stack() - a stack, or the part of it in [@low, @high), holds no live frame:
 *  clear what dead frames left poisoned. For new tasks, dying tasks, longjmp. */
void kasan_unpoison_stack(const void *low, const void *high);

#ifdef CONFIG_KASAN_GENERIC
/* --- Simple heaps: malloc-style allocators that know only pointers. Generic mode only. ------------------ */

/** struct kasan_fifo - a quarantine's queue, private to the runtime; zeroed: empty */
struct kasan_fifo {
	void *head, *tail, *spare;
	size_t count, bytes;
};

/**
 * struct kasan_heap - one heap under the runtime; zero-initialised but for @name and @release
 * @name: for reports.
 * @redzone: bytes of redzone behind an object, at least 8; 0 selects 16. The redzone before it holds the
 *	runtime's header.
 * @quarantine_max: bytes of freed chunks to hold back; 0: none.
 * @release: gives a raw chunk back to the allocator; called from kasan_heap_free(), no runtime lock held.
 * @acquire: optional: takes @size bytes from the allocator, aligned to 8; NULL: none left. Only for
 *	kasan_heap_malloc() and the others that allocate themselves.
 * @raw_size: optional: usable bytes of a raw chunk. Only for early chunks, see kasan_heap_adopt().
 */
struct kasan_heap {
	const char *name;
	size_t redzone;
	size_t quarantine_max;
	void (*release)(struct kasan_heap *heap, void *raw);
	void *(*acquire)(struct kasan_heap *heap, size_t size);
	size_t (*raw_size)(struct kasan_heap *heap, const void *raw);
	/* private to the runtime from here on */
	struct kasan_heap *next;
	struct kasan_fifo quarantine;
	uintptr_t early_start, early_end;
	unsigned int lock;
	bool added;
};

/** kasan_heap_add() - register a heap, after its memory has shadow. Until then kasan_heap_malloc() and
 *  the others hand out and take back raw chunks, and the heap remembers where those lie. */
void kasan_heap_add(struct kasan_heap *heap);

/**
 * kasan_heap_adopt() - raw chunks in [@start, @start + @size) were handed out before the hooks
 *
 * For allocations that did not come through kasan_heap_malloc(): one range per heap, a second call
 * extends it to cover both. A pointer in it that belongs to no chunk with a header is then an early
 * chunk: kasan_heap_free() gives it to @heap->release. With @heap->raw_size it is also poisoned and
 * held back in the quarantine, a second free of it is reported, and it can be reallocated.
 */
void kasan_heap_adopt(struct kasan_heap *heap, const void *start, size_t size);

/** kasan_heap_span() - Return: bytes to ask of the allocator for @size bytes at alignment @align (power
 *  of two, 0: 16); 0 on overflow. */
size_t kasan_heap_span(const struct kasan_heap *heap, size_t size, size_t align);

/** kasan_heap_alloc() - turn a raw chunk of kasan_heap_span() bytes, aligned to 8, into an object.
 *  Return: the user's pointer, aligned to @align; NULL if @raw is NULL. */
void *kasan_heap_alloc(struct kasan_heap *heap, void *raw, size_t size, size_t align);

/** kasan_heap_free() - take an object back: check, poison, quarantine, @release. @ptr NULL is ignored.
 *  Return: false if a double or invalid free was reported. */
bool kasan_heap_free(struct kasan_heap *heap, void *ptr, uintptr_t ip);

/** kasan_heap_shrink() - release all that the quarantine of @heap holds: the allocator has run out, or its
 *  own counters are about to be read. No lock of the allocator may be held. */
void kasan_heap_shrink(struct kasan_heap *heap);

/** kasan_heap_size() - Return: bytes asked for of the live object @ptr; of an early chunk what
 *  @heap->raw_size says; 0 if it is none. */
size_t kasan_heap_size(const struct kasan_heap *heap, const void *ptr);

/**
 * kasan_heap_malloc(), kasan_heap_calloc(), kasan_heap_memalign(), kasan_heap_realloc() - the C
 * functions over @heap->acquire
 * @align: a power of two, 0: 16.
 *
 * Return: the object, distinct and without an accessible byte if the size is 0; NULL if there is no
 * memory or the size overflows. Before kasan_heap_add() a raw chunk, with the alignment that those have
 * by themselves; NULL if @align asks for more.
 *
 * kasan_heap_realloc() always moves, so that a use of the old pointer is caught. It returns NULL, with
 * the old object as it was, if there is no memory, if @ptr is no live object (that is reported), or if it
 * is an early chunk and nobody knows its size.
 */
void *kasan_heap_malloc(struct kasan_heap *heap, size_t size);
void *kasan_heap_calloc(struct kasan_heap *heap, size_t count, size_t size);
void *kasan_heap_memalign(struct kasan_heap *heap, size_t align, size_t size);
void *kasan_heap_realloc(struct kasan_heap *heap, void *ptr, size_t size);

#endif /* CONFIG_KASAN_GENERIC */

/* --- Report plumbing, for ports and tests ---------------------------------------------------------- */

/** kasan_report_line() - print one formatted line inside a report, for kasan_port_print_*(). Formats:
 *  %s %c %d %u %x %lx %lu %zu %p (16 hex digits, 8 on 32-bit) %pS (name+0xoff/0xsize; 0x and hex digits
 *  if nobody can name it) %pB (the same for a return address), with width and 0; %.*s. */
void kasan_report_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * kasan_stack_save() - remember the calling stack, for allocators that keep records of their own
 * @ip: return address where the trace shall start, the caller's own or one further out; 0: the caller.
 *
 * Return: a handle, the same for equal stacks; 0 if there is no room for it.
 */
uint32_t kasan_stack_save(uintptr_t ip);

/** kasan_stack_print() - inside a report, print the stack of @handle as reports do. Any value is safe. */
void kasan_stack_print(uint32_t handle);

/** kasan_report_hook() - call @hook at the end of every report, before kasan_port_report_end().
 *  NULL removes it. Return: the hook before. */
typedef void (*kasan_report_hook_fn)(const struct kasan_report_info *info);
kasan_report_hook_fn kasan_report_hook(kasan_report_hook_fn hook);

/**
 * kasan_flush_reports() - print the reports that wait
 *
 * A bug that is found while a report is printed, in the port's own functions, waits until that report is
 * complete; so does the bug of a CPU that holds what the reporting one waits for. The runtime prints them
 * right behind. A kasan_port_report_end() or a hook that does not return calls this first, or they come with
 * the next report. Any context; does nothing inside of a report.
 */
void kasan_flush_reports(void);

/** kasan_report_filter() - ask @filter before every report; if it returns false nothing is printed and
 *  the report is not counted. For systems that must not be flooded by a bug in a loop. @info has no bug_type
 *  yet. Called before the report lock is taken; not for reports that the runtime would drop anyhow. NULL
 *  removes it. Return: the filter before. */
typedef bool (*kasan_report_filter_fn)(const struct kasan_report_info *info);
kasan_report_filter_fn kasan_report_filter(kasan_report_filter_fn filter);

/** kasan_save_multi_shot(), kasan_restore_multi_shot() - let every bug be reported for a while, as tests
 *  need. Return: what to restore. */
bool kasan_save_multi_shot(void);
void kasan_restore_multi_shot(bool saved);

/** kasan_report_count() - Return: reports printed since boot. */
unsigned long kasan_report_count(void);

/** kasan_shadow_fault_to_access() - full layout: the memory address whose shadow lies at @shadow.
 *  Return: false if @shadow is below the shadow of address 0. For fault handlers: an inline check
 *  of a wild pointer faults on the shadow load. */
bool kasan_shadow_fault_to_access(uintptr_t shadow, uintptr_t *addr);

#else /* !CONFIG_KASAN */
#include <kasan/kasan_off.h>
#endif

#endif /* KASAN_KASAN_H */

/* SPDX-License-Identifier: MIT */
/*
 * kasan_off.h - <kasan/kasan.h> without a mode: every hook as an empty inline function.
 *
 * Callers need no #ifdef and pay nothing. A hook that answers something gives the answer of a
 * system in which no byte is poisoned: checks pass, frees go ahead at once, slots have no redzone.
 */
#ifndef KASAN_KASAN_OFF_H
#define KASAN_KASAN_OFF_H

#ifndef KASAN_KASAN_H
#error "KASAN: include <kasan/kasan.h>"
#endif

/* --- Life cycle and options ----------------------------------------------------------------------
 */

#define KASAN_OPTION_NO_EFFECT 1
#define KASAN_OPTION_UNKNOWN   (-1)
#define KASAN_OPTION_INVALID   (-2)

struct kasan_option_doc {
	const char *name, *values, *help, *fallback, *modes;
};

static inline void kasan_init(size_t memory)
{
	(void)memory;
}

static inline int kasan_option(const char *name, const char *value)
{
	(void)name;
	(void)value;
	return KASAN_OPTION_UNKNOWN;
}

static inline const char *kasan_option_values(const char *name)
{
	(void)name;
	return NULL;
}

static inline const struct kasan_option_doc *kasan_options(size_t *count)
{
	*count = 0;
	return NULL;
}

static inline bool kasan_enabled(void)
{
	return false;
}

static inline bool kasan_on(void)
{
	return false;
}

/* --- Shadow and checks
 * ------------------------------------------------------------------------------ */

static inline const char *kasan_window_add(uintptr_t start, size_t size, void *shadow)
{
	(void)start;
	(void)size;
	(void)shadow;
	return NULL;
}

static inline const char *kasan_check_offset(void)
{
	return NULL;
}

static inline uint8_t *kasan_shadow_of(const void *addr)
{
	(void)addr;
	return NULL;
}

static inline bool kasan_memory_state(const void *addr, uint8_t *state)
{
	(void)addr;
	(void)state;
	return false;
}

static inline bool kasan_has_integrated_init(void)
{
	return false;
}

#define kasan_slab_alloc_init(cache, object, size, init) kasan_slab_alloc((cache), (object), (size))
#define kasan_alloc_pages_init(addr, size, init)	 kasan_alloc_pages((addr), (size))
#define kasan_unpoison_vmalloc_init(start, size, init)	 kasan_unpoison_vmalloc((start), (size))

static inline void kasan_poison(const void *addr, size_t size, uint8_t value)
{
	(void)addr;
	(void)size;
	(void)value;
}

static inline void kasan_unpoison(const void *addr, size_t size)
{
	(void)addr;
	(void)size;
}

static inline void kasan_poison_tail(const void *addr, size_t size, size_t span, uint8_t value)
{
	(void)addr;
	(void)size;
	(void)span;
	(void)value;
}

static inline bool kasan_check_read(const volatile void *addr, size_t size)
{
	(void)addr;
	(void)size;
	return true;
}

static inline bool kasan_check_write(const volatile void *addr, size_t size)
{
	(void)addr;
	(void)size;
	return true;
}

static inline bool kasan_check_byte(const void *addr)
{
	(void)addr;
	return true;
}

static inline bool kasan_byte_accessible(const void *addr)
{
	(void)addr;
	return true;
}

static inline bool kasan_report_fault(uintptr_t addr, size_t size, bool is_write, uintptr_t ip,
				      uintptr_t fp)
{
	(void)addr;
	(void)size;
	(void)is_write;
	(void)ip;
	(void)fp;
	return false;
}

static inline void kasan_disable_current(void)
{
}

static inline void kasan_enable_current(void)
{
}

static inline bool kasan_shadow_fault_to_access(uintptr_t shadow, uintptr_t *addr)
{
	(void)shadow;
	(void)addr;
	return false;
}

/* --- Slab objects
 * ------------------------------------------------------------------------------------ */

static inline uint32_t kasan_cache_create(struct kasan_cache *cache, uint32_t align)
{
	cache->alloc_meta_offset = 0;
	cache->free_meta_offset = KASAN_NO_FREE_META;
	cache->slot_size = (cache->object_size + (align - 1)) & ~(align - 1);
	return cache->slot_size;
}

static inline void kasan_poison_slab(const void *slab, size_t size)
{
	(void)slab;
	(void)size;
}

static inline void kasan_init_slab_object(struct kasan_cache *cache, void *object)
{
	(void)cache;
	(void)object;
}

static inline void *kasan_init_slab_slot(struct kasan_cache *cache, void *object)
{
	(void)cache;
	return object;
}

static inline void kasan_unpoison_object(struct kasan_cache *cache, void *object)
{
	(void)cache;
	(void)object;
}

static inline void kasan_poison_object(struct kasan_cache *cache, void *object)
{
	(void)cache;
	(void)object;
}

static inline void *kasan_slab_alloc(struct kasan_cache *cache, void *object, size_t size)
{
	(void)cache;
	(void)size;
	return object;
}

static inline void *kasan_slab_realloc(struct kasan_cache *cache, void *object, size_t size)
{
	(void)cache;
	(void)size;
	return object;
}

static inline enum kasan_free_verdict kasan_slab_free(struct kasan_cache *cache, void *object,
						      void *base, uintptr_t ip)
{
	(void)cache;
	(void)object;
	(void)base;
	(void)ip;
	return KASAN_FREE_NOW;
}

static inline void kasan_report_invalid_free(const void *addr, uintptr_t ip)
{
	(void)addr;
	(void)ip;
}

static inline void kasan_report_double_free(const void *addr, uintptr_t ip)
{
	(void)addr;
	(void)ip;
}

static inline void kasan_record_aux_stack(const void *addr)
{
	(void)addr;
}

static inline void kasan_cache_shrink(struct kasan_cache *cache)
{
	(void)cache;
}

/* What the object has room for: nobody recorded what was asked for. */
static inline size_t kasan_object_size(struct kasan_cache *cache, const void *object)
{
	(void)object;
	return cache->object_size;
}

/* --- Whole pages, vmalloc, stacks
 * ----------------------------------------------------------------------- */

static inline void kasan_free_pages(const void *addr, size_t size)
{
	(void)addr;
	(void)size;
}

static inline void *kasan_alloc_pages(const void *addr, size_t size)
{
	(void)size;
	return (void *)(uintptr_t)addr;
}

static inline void *kasan_kmalloc_large(void *ptr, size_t size, size_t span,
					struct kasan_large_meta *meta)
{
	(void)size;
	(void)span;
	(void)meta;
	return ptr;
}

static inline enum kasan_free_verdict kasan_slab_free_deferred(struct kasan_cache *cache,
							       void *object)
{
	(void)cache;
	(void)object;
	return KASAN_FREE_NOW;
}

static inline bool kasan_mempool_poison_object(void *ptr, uintptr_t ip)
{
	(void)ptr;
	(void)ip;
	return true;
}

static inline void *kasan_mempool_unpoison_object(void *ptr, size_t size)
{
	(void)size;
	return ptr;
}

static inline bool kasan_mempool_poison_pages(void *addr, size_t size, uintptr_t ip)
{
	(void)addr;
	(void)size;
	(void)ip;
	return true;
}

static inline void *kasan_mempool_unpoison_pages(void *addr, size_t size)
{
	(void)size;
	return addr;
}

static inline enum kasan_free_verdict kasan_kfree_large(void *ptr, void *base,
							struct kasan_large_meta *meta, uintptr_t ip)
{
	(void)ptr;
	(void)base;
	(void)meta;
	(void)ip;
	return KASAN_FREE_NOW;
}

static inline void *kasan_unpoison_vmalloc(const void *start, size_t size)
{
	(void)size;
	return (void *)(uintptr_t)start;
}

static inline void kasan_poison_vmalloc(const void *start, size_t size)
{
	(void)start;
	(void)size;
}

static inline void kasan_unpoison_stack(const void *low, const void *high)
{
	(void)low;
	(void)high;
}

/* --- Simple heaps: a chunk is an object, with nothing around it and the allocator's own alignment
 * ---------- */

struct kasan_heap {
	const char *name;
	size_t redzone;
	size_t quarantine_max;
	void (*release)(struct kasan_heap *heap, void *raw);
	void *(*acquire)(struct kasan_heap *heap, size_t size);
	size_t (*raw_size)(struct kasan_heap *heap, const void *raw);
};

static inline void kasan_unload_globals(const void *start, size_t size)
{
	(void)start;
	(void)size;
}

static inline void kasan_heap_add(struct kasan_heap *heap)
{
	(void)heap;
}

static inline void kasan_heap_adopt(struct kasan_heap *heap, const void *start, size_t size)
{
	(void)heap;
	(void)start;
	(void)size;
}

static inline size_t kasan_heap_span(const struct kasan_heap *heap, size_t size, size_t align)
{
	(void)heap;
	(void)align;
	return size;
}

static inline void *kasan_heap_alloc(struct kasan_heap *heap, void *raw, size_t size, size_t align)
{
	(void)heap;
	(void)size;
	(void)align;
	return raw;
}

static inline bool kasan_heap_free(struct kasan_heap *heap, void *ptr, uintptr_t ip)
{
	(void)ip;
	if (ptr)
		heap->release(heap, ptr);
	return true;
}

static inline void kasan_heap_shrink(struct kasan_heap *heap)
{
	(void)heap;
}

static inline size_t kasan_heap_size(const struct kasan_heap *heap, const void *ptr)
{
	return ptr && heap->raw_size ? heap->raw_size((struct kasan_heap *)heap, ptr) : 0;
}

static inline void *kasan_heap_memalign(struct kasan_heap *heap, size_t align, size_t size)
{
	void *raw = heap->acquire ? heap->acquire(heap, size ? size : 1) : NULL;

	if (raw && align && ((uintptr_t)raw & (align - 1))) {
		heap->release(heap, raw);
		return NULL;
	}
	return raw;
}

static inline void *kasan_heap_malloc(struct kasan_heap *heap, size_t size)
{
	return kasan_heap_memalign(heap, 0, size);
}

static inline void *kasan_heap_calloc(struct kasan_heap *heap, size_t count, size_t size)
{
	unsigned char *raw;
	size_t bytes, i;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	raw = kasan_heap_malloc(heap, bytes);
	for (i = 0; raw && i < bytes; i++)
		raw[i] = 0;
	return raw;
}

static inline void *kasan_heap_realloc(struct kasan_heap *heap, void *ptr, size_t size)
{
	const size_t old = kasan_heap_size(heap, ptr);
	unsigned char *raw;
	size_t i;

	if (ptr && !old)
		return NULL;
	raw = kasan_heap_malloc(heap, size);
	for (i = 0; raw && i < old && i < size; i++)
		raw[i] = ((const unsigned char *)ptr)[i];
	if (raw && ptr)
		heap->release(heap, ptr);
	return raw;
}

/* --- Reports: there are none
 * ------------------------------------------------------------------------------ */

typedef void (*kasan_report_hook_fn)(const struct kasan_report_info *info);
typedef bool (*kasan_report_filter_fn)(const struct kasan_report_info *info);

static inline __attribute__((format(printf, 1, 2))) void kasan_report_line(const char *fmt, ...)
{
	(void)fmt;
}

static inline uint32_t kasan_stack_save(uintptr_t ip)
{
	(void)ip;
	return 0;
}

static inline void kasan_stack_print(uint32_t handle)
{
	(void)handle;
}

static inline kasan_report_hook_fn kasan_report_hook(kasan_report_hook_fn hook)
{
	(void)hook;
	return NULL;
}

static inline void kasan_flush_reports(void)
{
}

static inline kasan_report_filter_fn kasan_report_filter(kasan_report_filter_fn filter)
{
	(void)filter;
	return NULL;
}

static inline bool kasan_save_multi_shot(void)
{
	return false;
}

static inline void kasan_restore_multi_shot(bool saved)
{
	(void)saved;
}

static inline unsigned long kasan_report_count(void)
{
	return 0;
}

#endif /* KASAN_KASAN_OFF_H */

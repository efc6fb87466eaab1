/* SPDX-License-Identifier: MIT */
/* classify.c - chooses the title of a report in Generic mode: names the bug from an access and its shadow. */
#include "captured.h"

const char *kasan_type_without_shadow(uintptr_t addr)
{
	if (addr < CONFIG_KASAN_NULL_LIMIT)
		return "null-ptr-deref";
	return kasan_port_is_user(addr) ? "user-memory-access" : "wild-memory-access";
}

bool kasan_size_is_absurd(const struct kasan_report *report)
{
	return !report->is_fault && report->size &&
	       (report->addr + report->size - 1 < report->addr ||
		report->size > (size_t)PTRDIFF_MAX);
}

#ifdef CONFIG_KASAN_GENERIC

/* If the first bytes of the granule are accessible, the next granule shows what lies after them. */
uint8_t kasan_telling_shadow(const struct kasan_report *report)
{
	uint8_t next;

	if (report->bad_shadow == 0 || report->bad_shadow >= KASAN_GRANULE_SIZE)
		return report->bad_shadow;
	return kasan_memory_state((const void *)(report->first_bad + KASAN_GRANULE_SIZE), &next)
		       ? next
		       : 0;
}

#if CONFIG_KASAN_BUG_TYPES
static const char *type_by_shadow(uint8_t shadow)
{
	switch (shadow) {
	case KASAN_SLAB_REDZONE:
	case KASAN_PAGE_REDZONE:
	case KASAN_HEAP_LEFT_REDZONE:
		return "slab-out-of-bounds";
	case KASAN_SLAB_FREE:
	case KASAN_SLAB_FREE_META:
		return "slab-use-after-free";
	case KASAN_PAGE_FREE:
		return "use-after-free";
	case KASAN_GLOBAL_REDZONE:
		return "global-out-of-bounds";
	case KASAN_STACK_LEFT:
	case KASAN_STACK_MID:
	case KASAN_STACK_RIGHT:
		return "stack-out-of-bounds";
	case KASAN_STACK_AFTER_SCOPE:
		return "use-after-scope";
	case KASAN_ALLOCA_LEFT:
	case KASAN_ALLOCA_RIGHT:
		return "alloca-out-of-bounds";
	case KASAN_VMALLOC_INVALID:
		return "vmalloc-out-of-bounds";
#if CONFIG_KASAN_SLAB
	case KASAN_USER_POISON:
		return "use-after-poison";
#endif
	default:
		/* The port's own poison, from kasan_poison(). */
		return shadow & 0x80 ? "invalid-access" : "out-of-bounds";
	}
}

void kasan_classify(struct kasan_report *report)
{
	/* A negative size says more than the memory at the start. */
	if (kasan_size_is_absurd(report))
		report->type = "out-of-bounds";
	else if (!report->has_shadow)
		report->type = kasan_type_without_shadow(report->addr);
	else if (report->is_fault && !report->bad_shadow)
		/* The MMU refused an access that the shadow allows, so the address is not mapped. */
		report->type = kasan_type_without_shadow(report->addr);
	else
		report->type = type_by_shadow(kasan_telling_shadow(report));
}

void kasan_classify_by_owner(struct kasan_report *report)
{
	const struct kasan_owner *owner = &report->owner;

	if (report->bad_shadow == 0 || owner->kind == KASAN_OBJECT_NONE ||
	    kasan_size_is_absurd(report))
		return;
	if (report->first_bad < owner->start + owner->size) {
#if CONFIG_KASAN_SLAB
		/* Poison to the end of a granule, with accessible memory after it. */
		if (owner->state == KASAN_OWNER_LIVE && report->first_bad >= owner->start &&
		    report->bad_shadow < KASAN_GRANULE_SIZE)
			report->type = "use-after-poison";
#endif
		return;
	}
	/* An access after the end of a live object is an overrun, whatever lies there: free pages, another owner's
	 * poison. If the partial granule was the last before accessible memory, or before memory without shadow, only
	 * the object's bounds show it. */
	if (owner->state == KASAN_OWNER_LIVE || kasan_telling_shadow(report) < KASAN_GRANULE_SIZE)
		report->type = "slab-out-of-bounds";
}

#else

void kasan_classify(struct kasan_report *report)
{
	report->type = "invalid-access";
}

void kasan_classify_by_owner(struct kasan_report *report)
{
	(void)report;
}

#endif /* CONFIG_KASAN_BUG_TYPES */
#endif /* CONFIG_KASAN_GENERIC */

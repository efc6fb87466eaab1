/* SPDX-License-Identifier: MIT */
/*
 * scs.h - return addresses on the shadow call stack, where the port has one.
 *
 * It grows up and holds only return addresses, so a trace is a copy of it, newest first. No frame has to be followed,
 * so none has to be trusted. Entries may be signed: compilers differ in whether they push before or after signing.
 */
#ifndef KASAN_SCS_H
#define KASAN_SCS_H

#include "../base/base.h"

#ifdef KASAN_PORT_HAS_SHADOW_STACK

/* Do hooks push? Only if the runtime is compiled with the sanitizer, which GCC does not tell, so with GCC it is found
 * out each time. */
#define KASAN_SCS_HAS_HOOKS 1
#ifdef __clang__
#if !__has_feature(shadow_call_stack)
#undef KASAN_SCS_HAS_HOOKS
#define KASAN_SCS_HAS_HOOKS 0
#endif
#endif

/**
 * struct kasan_scs - the part of a shadow stack down to its oldest entry. @top: above its newest entry. @size: in
 * bytes.
 */
struct kasan_scs {
	const uintptr_t *top;
	size_t size;
};

/** kasan_scs_here() - Return: false if this context has no shadow stack. */
static kasan_always_inline bool kasan_scs_here(struct kasan_scs *scs)
{
	const uintptr_t top = kasan_port_scs_top();

	if (kasan_unlikely(!top))
		return false;
	scs->top = (const uintptr_t *)top;
	scs->size = top - kasan_port_scs_base(top);
	return true;
}

static inline size_t kasan_scs_count(const struct kasan_scs *scs)
{
	return scs->size / sizeof(uintptr_t);
}

/* In bytes: kasan_scs_same() and the table of known stacks need at least the first; a trace has at most the second
 * after its first return address. */
#define KASAN_SCS_LEAST (3 * sizeof(uintptr_t))
#define KASAN_SCS_MOST	((CONFIG_KASAN_STACK_DEPTH - 1) * sizeof(uintptr_t))

/** kasan_scs_same() - are the entries of @scs, at least KASAN_SCS_LEAST, the same as @pcs? Signed ones are not. */
static kasan_always_inline bool kasan_scs_same(const struct kasan_scs *scs, const uintptr_t *pcs)
{
	const size_t four = 4 * sizeof(*pcs);
	const uintptr_t *at = scs->top;
	size_t left = scs->size;

	for (; left > 2 * four; left -= 2 * four) {
		if (kasan_unlikely(!kasan_arch_same_8(at, pcs)))
			return false;
		at -= 8;
		pcs += 8;
	}
	if (left > four && kasan_unlikely(!kasan_arch_same_4(at, pcs)))
		return false;
	if (kasan_unlikely(scs->size < four))
		return at[-1] == pcs[0] && at[-2] == pcs[1] && at[-3] == pcs[2];
	/* The last four. If fewer are left, the others were compared before. */
	at = (const uintptr_t *)((uintptr_t)at - (left - four));
	pcs = (const uintptr_t *)((uintptr_t)pcs + (left - four));
	return kasan_arch_same_4(at, pcs);
}

/** kasan_scs_skip() - leave out the entries up to the one that returns to @ip. Return: false if it is not among the
 *  newest few. */
static inline bool kasan_scs_skip(struct kasan_scs *scs, uintptr_t ip, size_t few)
{
	size_t i;

	for (i = 0; i < few && i < kasan_scs_count(scs); i++) {
		if (kasan_arch_strip_ra(scs->top[-1 - (ptrdiff_t)i]) == ip) {
			scs->top -= i + 1;
			scs->size -= (i + 1) * sizeof(uintptr_t);
			return true;
		}
	}
	return false;
}

/** kasan_scs_copy() - copy entries, newest first and without signatures, up to an entry of 0. Return: their number, at
 *  most @max. */
static inline size_t kasan_scs_copy(const struct kasan_scs *scs, uintptr_t *pcs, size_t max)
{
	size_t i;

	for (i = 0; i < max && i < kasan_scs_count(scs); i++) {
		pcs[i] = kasan_arch_strip_ra(scs->top[-1 - (ptrdiff_t)i]);
		if (kasan_unlikely(!pcs[i]))
			break;
	}
	return i;
}

#endif /* KASAN_PORT_HAS_SHADOW_STACK */
#endif /* KASAN_SCS_H */

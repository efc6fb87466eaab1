// SPDX-License-Identifier: MIT
/* resource.c - deferred actions of a case, and memory that is freed at its end.
 */
#include <kernel/errno.h>
#include <kernel/slab.h>

#include "kunit.h"

/** struct kunit_action - one deferred call; the newest is first in its list. */
struct kunit_action {
	struct kunit_action *next;
	kunit_action_t *fn;
	void *ctx;
};

int kunit_add_action(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	struct kunit_action *action = kmalloc(sizeof(*action), GFP_KERNEL);

	if (!action)
		return -ENOMEM;
	action->fn = fn;
	action->ctx = ctx;
	action->next = test->actions;
	test->actions = action;
	return 0;
}

int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	int error = kunit_add_action(test, fn, ctx);

	if (error)
		fn(ctx);
	return error;
}

/* Take the newest action that matches off the list. */
static struct kunit_action *take_action(struct kunit *test, kunit_action_t *fn, const void *ctx)
{
	struct kunit_action **link, *action;

	for (link = &test->actions; (action = *link); link = &action->next) {
		if (action->fn == fn && action->ctx == ctx) {
			*link = action->next;
			return action;
		}
	}
	return NULL;
}

void kunit_remove_action(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	kfree(take_action(test, fn, ctx));
}

void kunit_release_action(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	struct kunit_action *action = take_action(test, fn, ctx);

	if (!action)
		return;
	kfree(action);
	fn(ctx);
}

void kunit_cleanup(struct kunit *test)
{
	struct kunit_action *action;

	/* Taken off before it is called: if an action faults, the others still run at the next
	 * call. */
	while ((action = test->actions)) {
		kunit_action_t *fn = action->fn;
		void *ctx = action->ctx;

		test->actions = action->next;
		kfree(action);
		fn(ctx);
	}
}

static void free_action(void *ptr)
{
	kfree(ptr);
}

void *kunit_kmalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	void *ptr = kmalloc(size, gfp);

	if (!ptr || kunit_add_action_or_reset(test, free_action, ptr))
		return NULL;
	return ptr;
}

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	return kunit_kmalloc(test, size, gfp | __GFP_ZERO);
}

void kunit_kfree(struct kunit *test, const void *ptr)
{
	if (ptr)
		kunit_release_action(test, free_action, (void *)ptr);
}

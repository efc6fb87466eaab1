// SPDX-License-Identifier: MIT
/*
 * vmap_tree.c - ranges of addresses in a treap: a search tree by address that is also a heap by
 * random priority, which keeps it balanced for any order of insertions. Every node knows the largest
 * range in its subtree.
 *
 * A rotation changes two nodes only, so there are no special cases. After an insertion or a removal,
 * the walk up to the root takes as many steps as the tree is high.
 */
#include "vmap.h"

static unsigned long subtree_max(const struct vmap_range *range)
{
	return range ? range->max : 0;
}

static void update_one(struct vmap_range *range)
{
	unsigned long largest = range->end - range->start;

	largest = max(largest, subtree_max(range->left));
	range->max = max(largest, subtree_max(range->right));
}

void vmap_resized(struct vmap_range *range)
{
	for (; range; range = range->parent)
		update_one(range);
}

/* @child takes the place of @range below its parent. */
static void replace(struct vmap_tree *tree, struct vmap_range *range, struct vmap_range *child)
{
	struct vmap_range *parent = range->parent;

	if (!parent)
		tree->root = child;
	else if (parent->left == range)
		parent->left = child;
	else
		parent->right = child;
	if (child)
		child->parent = parent;
}

/* Rotate: the child on the side @left of @range moves up, and @range moves down to the other side. */
static void rotate_up(struct vmap_tree *tree, struct vmap_range *range, bool left)
{
	struct vmap_range *child = left ? range->left : range->right;
	struct vmap_range *inner = left ? child->right : child->left;

	replace(tree, range, child);
	if (left) {
		child->right = range;
		range->left = inner;
	} else {
		child->left = range;
		range->right = inner;
	}
	range->parent = child;
	if (inner)
		inner->parent = range;
	update_one(range);
	update_one(child);
}

void vmap_insert(struct vmap_tree *tree, struct vmap_range *range)
{
	struct vmap_range **link = &tree->root, *parent = NULL;

	tree->nr++;
	while (*link) {
		parent = *link;
		link = range->start < parent->start ? &parent->left : &parent->right;
	}
	/* xorshift32: priorities must be spread out, not secret. A state that is not 0 never becomes
	 * 0. */
	if (!tree->seed)
		tree->seed = 2463534242U;
	tree->seed ^= tree->seed << 13;
	tree->seed ^= tree->seed >> 17;
	tree->seed ^= tree->seed << 5;
	range->prio = tree->seed;
	range->left = NULL;
	range->right = NULL;
	range->parent = parent;
	*link = range;
	vmap_resized(range);
	while (range->parent && range->prio < range->parent->prio)
		rotate_up(tree, range->parent, range->parent->left == range);
}

void vmap_erase(struct vmap_tree *tree, struct vmap_range *range)
{
	struct vmap_range *parent;

	tree->nr--;
	/* Move it down until one side is empty; the child on the other side then takes its place. */
	while (range->left && range->right)
		rotate_up(tree, range, range->left->prio < range->right->prio);
	parent = range->parent;
	replace(tree, range, range->left ? range->left : range->right);
	vmap_resized(parent);
}

struct vmap_range *vmap_last_below(const struct vmap_tree *tree, unsigned long addr)
{
	struct vmap_range *range = tree->root, *found = NULL;

	while (range) {
		if (range->start < addr)
			found = range;
		range = range->start < addr ? range->right : range->left;
	}
	return found;
}

struct vmap_range *vmap_first_fit(const struct vmap_tree *tree, unsigned long size)
{
	struct vmap_range *range = tree->root;

	if (subtree_max(range) < size)
		return NULL;
	for (;;) {
		if (subtree_max(range->left) >= size)
			range = range->left;
		else if (range->end - range->start >= size)
			return range;
		else
			range = range->right;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * prio_list.h - lists that are sorted by priority.
 *
 * Nodes of one priority stand in the order in which they were added. The first node of each priority is also linked with
 * the first ones of the others. So adding a node looks at one node of each priority, however many nodes there are:
 * code that holds a raw spin lock meanwhile has a bound.
 *
 * These functions do not lock. A list of all zeros is empty.
 */
#ifndef KERNEL_PRIO_LIST_H
#define KERNEL_PRIO_LIST_H

#include <kernel/list.h>
#include <kernel/sync_types.h>
#include <kernel/types.h>

/**
 * struct prio_node - lives inside the entries
 * @prio: a smaller number stands further ahead. Set before prio_list_add(), and not changed on a list.
 * @all: ring of all nodes of the list.
 * @firsts: ring of the nodes that are the first of their priority; alone for all other nodes.
 */
struct prio_node {
	int prio;
	struct list_head all;
	struct list_head firsts;
};

static inline bool prio_list_empty(const struct prio_list *list)
{
	return !READ_ONCE(list->first);
}

/** prio_list_first() - Return: the node that stands first, or NULL. */
static inline struct prio_node *prio_list_first(const struct prio_list *list)
{
	return list->first;
}

/** prio_list_add() - insert @node after all nodes of its priority. */
static inline void prio_list_add(struct prio_list *list, struct prio_node *node)
{
	struct prio_node *pos = list->first, *before = NULL;

	INIT_LIST_HEAD(&node->all);
	INIT_LIST_HEAD(&node->firsts);
	if (!pos) {
		list->first = node;
		return;
	}
	/* Find the first priority after the node's. @before: the one ahead of that, perhaps the node's own. */
	do {
		if (pos->prio > node->prio)
			break;
		before = pos;
		pos = list_next_entry(pos, firsts);
	} while (pos != list->first);
	/* The ring's end is ahead of its first node, so a node that goes to the end goes there too. */
	list_add_tail(&node->all, &pos->all);
	if (!before || before->prio != node->prio)
		list_add_tail(&node->firsts, &pos->firsts);
	if (!before)
		list->first = node;
}

/** prio_list_del() - take @node, which is on @list, off it. */
static inline void prio_list_del(struct prio_list *list, struct prio_node *node)
{
	struct prio_node *next = list_next_entry(node, all);

	if (!list_empty(&node->firsts)) {
		if (next->prio == node->prio)
			list_replace(&node->firsts, &next->firsts);
		else
			list_del(&node->firsts);
	}
	if (list->first == node)
		list->first = next == node ? NULL : next;
	list_del(&node->all);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * rculist.h - lists that readers walk under rcu_read_lock() while a writer changes them.
 *
 * Writers exclude each other by their own lock. A deleted entry keeps its forward link, because a reader
 * may be at it. After a grace period it may be freed, or added to a list again.
 */
#ifndef KERNEL_RCULIST_H
#define KERNEL_RCULIST_H

#include <kernel/list.h>
#include <kernel/rcupdate.h>

static inline void __list_add_rcu(struct list_head *entry, struct list_head *prev,
				  struct list_head *next)
{
	entry->next = next;
	entry->prev = prev;
	/* Publishes the entry: its links and contents are complete. */
	rcu_assign_pointer(prev->next, entry);
	next->prev = entry;
}

/** list_add_rcu(), list_add_tail_rcu() - insert @entry as the first or last of @head. */
static inline void list_add_rcu(struct list_head *entry, struct list_head *head)
{
	__list_add_rcu(entry, head, head->next);
}

static inline void list_add_tail_rcu(struct list_head *entry, struct list_head *head)
{
	__list_add_rcu(entry, head->prev, head);
}

/** list_del_rcu() - take @entry off its list. Poisons only the backward link, which readers do not use. */
static inline void list_del_rcu(struct list_head *entry)
{
	__list_del(entry->prev, entry->next);
	entry->prev = LIST_POISON2;
}

/** list_replace_rcu() - @entry takes @old's place; each reader sees one of the two. */
static inline void list_replace_rcu(struct list_head *old, struct list_head *entry)
{
	entry->next = old->next;
	entry->prev = old->prev;
	rcu_assign_pointer(entry->prev->next, entry);
	entry->next->prev = entry;
	old->prev = LIST_POISON2;
}

#define list_entry_rcu(ptr, type, member) container_of(rcu_dereference(ptr), type, member)

/** list_first_or_null_rcu() - Return: the first entry, NULL if there is none. It reads the head once: a
 *  second read might find another entry. */
#define list_first_or_null_rcu(head, type, member)                            \
	({                                                                    \
		struct list_head *__first = rcu_dereference((head)->next);    \
                                                                              \
		__first == (head) ? NULL : list_entry(__first, type, member); \
	})

#define list_for_each_entry_rcu(pos, head, member)                           \
	for (pos = list_entry_rcu((head)->next, __typeof__(*(pos)), member); \
	     &(pos)->member != (head);                                       \
	     pos = list_entry_rcu((pos)->member.next, __typeof__(*(pos)), member))

#endif

/* SPDX-License-Identifier: MIT */
/*
 * list.h - circular doubly linked lists whose links live inside the entries.
 *
 * These functions do not lock. A list is a struct list_head outside of any entry; an empty one points to itself.
 */
#ifndef KERNEL_LIST_H
#define KERNEL_LIST_H

#include <kernel/types.h>

struct list_head {
	struct list_head *next, *prev;
};

/* Links of a deleted entry: addresses that fault, to show a use after list_del(). */
#define LIST_POISON1 ((struct list_head *)0x100)
#define LIST_POISON2 ((struct list_head *)0x122)

#define LIST_HEAD_INIT(name) {&(name), &(name)}
#define LIST_HEAD(name)	     struct list_head name = LIST_HEAD_INIT(name)

/** INIT_LIST_HEAD() - make @list an empty list, or an entry that is on no list. */
static inline void INIT_LIST_HEAD(struct list_head *list)
{
	WRITE_ONCE(list->next, list);
	list->prev = list;
}

static inline void __list_add(struct list_head *entry, struct list_head *prev,
			      struct list_head *next)
{
	next->prev = entry;
	entry->next = next;
	entry->prev = prev;
	/* Last, so that a lockless list_empty() does not see a half-linked entry. */
	WRITE_ONCE(prev->next, entry);
}

/** list_add() - insert @entry as the first of @head. */
static inline void list_add(struct list_head *entry, struct list_head *head)
{
	__list_add(entry, head, head->next);
}

/** list_add_tail() - insert @entry as the last of @head. */
static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	__list_add(entry, head->prev, head);
}

static inline void __list_del(struct list_head *prev, struct list_head *next)
{
	next->prev = prev;
	WRITE_ONCE(prev->next, next);
}

/** list_del() - take @entry off its list; its links are poisoned. */
static inline void list_del(struct list_head *entry)
{
	__list_del(entry->prev, entry->next);
	entry->next = LIST_POISON1;
	entry->prev = LIST_POISON2;
}

/** list_del_init() - take @entry off its list and leave it as an empty list. */
static inline void list_del_init(struct list_head *entry)
{
	__list_del(entry->prev, entry->next);
	INIT_LIST_HEAD(entry);
}

/** list_move(), list_move_tail() - move @entry from its list to the start or end of @head. */
static inline void list_move(struct list_head *entry, struct list_head *head)
{
	__list_del(entry->prev, entry->next);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	__list_del(entry->prev, entry->next);
	list_add_tail(entry, head);
}

/** list_empty() - Return: true if @head has no entries. Without the list's lock it is a hint. */
static inline bool list_empty(const struct list_head *head)
{
	return READ_ONCE(head->next) == head;
}

static inline bool list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

static inline bool list_is_first(const struct list_head *entry, const struct list_head *head)
{
	return entry->prev == head;
}

static inline bool list_is_last(const struct list_head *entry, const struct list_head *head)
{
	return entry->next == head;
}

/** list_replace() - @entry takes @old's place. */
static inline void list_replace(struct list_head *old, struct list_head *entry)
{
	entry->next = old->next;
	entry->next->prev = entry;
	entry->prev = old->prev;
	entry->prev->next = entry;
}

static inline void __list_splice(const struct list_head *list, struct list_head *prev,
				 struct list_head *next)
{
	struct list_head *first = list->next, *last = list->prev;

	first->prev = prev;
	prev->next = first;
	last->next = next;
	next->prev = last;
}

/** list_splice(), list_splice_tail() - move all entries of @list to the start or end of @head; @list itself
 *  is then undefined. The _init forms leave it empty. */
static inline void list_splice(const struct list_head *list, struct list_head *head)
{
	if (!list_empty(list))
		__list_splice(list, head, head->next);
}

static inline void list_splice_tail(const struct list_head *list, struct list_head *head)
{
	if (!list_empty(list))
		__list_splice(list, head->prev, head);
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	list_splice(list, head);
	INIT_LIST_HEAD(list);
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_splice_tail(list, head);
	INIT_LIST_HEAD(list);
}

#define list_entry(ptr, type, member)	     container_of(ptr, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member)  list_entry((head)->prev, type, member)

#define list_next_entry(pos, member) list_entry((pos)->member.next, __typeof__(*(pos)), member)

#define list_prev_entry(pos, member) list_entry((pos)->member.prev, __typeof__(*(pos)), member)

#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))

#define list_for_each(pos, head) for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_for_each_safe(pos, n, head) \
	for (pos = (head)->next, n = pos->next; pos != (head); pos = n, n = pos->next)

/* @pos: cursor, a pointer to the entries' type; @member: the name of the link inside it. */
#define list_for_each_entry(pos, head, member)                                                   \
	for (pos = list_first_entry(head, __typeof__(*(pos)), member); &(pos)->member != (head); \
	     pos = list_next_entry(pos, member))

#define list_for_each_entry_reverse(pos, head, member)                                          \
	for (pos = list_last_entry(head, __typeof__(*(pos)), member); &(pos)->member != (head); \
	     pos = list_prev_entry(pos, member))

/* As above; @pos may be deleted inside the loop. @n: second cursor. */
#define list_for_each_entry_safe(pos, n, head, member)                 \
	for (pos = list_first_entry(head, __typeof__(*(pos)), member), \
	    n = list_next_entry(pos, member);                          \
	     &(pos)->member != (head); pos = n, n = list_next_entry(n, member))

#endif

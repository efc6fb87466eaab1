/* SPDX-License-Identifier: MIT */
/* sort.c - heapsort for arrays, merge sort for lists, binary search. */
#include <kernel/list.h>
#include <kernel/sort.h>

static void swap_bytes(void *a, void *b, size_t size)
{
	u8 *x = a, *y = b;

	for (; size; size--, x++, y++) {
		u8 t = *x;

		*x = *y;
		*y = t;
	}
}

void sort(void *base, size_t num, size_t size, int (*cmp)(const void *a, const void *b),
	  void (*swap)(void *a, void *b, size_t size))
{
	char *array = base;
	size_t start = num / 2, end = num;

	if (!swap)
		swap = swap_bytes;
	/* While start > 0 the heap is built from the bottom up. After that, its top, the largest
	 * element, is moved after the shrinking heap. In both phases one element then has to sink to
	 * its place. */
	while (end > 1) {
		size_t root;

		if (start > 0)
			start--;
		else
			swap(array, array + --end * size, size);
		root = start;
		while (2 * root + 1 < end) {
			size_t child = 2 * root + 1;

			if (child + 1 < end &&
			    cmp(array + child * size, array + (child + 1) * size) < 0)
				child++;
			if (cmp(array + root * size, array + child * size) >= 0)
				break;
			swap(array + root * size, array + child * size, size);
			root = child;
		}
	}
}

void *bsearch(const void *key, const void *base, size_t num, size_t size,
	      int (*cmp)(const void *key, const void *element))
{
	const char *first = base;

	while (num) {
		const char *middle = first + num / 2 * size;
		int order = cmp(key, middle);

		if (order == 0)
			return (void *)middle;
		if (order > 0) {
			first = middle + size;
			num -= num / 2 + 1;
		} else {
			num /= 2;
		}
	}
	return NULL;
}

/* Merge two chains, which are linked by next and end with NULL. Of equal entries, those of @a come
 * first. */
static struct list_head *merge(void *priv, struct list_head *a, struct list_head *b,
			       int (*cmp)(void *priv, const struct list_head *a,
					  const struct list_head *b))
{
	struct list_head *head = NULL, **tail = &head;

	while (a && b) {
		struct list_head **from = cmp(priv, a, b) <= 0 ? &a : &b;

		*tail = *from;
		tail = &(*from)->next;
		*from = (*from)->next;
	}
	*tail = a ? a : b;
	return head;
}

void list_sort(void *priv, struct list_head *head,
	       int (*cmp)(void *priv, const struct list_head *a, const struct list_head *b))
{
	/* parts[i] is empty or holds 2^i sorted entries, which come before those of parts[i - 1]. It
	 * works like a binary counter with carries, so merges are balanced. */
	struct list_head *parts[64] = {NULL};
	struct list_head *entry, *next, *all = NULL, *prev;

	if (list_empty(head))
		return;
	head->prev->next = NULL;
	for (entry = head->next; entry; entry = next) {
		unsigned int i;

		next = entry->next;
		entry->next = NULL;
		for (i = 0; parts[i]; i++) {
			entry = merge(priv, parts[i], entry, cmp);
			parts[i] = NULL;
		}
		parts[i] = entry;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++) {
		if (parts[i])
			all = merge(priv, parts[i], all, cmp);
	}

	prev = head;
	for (entry = all; entry; entry = entry->next) {
		prev->next = entry;
		entry->prev = prev;
		prev = entry;
	}
	prev->next = head;
	head->prev = prev;
}

/* SPDX-License-Identifier: MIT */
/* sort.h - sort and search arrays. */
#ifndef KERNEL_SORT_H
#define KERNEL_SORT_H

#include <kernel/types.h>

/**
 * sort() - sort an array in place, without recursion or extra memory (heapsort, n log n at worst)
 * @base: first element. @num: elements. @size: bytes of each.
 * @cmp: returns negative, 0 or positive as for qsort(). Equal elements may change their order.
 * @swap: exchanges two elements; NULL: bytewise.
 */
void sort(void *base, size_t num, size_t size, int (*cmp)(const void *a, const void *b),
	  void (*swap)(void *a, void *b, size_t size));

/** bsearch() - Return: an element equal to @key in the sorted array, NULL if there is none. */
void *bsearch(const void *key, const void *base, size_t num, size_t size,
	      int (*cmp)(const void *key, const void *element));

struct list_head;

/** list_sort() - sort a list; equal entries keep their order. @priv: passed to @cmp. */
void list_sort(void *priv, struct list_head *head,
	       int (*cmp)(void *priv, const struct list_head *a, const struct list_head *b));

#endif

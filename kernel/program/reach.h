/* SPDX-License-Identifier: MIT */
/*
 * reach.h - which objects of a program can still be reached: a conservative search, in which every word that could be a
 * pointer to an object or into it counts as one. Tags of words are ignored. For leaks.c; one search at a time.
 */
#ifndef PROGRAM_REACH_H
#define PROGRAM_REACH_H

#include <kernel/types.h>

/** enum reach_state - what is known of an object after the search */
enum reach_state {
	REACH_LOST,	/* nothing points to it but, perhaps, lost objects */
	REACH_FOUND,	/* it can be reached */
	REACH_INDIRECT, /* only lost objects lead to it */
};

/**
 * struct reach_object - an object of the program
 * @start: without a tag. @size: bytes, a search may read them. @what: the caller's own.
 * @next, @state, @pointed: the search's.
 */
struct reach_object {
	uintptr_t start;
	size_t size;
	const void *what;
	struct reach_object *next;
	u8 state; /* enum reach_state */
	bool pointed;
};

/** reach_alloc() - Return: room for @room objects; NULL without memory. reach_free() - give it back. May sleep. */
struct reach_object *reach_alloc(size_t room);
void reach_free(struct reach_object *objects);

/** reach_begin() - search among these objects, in memory from reach_alloc(). Sorts @objects by their addresses. */
void reach_begin(struct reach_object *objects, size_t count);

/** reach_from() - what the @size bytes at @start point to is reached, and so is what that points to. Memory that cannot be
 *  read is left out. */
void reach_from(const void *start, size_t size);

/** reach_end() - all roots are known: tell lost objects from those that only these lead to. In a ring of lost objects, the
 *  one with the lowest address is the lost one. */
void reach_end(void);

#endif

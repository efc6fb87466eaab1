// SPDX-License-Identifier: MIT
/* contents.c - what the files of a file system in memory hold, in one piece of memory each, and what devices say. */
#include <kasan/kasan.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <kernel/program.h>
#include <kernel/random.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/time.h>

#include "internal.h"

/* Bytes of one file: far more than a machine here has, and far from any overflow. */
#define FILE_MAX (1UL << 40)

void ramfs_borrow(struct ramfs_node *node, const void *data, size_t size)
{
	ramfs_free_contents(node);
	/* Without a capacity it is never written to. */
	node->data = (unsigned char *)data;
	node->size = size;
}

void ramfs_free_contents(struct ramfs_node *node)
{
	if (node->capacity)
		kvfree(node->data);
	node->data = NULL;
	node->size = node->capacity = 0;
}

/* Make room for @size bytes, in memory of the node's own. */
static long __reserve(struct ramfs_node *node, u64 size)
{
	unsigned char *data;
	size_t capacity;

	if (size > FILE_MAX)
		return -EFBIG;
	/* Borrowed contents are copied whole. */
	size = max(size, (u64)node->size);
	if (size <= node->capacity)
		return 0;
	/* Half as much again, so that many small writes copy each byte three times at most. */
	capacity = max((size_t)size, node->capacity + node->capacity / 2);
	if (capacity > PAGE_SIZE)
		capacity = ALIGN(capacity, PAGE_SIZE);
	data = kvmalloc(capacity, GFP_KERNEL | __GFP_NOWARN);
	if (!data) {
		program_no_memory(capacity);
		return -ENOSPC;
	}
	if (node->size)
		memcpy(data, node->data, node->size);
	if (node->capacity)
		kvfree(node->data);
	node->data = data;
	node->capacity = capacity;
	return 0;
}

/* Let the file end at @size: what is new reads as zeros. */
static long __grow(struct ramfs_node *node, u64 size)
{
	long error = __reserve(node, size);

	if (error)
		return error;
	if (size > node->size) {
		memset(node->data + node->size, 0, size - node->size);
		node->size = size;
	}
	return 0;
}

static long device_read(const struct ramfs_node *node, void *buf, size_t size)
{
	if (!strcmp(node->name, "zero") || !strcmp(node->name, "full"))
		memset(buf, 0, size);
	else if (!strcmp(node->name, "random") || !strcmp(node->name, "urandom"))
		get_random_bytes(buf, size);
	else
		return 0;
	return (long)size;
}

int ramfs_stream(const struct ramfs_node *node)
{
	static const char *const names[] = {"stdin", "stdout", "stderr"};

	if (node->type != RAMFS_DEVICE)
		return -1;
	for (int i = 0; i < (int)ARRAY_SIZE(names); i++) {
		if (!strcmp(node->name, names[i]))
			return i;
	}
	return -1;
}

long ramfs_read(struct ramfs *fs, struct ramfs_node *node, void *buf, size_t size, u64 pos)
{
	long count = 0;

	if (node->type == RAMFS_DEVICE)
		return device_read(node, buf, size);
	if (node->type == RAMFS_DIR)
		return -EISDIR;
	ramfs_lock(fs);
	if (pos < node->size) {
		count = (long)min(size, node->size - (size_t)pos);
		memcpy(buf, node->data + pos, (size_t)count);
	}
	node->accessed = clock_ns();
	ramfs_unlock(fs);
	return count;
}

static long __write(struct ramfs_node *node, const void *buf, size_t size, u64 pos)
{
	long error;

	if (!size)
		return 0;
	if (pos > FILE_MAX || size > FILE_MAX)
		return -EFBIG;
	/* The hole first: what is written after it needs no zeros. */
	error = pos > node->size ? __grow(node, pos) : 0;
	if (!error)
		error = __reserve(node, pos + size);
	if (error)
		return error;
	memcpy(node->data + pos, buf, size);
	node->size = max(node->size, (size_t)pos + size);
	node->modified = node->changed = clock_ns();
	return (long)size;
}

long ramfs_write(struct ramfs *fs, struct ramfs_node *node, const void *buf, size_t size, u64 pos)
{
	long count;

	if (node->type == RAMFS_DEVICE) {
		/* No reader sees these bytes, so nothing else notices that some are not the caller's. */
		kasan_check_read(buf, size);
		return strcmp(node->name, "full") ? (long)size : -ENOSPC;
	}
	if (node->type == RAMFS_DIR)
		return -EISDIR;
	ramfs_lock(fs);
	count = __write(node, buf, size, pos);
	ramfs_unlock(fs);
	return count;
}

long ramfs_append(struct ramfs *fs, struct ramfs_node *node, const void *buf, size_t size, u64 *pos)
{
	long count;

	if (node->type != RAMFS_FILE)
		return ramfs_write(fs, node, buf, size, 0);
	ramfs_lock(fs);
	count = __write(node, buf, size, node->size);
	*pos = node->size;
	ramfs_unlock(fs);
	return count;
}

long ramfs_truncate(struct ramfs *fs, struct ramfs_node *node, u64 size)
{
	long error = 0;

	if (node->type != RAMFS_FILE)
		return node->type == RAMFS_DIR ? -EISDIR : -EINVAL;
	ramfs_lock(fs);
	if (!size) {
		ramfs_free_contents(node);
	} else if (size > node->size) {
		error = __grow(node, size);
	} else {
		/* Bytes past the end may come back as part of a hole, which __grow() clears. */
		node->size = size;
	}
	if (!error)
		node->modified = node->changed = clock_ns();
	ramfs_unlock(fs);
	return error;
}

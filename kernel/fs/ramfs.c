// SPDX-License-Identifier: MIT
/*
 * ramfs.c - the tree of a file system in memory: nodes, names, directories. contents.c has what files hold.
 *
 * A node lives as long as it has a name or a reference. Only the tree's lock protects it all: every function takes it,
 * and those with two underscores expect it to be held.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/time.h>

#include "internal.h"

/* Cookies of directory entries: "." and ".." come before the children's places. */
#define COOKIE_SELF   0
#define COOKIE_PARENT 1
#define COOKIE_FIRST  2

void ramfs_lock(struct ramfs *fs)
{
	/* Not a mutex: see <kernel/ramfs.h>. */
	while (__atomic_exchange_n(&fs->locked, true, __ATOMIC_ACQUIRE))
		yield();
}

void ramfs_unlock(struct ramfs *fs)
{
	__atomic_store_n(&fs->locked, false, __ATOMIC_RELEASE);
}

bool ramfs_is_locked(struct ramfs *fs)
{
	return __atomic_load_n(&fs->locked, __ATOMIC_RELAXED);
}

struct ramfs_node *ramfs_root(struct ramfs *fs)
{
	return &fs->root;
}

static void init_node(struct ramfs *fs, struct ramfs_node *node, enum ramfs_type type, u32 mode)
{
	node->type = type;
	node->mode = mode & 0777;
	node->ino = ++fs->last_ino;
	node->accessed = node->modified = node->changed = clock_ns();
	INIT_LIST_HEAD(&node->children);
}

/* Free @node if nothing refers to it any more. */
static void __drop_node(struct ramfs *fs, struct ramfs_node *node)
{
	if (node == &fs->root || node->parent || node->references)
		return;
	ramfs_free_contents(node);
	kfree(node->name);
	kfree(node);
}

void ramfs_get(struct ramfs *fs, struct ramfs_node *node)
{
	ramfs_lock(fs);
	node->references++;
	ramfs_unlock(fs);
}

void ramfs_put(struct ramfs *fs, struct ramfs_node *node)
{
	ramfs_lock(fs);
	node->references--;
	__drop_node(fs, node);
	ramfs_unlock(fs);
}

static struct ramfs_node *find_child(struct ramfs_node *dir, const char *name, size_t length)
{
	struct ramfs_node *node;

	list_for_each_entry (node, &dir->children, siblings)
		if (!strncmp(node->name, name, length) && !node->name[length])
			return node;
	return NULL;
}

static void attach(struct ramfs_node *dir, struct ramfs_node *node)
{
	node->parent = dir;
	/* Never used again, so a cookie stays good while entries come and go. */
	node->place = dir->next_place++;
	list_add_tail(&node->siblings, &dir->children);
	dir->directories += node->type == RAMFS_DIR;
	dir->modified = dir->changed = clock_ns();
}

static void detach(struct ramfs_node *node)
{
	struct ramfs_node *dir = node->parent;

	list_del(&node->siblings);
	node->parent = NULL;
	dir->directories -= node->type == RAMFS_DIR;
	dir->modified = dir->changed = node->changed = clock_ns();
}

/** struct place - where the last part of a path is, or may be made */
struct place {
	struct ramfs_node *dir;
	struct ramfs_node *node; /* NULL: there is none; @dir itself for "." and for "/" */
	const char *name;	 /* of @length bytes, not terminated; 0: "." or ".." or nothing */
	size_t length;
	bool must_be_dir; /* a slash follows */
};

/* Walk @path to its last part. */
static long __find(struct ramfs *fs, struct ramfs_node *base, const char *path, struct place *place)
{
	struct ramfs_node *dir = *path == '/' ? &fs->root : base;

	if (!*path)
		return -ENOENT;
	if (strnlen(path, RAMFS_PATH_MAX) == RAMFS_PATH_MAX)
		return -ENAMETOOLONG;
	*place = (struct place){.dir = dir, .node = dir};
	for (;;) {
		while (*path == '/')
			path++;
		if (!*path)
			return 0;
		/* Another part follows, so this one has to be a directory. */
		if (!place->node)
			return -ENOENT;
		dir = place->node;
		if (dir->type != RAMFS_DIR)
			return -ENOTDIR;
		place->dir = dir;
		place->name = path;
		place->length = strcspn(path, "/");
		path += place->length;
		place->must_be_dir = *path == '/';
		if (place->length > RAMFS_NAME_MAX)
			return -ENAMETOOLONG;
		if (place->length == 1 && place->name[0] == '.') {
			place->length = 0;
		} else if (place->length == 2 && !strncmp(place->name, "..", 2)) {
			place->length = 0;
			place->node = dir->parent ?: dir;
		} else {
			place->node = find_child(dir, place->name, place->length);
		}
	}
}

long ramfs_lookup(struct ramfs *fs, struct ramfs_node *base, const char *path,
		  struct ramfs_node **found)
{
	struct place place;
	long error;

	ramfs_lock(fs);
	error = __find(fs, base, path, &place);
	if (!error && !place.node)
		error = -ENOENT;
	if (!error && place.must_be_dir && place.node->type != RAMFS_DIR)
		error = -ENOTDIR;
	if (!error) {
		place.node->references++;
		*found = place.node;
	}
	ramfs_unlock(fs);
	return error;
}

/* Make what @place describes, which is free. Return: the node; NULL: no memory. */
static struct ramfs_node *__make(struct ramfs *fs, const struct place *place, enum ramfs_type type,
				 u32 mode)
{
	struct ramfs_node *node = kzalloc(sizeof(*node), GFP_KERNEL | __GFP_NOWARN);
	char *name = kstrndup(place->name, place->length, GFP_KERNEL | __GFP_NOWARN);

	if (!node || !name) {
		kfree(node);
		kfree(name);
		return NULL;
	}
	init_node(fs, node, type, mode);
	node->name = name;
	attach(place->dir, node);
	return node;
}

long ramfs_make(struct ramfs *fs, struct ramfs_node *base, const char *path, enum ramfs_type type,
		u32 mode, bool exclusive, struct ramfs_node **found)
{
	struct place place;
	long error;

	ramfs_lock(fs);
	error = __find(fs, base, path, &place);
	if (!error && place.node) {
		if (exclusive)
			error = -EEXIST;
		else if (place.must_be_dir && place.node->type != RAMFS_DIR)
			error = -ENOTDIR;
	} else if (!error) {
		/* A directory that was removed takes no new entry. */
		if (place.dir != &fs->root && !place.dir->parent)
			error = -ENOENT;
		else if (place.must_be_dir && type != RAMFS_DIR)
			error = -EISDIR;
		else
			place.node = __make(fs, &place, type, mode);
		if (!error && !place.node)
			error = -ENOMEM;
	}
	if (!error && found) {
		place.node->references++;
		*found = place.node;
	}
	ramfs_unlock(fs);
	return error;
}

/* Return: 0 if what is at @place may lose its name. */
static long removable(struct ramfs *fs, const struct place *place, bool directory)
{
	if (!place->node)
		return -ENOENT;
	if (place->node == &fs->root)
		return -EBUSY;
	if (!place->length)
		return directory ? -EINVAL : -EISDIR;
	if (directory && place->node->type != RAMFS_DIR)
		return -ENOTDIR;
	if (!directory && place->node->type == RAMFS_DIR)
		return -EISDIR;
	if (!directory && place->must_be_dir)
		return -ENOTDIR;
	return list_empty(&place->node->children) ? 0 : -ENOTEMPTY;
}

long ramfs_remove(struct ramfs *fs, struct ramfs_node *base, const char *path, bool directory)
{
	struct place place;
	long error;

	ramfs_lock(fs);
	error = __find(fs, base, path, &place) ?: removable(fs, &place, directory);
	if (!error) {
		detach(place.node);
		__drop_node(fs, place.node);
	}
	ramfs_unlock(fs);
	return error;
}

static bool is_inside(const struct ramfs_node *node, const struct ramfs_node *dir)
{
	for (; node; node = node->parent)
		if (node == dir)
			return true;
	return false;
}

static long __rename(struct ramfs *fs, const struct place *from, const struct place *to, bool keep)
{
	char *name;
	long error;

	if (!from->node)
		return -ENOENT;
	if (!from->length || !to->length)
		return -EBUSY;
	if (from->node->type != RAMFS_DIR && (from->must_be_dir || to->must_be_dir))
		return -ENOTDIR;
	if (is_inside(to->dir, from->node))
		return -EINVAL;
	if (to->node && keep)
		return -EEXIST;
	if (to->node == from->node)
		return 0;
	error = to->node ? removable(fs, to, from->node->type == RAMFS_DIR) : 0;
	if (error)
		return error;
	if (to->dir != &fs->root && !to->dir->parent)
		return -ENOENT;
	name = kstrndup(to->name, to->length, GFP_KERNEL | __GFP_NOWARN);
	if (!name)
		return -ENOMEM;
	if (to->node) {
		detach(to->node);
		__drop_node(fs, to->node);
	}
	detach(from->node);
	kfree(from->node->name);
	from->node->name = name;
	attach(to->dir, from->node);
	return 0;
}

long ramfs_rename(struct ramfs *fs, struct ramfs_node *base, const char *from,
		  struct ramfs_node *to_base, const char *to, bool keep)
{
	struct place old, new;
	long error;

	ramfs_lock(fs);
	error = __find(fs, base, from, &old) ?: __find(fs, to_base, to, &new);
	if (!error)
		error = __rename(fs, &old, &new, keep);
	ramfs_unlock(fs);
	return error;
}

/* Make the directories above the last part of @path. */
static long make_parents(struct ramfs *fs, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *part = kstrndup(path, (size_t)(slash - path), GFP_KERNEL | __GFP_NOWARN);
		long error = part ? 0 : -ENOMEM;

		if (part && *part)
			error = ramfs_make(fs, &fs->root, part, RAMFS_DIR, 0755, false, NULL);
		kfree(part);
		if (error)
			return error;
	}
	return 0;
}

long ramfs_add_borrowed(struct ramfs *fs, const char *path, const void *data, size_t size)
{
	struct ramfs_node *node;
	long error = make_parents(fs, path);

	if (error)
		return error;
	error = ramfs_make(fs, &fs->root, path, RAMFS_FILE, 0644, false, &node);
	if (error)
		return error;
	if (node->type == RAMFS_FILE)
		ramfs_borrow(node, data, size);
	else
		error = -EISDIR;
	ramfs_put(fs, node);
	return error;
}

static void __info(const struct ramfs_node *node, struct ramfs_info *info)
{
	bool named = node->parent || node->type == RAMFS_DIR;

	*info = (struct ramfs_info){
		.ino = node->ino,
		.type = node->type,
		.mode = node->mode,
		.nlink = node->type == RAMFS_DIR ? 2 + node->directories : named,
		.size = node->size,
		.accessed = node->accessed,
		.modified = node->modified,
		.changed = node->changed,
	};
}

void ramfs_info(struct ramfs *fs, struct ramfs_node *node, struct ramfs_info *info)
{
	ramfs_lock(fs);
	__info(node, info);
	ramfs_unlock(fs);
}

void ramfs_set_mode(struct ramfs *fs, struct ramfs_node *node, u32 mode)
{
	ramfs_lock(fs);
	node->mode = mode & 0777;
	node->changed = clock_ns();
	ramfs_unlock(fs);
}

void ramfs_set_times(struct ramfs *fs, struct ramfs_node *node, u64 accessed, u64 modified)
{
	ramfs_lock(fs);
	node->accessed = accessed;
	node->modified = modified;
	node->changed = clock_ns();
	ramfs_unlock(fs);
}

/* Return: the first child of @dir at @place or after; NULL if there is none. */
static struct ramfs_node *child_from(struct ramfs_node *dir, u64 place)
{
	struct ramfs_node *node;

	list_for_each_entry (node, &dir->children, siblings)
		if (node->place >= place)
			return node;
	return NULL;
}

long ramfs_entry(struct ramfs *fs, struct ramfs_node *dir, u64 *cookie, char *name,
		 struct ramfs_info *info)
{
	struct ramfs_node *node;

	if (dir->type != RAMFS_DIR)
		return -ENOTDIR;
	ramfs_lock(fs);
	if (*cookie == COOKIE_SELF) {
		strscpy(name, ".", RAMFS_NAME_MAX + 1);
		node = dir;
		*cookie = COOKIE_PARENT;
	} else if (*cookie == COOKIE_PARENT) {
		strscpy(name, "..", RAMFS_NAME_MAX + 1);
		node = dir->parent ?: dir;
		*cookie = COOKIE_FIRST;
	} else {
		node = child_from(dir, *cookie - COOKIE_FIRST);
		if (node) {
			strscpy(name, node->name, RAMFS_NAME_MAX + 1);
			*cookie = node->place + COOKIE_FIRST + 1;
		}
	}
	if (node)
		__info(node, info);
	ramfs_unlock(fs);
	return node != NULL;
}

long ramfs_path(struct ramfs *fs, struct ramfs_node *dir, char *buf, size_t size)
{
	size_t need = 1, at;
	long result;

	ramfs_lock(fs);
	for (struct ramfs_node *node = dir; node->parent; node = node->parent)
		need += strlen(node->name) + 1;
	if (dir != &fs->root && !dir->parent) {
		result = -ENOENT;
	} else if (dir == &fs->root) {
		result = size < 2 ? -ERANGE : strscpy(buf, "/", size) + 1;
	} else if (size < need) {
		result = -ERANGE;
	} else {
		/* From the end to the beginning. */
		at = need - 1;
		buf[at] = '\0';
		for (struct ramfs_node *node = dir; node->parent; node = node->parent) {
			size_t length = strlen(node->name);

			at -= length;
			memcpy(buf + at, node->name, length);
			buf[--at] = '/';
		}
		result = (long)need;
	}
	ramfs_unlock(fs);
	return result;
}

void ramfs_destroy(struct ramfs *fs)
{
	struct ramfs_node *dir = &fs->root;

	/* Down to a node without children, and from there up again: no recursion. */
	for (;;) {
		struct ramfs_node *node;

		if (!list_empty(&dir->children)) {
			dir = list_first_entry(&dir->children, struct ramfs_node, siblings);
			continue;
		}
		if (dir == &fs->root)
			break;
		node = dir;
		dir = dir->parent;
		detach(node);
		ramfs_free_contents(node);
		kfree(node->name);
		kfree(node);
	}
	kfree(fs);
}

struct ramfs *ramfs_create(void)
{
	static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
					      "/dev/random", "/dev/urandom", "/dev/stdin",
					      "/dev/stdout", "/dev/stderr"};
	struct ramfs *fs = kzalloc(sizeof(*fs), GFP_KERNEL | __GFP_NOWARN);
	long error;

	if (!fs)
		return NULL;
	init_node(fs, &fs->root, RAMFS_DIR, 0755);
	error = ramfs_make(fs, &fs->root, "/tmp", RAMFS_DIR, 0777, true, NULL)
			?: ramfs_make(fs, &fs->root, "/dev", RAMFS_DIR, 0755, true, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(devices) && !error; i++)
		error = ramfs_make(fs, &fs->root, devices[i], RAMFS_DEVICE, 0666, true, NULL);
	if (error) {
		ramfs_destroy(fs);
		return NULL;
	}
	return fs;
}

/* SPDX-License-Identifier: MIT */
/*
 * files.c - the files of the build-like mix: a folder in memory, with the locks that a file system has. Instrumented.
 *
 * A name is looked up under RCU. Each find moves the file to the end of the list of recent ones, which all CPUs share.
 * A block that is appended is written back by a work item of its own, so that every kernel does the same amount of
 * work, however late its workers come.
 *
 * The order of the locks: folder, file, then one of the spin locks. No two spin locks nest.
 *
 * On QEMU's single host thread a CPU gives way only when it waits, so that two would hardly ever meet at a lock. Where a
 * holder has cpu_relax(), the other CPUs run until they wait, and want the lock.
 */
#include <kernel/atomic.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/rculist.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>
#include <kernel/uaccess.h>
#include <kernel/workqueue.h>
#include <asm/barrier.h>

#include "bench.h"
#include "files.h"
#include "mix.h"

#define BUCKETS 16U
/* Every so many finds the list of recent files is looked through, this far. */
#define BALANCE_EACH  16U
#define BALANCE_DEPTH 8U

/**
 * struct file - a file in memory
 * @entry: in its bucket, for RCU readers; changed under folder_lock.
 * @recent: in the list of recent files, under recent_lock.
 * @usage: references: one of the folder, and one of each user and of each block not yet written back.
 * @lock: guards @blocks. @state_lock: guards @size and @dirty, the number of blocks not yet written back.
 */
struct file {
	struct list_head entry;
	struct list_head recent;
	char name[MIX_NAME];
	atomic_t usage;
	struct mutex lock;
	struct list_head blocks;
	spinlock_t state_lock;
	size_t size;
	unsigned int dirty;
	struct rcu_head rcu;
};

/** struct file_block - bytes of a file, and the work item that writes them back */
struct file_block {
	struct list_head entry;
	struct work_struct work;
	struct file *file;
	bool dirty;
	u32 sum;
	size_t size;
	u8 data[];
};

static DEFINE_MUTEX(folder_lock);
static struct list_head buckets[BUCKETS];
static DEFINE_SPINLOCK(recent_lock);
static LIST_HEAD(recent_files);
static unsigned int finds;
static DEFINE_SPINLOCK(counts_lock);
static struct bench_file_counts counts;
static struct workqueue_struct *writeback;

/* Interrupts off, as statistics that handlers share have it. */
static void count(unsigned long *counter, unsigned long n)
{
	unsigned long flags;

	spin_lock_irqsave(&counts_lock, flags);
	*counter += n;
	spin_unlock_irqrestore(&counts_lock, flags);
}

/* --- Looking up and going away ------------------------------------------------------------------------ */

static struct list_head *bucket_of(const char *name)
{
	u32 hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (u8)*name) * 16777619U;
	return &buckets[hash % BUCKETS];
}

static void free_file(struct rcu_head *rcu)
{
	struct file *file = container_of(rcu, struct file, rcu);
	struct file_block *block, *next;

	list_for_each_entry_safe (block, next, &file->blocks, entry)
		kfree(block);
	kfree(file);
}

static void put_file(struct file *file)
{
	if (!atomic_dec_and_test(&file->usage))
		return;
	spin_lock(&recent_lock);
	list_del(&file->recent);
	spin_unlock(&recent_lock);
	call_rcu(&file->rcu, free_file);
}

/* The file was used. Now and then the oldest ones are looked at, as memory management would. */
static void touch(struct file *file)
{
	unsigned int depth = 0, large = 0;
	struct file *old;

	spin_lock(&recent_lock);
	list_move_tail(&file->recent, &recent_files);
	if (++finds % BALANCE_EACH == 0) {
		list_for_each_entry (old, &recent_files, recent) {
			large += READ_ONCE(old->size) > MIX_BLOCK;
			cpu_relax();
			if (++depth == BALANCE_DEPTH)
				break;
		}
	}
	HIDE_VAR(large);
	spin_unlock(&recent_lock);
}

/* Return: the file with a reference, or NULL. */
static struct file *find_file(const char *name)
{
	struct file *file, *found = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(file, bucket_of(name), entry)
	{
		if (!strcmp(file->name, name) && atomic_add_unless(&file->usage, 1, 0)) {
			found = file;
			break;
		}
	}
	rcu_read_unlock();
	if (found)
		touch(found);
	count(found ? &counts.lookups : &counts.misses, 1);
	return found;
}

static long create(const char *name)
{
	struct file *file = kzalloc(sizeof(*file), GFP_KERNEL), *other;
	long err = 0;

	if (!file)
		return -ENOMEM;
	strscpy(file->name, name, sizeof(file->name));
	atomic_set(&file->usage, 1);
	mutex_init(&file->lock);
	spin_lock_init(&file->state_lock);
	INIT_LIST_HEAD(&file->blocks);
	mutex_lock(&folder_lock);
	cpu_relax();
	list_for_each_entry (other, bucket_of(name), entry) {
		if (!strcmp(other->name, name))
			err = -EEXIST;
	}
	if (!err) {
		spin_lock(&recent_lock);
		list_add_tail(&file->recent, &recent_files);
		spin_unlock(&recent_lock);
		list_add_rcu(&file->entry, bucket_of(name));
	}
	mutex_unlock(&folder_lock);
	if (err)
		kfree(file);
	else
		count(&counts.created, 1);
	return err;
}

long bench_file_remove(const char *name)
{
	struct file *file, *found = NULL;

	mutex_lock(&folder_lock);
	list_for_each_entry (file, bucket_of(name), entry) {
		if (!strcmp(file->name, name)) {
			list_del_rcu(&file->entry);
			found = file;
			break;
		}
	}
	mutex_unlock(&folder_lock);
	if (!found)
		return -ENOENT;
	put_file(found);
	count(&counts.removed, 1);
	return 0;
}

/* --- Contents ---------------------------------------------------------------------------------------- */

/* A work item: copy the block as for a device, and sum it up. */
static void write_back(struct work_struct *work)
{
	struct file_block *block = container_of(work, struct file_block, work);
	struct file *file = block->file;
	u8 *copy = kmalloc(block->size, GFP_KERNEL);
	u32 sum = 0;

	if (!copy)
		bench_fail("a block");
	mutex_lock(&file->lock);
	memcpy(copy, block->data, block->size);
	for (size_t i = 0; i + sizeof(u32) <= block->size; i += sizeof(u32))
		sum += *(const u32 *)(copy + i);
	block->sum = sum;
	block->dirty = false;
	mutex_unlock(&file->lock);
	spin_lock(&file->state_lock);
	file->dirty--;
	spin_unlock(&file->state_lock);
	kfree(copy);
	count(&counts.writebacks, 1);
	put_file(file);
}

/* Append @block, which the file owns from now on. */
static void append(struct file *file, struct file_block *block)
{
	block->file = file;
	block->dirty = true;
	INIT_WORK(&block->work, write_back);
	atomic_inc(&file->usage);
	mutex_lock(&file->lock);
	list_add_tail(&block->entry, &file->blocks);
	mutex_unlock(&file->lock);
	spin_lock(&file->state_lock);
	file->size += block->size;
	file->dirty++;
	spin_unlock(&file->state_lock);
	count(&counts.written, block->size);
	queue_work(writeback, &block->work);
}

static struct file_block *new_block(size_t size)
{
	struct file_block *block = kmalloc(sizeof(*block) + size, GFP_KERNEL);

	if (block)
		block->size = size;
	return block;
}

static long append_from_user(struct file *file, const void __user *from, size_t size)
{
	struct file_block *block;

	if (size > MIX_BLOCK)
		return -EINVAL;
	block = new_block(size);
	if (!block)
		return -ENOMEM;
	if (copy_from_user(block->data, from, size)) {
		kfree(block);
		return -EFAULT;
	}
	append(file, block);
	return 0;
}

/* User memory is written without the file's lock, because that may wait for memory. */
static long read_to_user(struct file *file, void __user *to, size_t size)
{
	struct file_block *block;
	size_t done = 0;
	long result;
	u8 *copy;

	if (size > MIX_SOURCE)
		return -EINVAL;
	copy = kmalloc(size, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	mutex_lock(&file->lock);
	list_for_each_entry (block, &file->blocks, entry) {
		size_t n = min(block->size, size - done);

		memcpy(copy + done, block->data, n);
		done += n;
	}
	mutex_unlock(&file->lock);
	result = copy_to_user(to, copy, done) ? -EFAULT : (long)done;
	kfree(copy);
	count(&counts.read, done);
	return result;
}

/* A block that is not yet written back, or NULL. Blocks stay until the last reference to the file is gone. */
static struct file_block *dirty_block(struct file *file)
{
	struct file_block *block, *found = NULL;

	mutex_lock(&file->lock);
	list_for_each_entry (block, &file->blocks, entry) {
		if (block->dirty) {
			found = block;
			break;
		}
	}
	mutex_unlock(&file->lock);
	return found;
}

static long sync_file(struct file *file)
{
	struct file_block *block;

	while ((block = dirty_block(file)))
		flush_work(&block->work);
	return 0;
}

static long file_size(struct file *file)
{
	long size;

	spin_lock(&file->state_lock);
	size = (long)file->size;
	spin_unlock(&file->state_lock);
	return size;
}

/* --- From outside ------------------------------------------------------------------------------------ */

static long do_call(unsigned long op, const char *name, void __user *data, size_t size)
{
	struct file *file;
	long result;

	if (op == MIX_CREATE)
		return create(name);
	if (op == MIX_REMOVE)
		return bench_file_remove(name);
	file = find_file(name);
	if (!file)
		return -ENOENT;
	switch (op) {
	case MIX_LOOK_UP:
		result = file_size(file);
		break;
	case MIX_APPEND:
		result = append_from_user(file, data, size);
		break;
	case MIX_READ:
		result = read_to_user(file, data, size);
		break;
	case MIX_SYNC:
		result = sync_file(file);
		break;
	default:
		result = -EINVAL;
	}
	put_file(file);
	return result;
}

long bench_file_call(const u64 *args)
{
	char name[MIX_NAME];
	long length = strncpy_from_user(name, (const char __user *)args[1], sizeof(name));

	if (length < 0)
		return length;
	if (length == sizeof(name))
		return -ENAMETOOLONG;
	return do_call(args[0], name, (void __user *)args[2], args[3]);
}

bool bench_file_make(const char *name, unsigned int blocks)
{
	struct file *file;

	if (create(name))
		return false;
	file = find_file(name);
	for (; blocks; blocks--) {
		struct file_block *block = new_block(MIX_BLOCK);

		if (!block)
			break;
		memset(block->data, name[0], MIX_BLOCK);
		append(file, block);
	}
	put_file(file);
	return !blocks;
}

bool bench_files_start(void)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		INIT_LIST_HEAD(&buckets[i]);
	counts = (struct bench_file_counts){};
	writeback = alloc_workqueue("writeback", 0, 0);
	return writeback;
}

void bench_files_end(void)
{
	destroy_workqueue(writeback);
	rcu_barrier();
}

void bench_file_counts(struct bench_file_counts *to)
{
	unsigned long flags;

	spin_lock_irqsave(&counts_lock, flags);
	*to = counts;
	spin_unlock_irqrestore(&counts_lock, flags);
}

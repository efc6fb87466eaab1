// SPDX-License-Identifier: MIT
/* fault_libc_test.c - lets the allocators fail at every place where a system call of the C library allocates. */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/page.h>
#include <kernel/ramfs.h>
#include <kernel/sched.h>
#include <kernel/string.h>

#include "../libc/libc.h"
#include "../libc/threads.h"
#include "fault_walk.h"
#include "kasan_test.h"

/* Linux's numbers. */
#define NR_SIGALTSTACK 132
#define SS_DISABLE     2
#define NR_MUNMAP      215
#define NR_MREMAP      216
#define NR_MMAP	       222
#define MAP_PRIVATE    0x02
#define MAP_ANONYMOUS  0x20
#define MREMAP_MAYMOVE 1
#define PROT_RW	       3

static int mapping_work(void)
{
	long addr = redzone_syscall(NR_MMAP, 0, 2 * PAGE_SIZE - 1, PROT_RW,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long moved;

	if (addr < 0 && addr >= -4095)
		return (int)addr;
	((char *)addr)[2 * PAGE_SIZE - 1] = 1;
	moved = redzone_syscall(NR_MREMAP, addr, 2 * PAGE_SIZE, 3 * PAGE_SIZE, MREMAP_MAYMOVE, 0,
				0);
	/* The old mapping is as it was. */
	if (moved < 0 && moved >= -4095) {
		if (((char *)addr)[2 * PAGE_SIZE - 1] != 1 ||
		    redzone_syscall(NR_MUNMAP, addr, 2 * PAGE_SIZE, 0, 0, 0, 0))
			return -EIO;
		return (int)moved;
	}
	if (((char *)moved)[2 * PAGE_SIZE - 1] != 1)
		return -EIO;
	/* Two parts, of which the second is the last. */
	if (redzone_syscall(NR_MUNMAP, moved, PAGE_SIZE, 0, 0, 0, 0) ||
	    redzone_syscall(NR_MUNMAP, moved + PAGE_SIZE, 2 * PAGE_SIZE, 0, 0, 0, 0))
		return -EIO;
	return 0;
}

static void mappings(struct kunit *test)
{
	fault_walk_own(test, mapping_work, 2);
}

static int signal_stack_work(void)
{
	struct libc_stack stack = {.size = THREAD_SIZE};
	long error = redzone_syscall(NR_SIGALTSTACK, (long)&stack, 0, 0, 0, 0, 0);

	if (error)
		return (int)error;
	stack.flags = SS_DISABLE;
	return redzone_syscall(NR_SIGALTSTACK, (long)&stack, 0, 0, 0, 0, 0) ? -EIO : 0;
}

static void signal_stacks(struct kunit *test)
{
	fault_walk_own(test, signal_stack_work, 2);
}

/* A tree with a file, a long name, a directory and a hole; all of it is freed again. */
static int tree_work(void)
{
	static const char text[] = "contents";
	struct ramfs *fs = ramfs_create();
	struct ramfs_node *root, *node = NULL;
	char back[sizeof(text)];
	long error;

	if (!fs)
		return -ENOMEM;
	root = ramfs_root(fs);
	error = ramfs_add_borrowed(fs, "one/two/image.txt", text, sizeof(text));
	if (!error)
		error = ramfs_rename(fs, root, "one/two/image.txt", root, "/tmp/../copy", false);
	if (!error)
		error = ramfs_lookup(fs, root, "copy", &node);
	if (!error)
		error = min(ramfs_write(fs, node, "C", 1, 0), 0L);
	if (!error)
		error = ramfs_truncate(fs, node, 3 * PAGE_SIZE);
	if (!error && (ramfs_read(fs, node, back, sizeof(back), 0) != sizeof(back) ||
		       strcmp(back, "Contents")))
		error = -EIO;
	if (!error && ramfs_remove(fs, root, "one", true) != -ENOTEMPTY)
		error = -EIO;
	if (node)
		ramfs_put(fs, node);
	ramfs_destroy(fs);
	return error == -ENOSPC ? -ENOMEM : (int)error;
}

static void trees(struct kunit *test)
{
	fault_walk_own(test, tree_work, 5);
}

static int open_work(void)
{
	struct libc_iovec piece = {.base = "x", .len = 1};
	long fd, error;

	if (!libc_files_reset())
		return -ENOMEM;
	fd = libc_openat(-100, "/tmp/file", 0101, 0600);
	error = fd < 0 ? fd : libc_writev((int)fd, &piece, 1, NULL);
	libc_files_end();
	return error == -ENOSPC ? -ENOMEM : (int)min(error, 0L);
}

static int pipe_work(void)
{
	struct libc_iovec piece = {.base = "x", .len = 1};
	int fds[2];
	long error;

	if (!libc_files_reset())
		return -ENOMEM;
	error = libc_pipe2(fds, 0);
	if (!error && libc_writev(fds[1], &piece, 1, NULL) != 1)
		error = -EIO;
	libc_files_end();
	return (int)error;
}

static void pipes(struct kunit *test)
{
	fault_walk_own(test, pipe_work, 5);
}

/* A program's own tree, and a descriptor. */
static void opened_files(struct kunit *test)
{
	fault_walk_own(test, open_work, 5);
}

static int thread_fn(void *arg)
{
	WRITE_ONCE(*(int *)arg, 1);
	return 0;
}

/* A thread that was made runs, says where it is waited for that it ended, and is gone. */
static int thread_work(void)
{
	int ran = 0, tid = 0, ended = 1;
	long number;

	libc_threads_reset();
	number = redzone_libc_thread(thread_fn, &ran, THREAD_SIZE, NULL, &tid, &ended);
	/* Its stack and structure are given back after it has said that it ended. */
	while (number > 0 && (READ_ONCE(ended) || libc_interrupt(number, 0, false)))
		yield();
	if (number < 0)
		return (int)number;
	return ran && tid == number ? 0 : -EIO;
}

static void threads(struct kunit *test)
{
	fault_walk_own(test, thread_work, 3);
}

KASAN_SUITE(fault_libc, KUNIT_CASE(mappings), KUNIT_CASE(signal_stacks), KUNIT_CASE(trees),
	    KUNIT_CASE(opened_files), KUNIT_CASE(pipes), KUNIT_CASE(threads));

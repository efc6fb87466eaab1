/* SPDX-License-Identifier: MIT
 * mmap() and its relatives: private copies of files, memory, and parts of mappings. Without a bug. The boot image has
 * data.txt with the 24 bytes "one 1\ntwo 2\nthree 3\n". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define PAGE 4096UL

static int is_zero(const char *memory, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (memory[i])
			return 0;
	return 1;
}

/* A file of the boot image. */
static void image(void)
{
	int fd = open("data.txt", O_RDONLY);
	struct stat info;
	char buf[32];
	char *map, *seen;

	CHECK(fd >= 0 && !fstat(fd, &info) && info.st_size == 20);
	CHECK(read(fd, buf, 6) == 6 && !memcmp(buf, "one 1\n", 6));
	map = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	seen = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED && seen != MAP_FAILED &&
	      !memcmp(map, "one 1\ntwo 2\nthree 3\n", 20));
	/* Mapping does not move the place for read(). */
	CHECK(read(fd, buf, 6) == 6 && !memcmp(buf, "two 2\n", 6));
	CHECK(is_zero(map + 20, PAGE - 20) && seen[4] == '1');
	/* Nobody else sees what is written to a private copy. */
	map[4] = '9';
	CHECK(pread(fd, buf, 6, 0) == 6 && buf[4] == '1' && seen[4] == '1');
	CHECK(!close(fd) && map[4] == '9' && map[10] == '2');
	CHECK(!munmap(map, 20) && !munmap(seen, 20));
}

static void offsets(void)
{
	int fd = open("/tmp/large", O_RDWR | O_CREAT, 0600);
	char page[PAGE];
	char *map;

	for (int i = 0; i < 3; i++) {
		memset(page, 'a' + i, sizeof(page));
		CHECK(write(fd, page, i < 2 ? PAGE : 100) == (i < 2 ? (long)PAGE : 100));
	}
	map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PAGE);
	CHECK(map != MAP_FAILED && map[0] == 'b' && map[PAGE - 1] == 'b' && map[PAGE] == 'c' &&
	      map[PAGE + 99] == 'c' && is_zero(map + PAGE + 100, PAGE - 100));
	map[1] = 'X';
	CHECK(pread(fd, page, 2, PAGE) == 2 && page[1] == 'b');
	CHECK(pwrite(fd, "Y", 1, PAGE + 1) == 1 && map[1] == 'X' && !munmap(map, 2 * PAGE));
	/* Behind the end all is zero. */
	map = mmap(NULL, 6 * PAGE, PROT_READ, MAP_PRIVATE, fd, 2 * PAGE);
	CHECK(map != MAP_FAILED && map[0] == 'c' && is_zero(map + 100, 6 * PAGE - 100) &&
	      !munmap(map, 6 * PAGE));
	/* The file may go. */
	map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(!close(fd) && !unlink("/tmp/large") && map[9] == 'a' && !munmap(map, PAGE));
}

static int fails(int error, void *result)
{
	return result == MAP_FAILED && errno == error;
}

static void errors(void)
{
	int fd = open("data.txt", O_RDONLY), write_only = open("/tmp/w", O_WRONLY | O_CREAT, 0600);
	int directory = open("/", O_RDONLY);
	char *map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(fails(EINVAL, mmap(NULL, 0, PROT_READ, MAP_PRIVATE, fd, 0)));
	CHECK(fails(EINVAL, mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 17)));
	CHECK(fails(EBADF, mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 99, 0)));
	CHECK(fails(EACCES, mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, write_only, 0)));
	CHECK(fails(ENODEV, mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, directory, 0)));
	CHECK(fails(ENOMEM, mmap(NULL, 1UL << 40, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
	CHECK(fails(EINVAL, mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)));
	CHECK(munmap(map + 1, PAGE) == -1 && errno == EINVAL);
	CHECK(munmap(map, 0) == -1 && errno == EINVAL);
	CHECK(fails(ENOMEM, mremap(map, PAGE, 2 * PAGE, 0)) && !munmap(map, PAGE));
	CHECK(fails(EFAULT, mremap(map, PAGE, 2 * PAGE, MREMAP_MAYMOVE)));
	close(fd);
	close(write_only);
	close(directory);
}

static void memory(void)
{
	char *map =
		mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *moved, *fixed;
	int fd = open("data.txt", O_RDONLY);

	CHECK(map != MAP_FAILED && is_zero(map, 8 * PAGE));
	for (int i = 0; i < 8; i++)
		memset(map + (size_t)i * PAGE, '0' + i, PAGE);
	/* Allocators trim what they have mapped at both ends. */
	CHECK(!munmap(map, PAGE) && !munmap(map + 6 * PAGE, 2 * PAGE) && map[PAGE] == '1' &&
	      map[6 * PAGE - 1] == '5');
	CHECK(!madvise(map + PAGE, PAGE, MADV_DONTNEED) && is_zero(map + PAGE, PAGE) &&
	      map[2 * PAGE] == '2');
	CHECK(!mprotect(map + 3 * PAGE, 2 * PAGE, PROT_NONE) &&
	      !mprotect(map + 3 * PAGE, PAGE, PROT_READ) && map[3 * PAGE] == '3' &&
	      !mprotect(map + 3 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE));
	map[4 * PAGE] = 'x';
	CHECK(map[4 * PAGE + 1] == '4');
	fixed = mmap(map + 4 * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	CHECK(fixed == map + 4 * PAGE && !memcmp(fixed, "one", 3) &&
	      is_zero(fixed + 20, PAGE - 20));
	CHECK(mremap(map + 2 * PAGE, 4 * PAGE, 3 * PAGE, 0) == map + 2 * PAGE);
	moved = mremap(map + 2 * PAGE, 3 * PAGE, 100 * PAGE, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && moved[0] == '2' && moved[PAGE] == '3' &&
	      !memcmp(moved + 2 * PAGE, "one", 3) && is_zero(moved + 3 * PAGE, 97 * PAGE));
	moved[100 * PAGE - 1] = 'e';
	CHECK(!munmap(map, 8 * PAGE) && !munmap(moved, 100 * PAGE) && !munmap(moved, 100 * PAGE));
	/* Reserved, and opened later. */
	map = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED && !mprotect(map, PAGE, PROT_READ | PROT_WRITE));
	map[PAGE - 1] = 'y';
	CHECK(!msync(map, PAGE, MS_SYNC) && !munmap(map, 4 * PAGE) && !close(fd));
	/* Often, so that a leak would fill the machine. */
	for (int i = 0; i < 100; i++) {
		map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
		CHECK(map != MAP_FAILED);
		map[i] = 1;
		CHECK(!munmap(map, 1 << 19) && !munmap(map + (1 << 19), 1 << 19));
	}
}

int main(void)
{
	image();
	offsets();
	errors();
	memory();
	puts(failed ? "mapping: bad" : "mapping: good");
	return failed;
}

/* SPDX-License-Identifier: MIT
 * Files and directories in memory. The boot image has sub/data.txt with the four bytes "abc\n". */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* To the error stream: the other goes to a file in the end. */
static void streams(void)
{
	char line[32];
	FILE *f = fopen("out.txt", "w+");

	CHECK(f && fprintf(f, "one\ntwo %d\n", 2) == 10 && !fseek(f, 4, SEEK_SET));
	CHECK(fgets(line, sizeof(line), f) && !strcmp(line, "two 2\n") && !fclose(f));
	f = fopen("out.txt", "a");
	CHECK(f && fputs("three\n", f) >= 0 && ftell(f) == 16 && !fclose(f));
	f = fopen("out.txt", "r");
	CHECK(f && fseek(f, -6, SEEK_END) == 0 && fgets(line, sizeof(line), f) &&
	      !strcmp(line, "three\n"));
	CHECK(!fclose(f));
	f = tmpfile();
	CHECK(f && fwrite("abc", 1, 3, f) == 3 && (rewind(f), fread(line, 1, 9, f)) == 3 &&
	      !fclose(f));
	CHECK(!rename("out.txt", "new.txt") && access("out.txt", F_OK) == -1 && errno == ENOENT);
	CHECK(!remove("new.txt") && remove("new.txt") == -1);
}

static void descriptors(void)
{
	struct stat info, again;
	char buf[16] = "";
	char *map;
	int fd = open("/tmp/a", O_RDWR | O_CREAT | O_EXCL, 0600), two;

	CHECK(fd == 3 && open("/tmp/a", O_CREAT | O_EXCL | O_WRONLY, 0600) == -1 &&
	      errno == EEXIST);
	CHECK(write(fd, "hello", 5) == 5 && pwrite(fd, "J", 1, 0) == 1 &&
	      lseek(fd, 0, SEEK_CUR) == 5);
	CHECK(lseek(fd, 5000, SEEK_SET) == 5000 && write(fd, "x", 1) == 1);
	CHECK(!fstat(fd, &info) && info.st_size == 5001 && (info.st_mode & 07777) == 0600 &&
	      info.st_nlink == 1);
	CHECK(pread(fd, buf, 8, 0) == 8 && !memcmp(buf, "Jello\0\0\0", 8));
	map = mmap(NULL, 5001, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(map != MAP_FAILED && map[0] == 'J' && map[5000] == 'x' && !map[4999]);
	map[0] = 'C';
	CHECK(pread(fd, buf, 1, 0) == 1 && buf[0] == 'J' && !munmap(map, 5001));
	CHECK(!ftruncate(fd, 3) && !ftruncate(fd, 6) && pread(fd, buf, 8, 0) == 6 &&
	      !memcmp(buf, "Jel\0\0\0", 6));
	two = dup(fd);
	CHECK(two == 4 && lseek(two, 2, SEEK_SET) == 2 && lseek(fd, 0, SEEK_CUR) == 2 &&
	      !close(fd));
	CHECK(read(two, buf, 1) == 1 && buf[0] == 'l');
	CHECK(!unlink("/tmp/a") && !fstat(two, &again) && again.st_nlink == 0 &&
	      again.st_ino == info.st_ino);
	CHECK(!close(two) && close(two) == -1 && errno == EBADF);
	CHECK(open("/tmp", O_WRONLY) == -1 && errno == EISDIR &&
	      open("/tmp/none/x", O_CREAT | O_WRONLY, 0600) == -1 && errno == ENOENT);
	fd = open("/dev/zero", O_RDONLY);
	CHECK(fd == 3 && read(fd, buf, 4) == 4 && !memcmp(buf, "\0\0\0", 4) && !close(fd));
	fd = open("/dev/null", O_RDWR);
	CHECK(fd == 3 && write(fd, buf, 4) == 4 && read(fd, buf, 4) == 0 && !close(fd));
	fd = open("/dev/full", O_RDWR);
	CHECK(fd == 3 && read(fd, buf, 4) == 4 && !memcmp(buf, "\0\0\0", 4) &&
	      write(fd, buf, 4) == -1 && errno == ENOSPC && !close(fd));
}

/* The names of the standard streams. */
static void standard(void)
{
	struct stat info, again;
	FILE *f = fopen("/dev/stderr", "w");
	int fd = open("/dev/stdout", O_WRONLY), kept = dup(0);

	CHECK(f && fprintf(f, "by name\n") == 8 && !fclose(f));
	CHECK(fd >= 3 && !fstat(fd, &info) && !fstat(1, &again) && info.st_ino == again.st_ino &&
	      isatty(fd) == isatty(1) && !close(fd));
	fd = open("/dev/stdin", O_RDONLY);
	CHECK(fd >= 3 && !close(fd) && !close(0));
	CHECK(open("/dev/stdin", O_RDONLY) == -1 && errno == ENOENT);
	CHECK(dup2(kept, 0) == 0 && !close(kept));
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void directories(void)
{
	struct dirent **list;
	char cwd[64], name[32];
	DIR *dir;
	int n;

	CHECK(!mkdir("d", 0755) && mkdir("d", 0755) == -1 && errno == EEXIST &&
	      !mkdir("d/e", 0700));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "d/f%02d", i);
		CHECK(close(creat(name, 0644)) == 0);
	}
	n = scandir("d", &list, NULL, by_name);
	CHECK(n == 103 && !strcmp(list[0]->d_name, ".") && !strcmp(list[2]->d_name, "e") &&
	      list[2]->d_type == DT_DIR && !strcmp(list[102]->d_name, "f99"));
	while (n > 0)
		free(list[--n]);
	free(list);
	dir = opendir("d");
	n = 0;
	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (e->d_name[0] != 'f')
			continue;
		snprintf(name, sizeof(name), "d/%s", e->d_name);
		CHECK(!unlink(name));
		n++;
	}
	CHECK(n == 100 && !closedir(dir) && rmdir("d") == -1 && errno == ENOTEMPTY);
	CHECK(!chdir("d/e") && getcwd(cwd, sizeof(cwd)) && !strcmp(cwd, "/d/e") &&
	      rename("..", "x") == -1);
	CHECK(rename("/d", "/d/e/x") == -1 && errno == EINVAL && !chdir("../.."));
	CHECK(realpath("d/../d/e/.", cwd) && !strcmp(cwd, "/d/e"));
	CHECK(!rename("d/e", "moved") && !rmdir("d") && !rmdir("moved") && rmdir("/") == -1);
}

static void image(void)
{
	struct stat info;
	struct timespec times[2] = {{1000000000, 5}, {1500000000, 7}};
	char buf[8];
	int fd = open("sub/data.txt", O_RDWR);

	CHECK(fd >= 0 && !fstat(fd, &info) && info.st_size == 4 && info.st_mtime > 1700000000);
	CHECK(write(fd, "X", 1) == 1 && pread(fd, buf, 8, 0) == 4 && !memcmp(buf, "Xbc\n", 4) &&
	      !close(fd));
	CHECK(!utimensat(AT_FDCWD, "sub/data.txt", times, 0) && !stat("/sub/data.txt", &info));
	CHECK(info.st_atime == 1000000000 && info.st_mtim.tv_sec == 1500000000 &&
	      info.st_mtim.tv_nsec == 7);
	CHECK(freopen("log", "w", stdout) != NULL);
	printf("to the file\n");
	fflush(stdout);
	fd = open("log", O_RDONLY);
	CHECK(read(fd, buf, 6) == 6 && !memcmp(buf, "to the", 6) && !close(fd));
	CHECK(freopen("/dev/null", "w", stdout) != NULL);
}

int main(void)
{
	streams();
	descriptors();
	directories();
	image();
	standard();
	fputs(failed ? "files: bad\n" : "files: good\n", stderr);
	return failed;
}

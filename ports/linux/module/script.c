// SPDX-License-Identifier: MIT
/*
 * script.c - /init of the initial RAM disk for tests: does what the lines of /script say, and stops the machine.
 *
 *	mount TYPE FOLDER	mount a file system, at a folder that is made
 *	write FILE TEXT		write the rest of the line to FILE
 *	load FILE		load a module
 *	run FILE ARGUMENT...	run a program until it ends
 *	show FILE		print a file's first 4 KiB
 *	pause SECONDS		do nothing
 *
 * A line that fails is printed, and the others are done.
 */
#include "calls.h"

#define MOST 30

static char script[64 << 10];

/* Cut @line at its next space. Return: what comes after it. */
static char *next(char *line)
{
	while (*line && *line != ' ')
		line++;
	if (*line)
		*line++ = 0;
	return line;
}

static long mount(char *type)
{
	char *folder = next(type);

	call(MKDIRAT, AT_FDCWD, (long)folder, 0755, 0, 0);
	return call(MOUNT, (long)type, (long)folder, (long)type, 0, 0);
}

static long write_text(char *path)
{
	char *text = next(path);
	const long file = call(OPENAT, AT_FDCWD, (long)path, O_WRONLY, 0, 0);
	long result;

	if (file < 0)
		return file;
	result = call(WRITE, file, (long)text, (long)length(text), 0, 0);
	call(CLOSE, file, 0, 0, 0, 0);
	return result;
}

static long run(char *path)
{
	static const char *const environment[] = {"PATH=/usr/bin:/bin", "HOME=/", NULL};
	const char *arguments[MOST + 1] = {NULL};
	int status = 0;
	long child;

	for (unsigned int i = 0; *path && i < MOST; i++) {
		arguments[i] = path;
		path = next(path);
	}
	child = call(CLONE, SIGCHLD, 0, 0, 0, 0);
	if (!child) {
		call(EXECVE, (long)arguments[0], (long)arguments, (long)environment, 0, 0);
		call(EXIT, 127, 0, 0, 0, 0);
	}
	if (child > 0)
		child = call(WAIT4, child, (long)&status, 0, 0, 0);
	return child < 0 ? child : -status;
}

static long show(const char *path)
{
	static char text[4096];
	const long file = call(OPENAT, AT_FDCWD, (long)path, 0, 0, 0);
	long size;

	if (file < 0)
		return file;
	size = call(READ, file, (long)text, sizeof(text), 0, 0);
	call(CLOSE, file, 0, 0, 0, 0);
	return size < 0 ? size : call(WRITE, 1, (long)text, size, 0, 0);
}

static long pause(const char *seconds)
{
	struct {
		int64_t seconds, nanoseconds;
	} time = {0, 0};

	for (; *seconds; seconds++)
		time.seconds = 10 * time.seconds + *seconds - '0';
	return call(NANOSLEEP, (long)&time, 0, 0, 0, 0);
}

static void carry_out(char *line)
{
	char *rest = next(line);
	long result = -1;

	switch (line[0]) {
	case 'm':
		result = mount(rest);
		break;
	case 'w':
		result = write_text(rest);
		break;
	case 'l':
		result = load(rest, "");
		break;
	case 'r':
		result = run(rest);
		break;
	case 's':
		result = show(rest);
		break;
	case 'p':
		result = pause(rest);
		break;
	default:
		break;
	}
	if (result < 0) {
		print("redzone: failed: ");
		print(line);
		print(" ");
		print(rest);
		print("\n");
	}
}

__attribute__((used)) void start(void);

__attribute__((used)) void start(void)
{
	const long file = need("/script", call(OPENAT, AT_FDCWD, (long)"/script", 0, 0, 0));
	char *line = script, *end;

	need("/script", call(READ, file, (long)script, sizeof(script) - 1, 0, 0));
	call(CLOSE, file, 0, 0, 0, 0);
	for (; *line; line = end) {
		for (end = line; *end && *end != '\n'; end++)
			;
		if (*end)
			*end++ = 0;
		carry_out(line);
	}
	print("redzone: end\n");
	stop();
}

START(start);

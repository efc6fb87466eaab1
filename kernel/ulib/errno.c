// SPDX-License-Identifier: MIT
/* errno.c - the program's errno, strerror() and perror(). One program runs at a time, in one
 * thread, so errno is one variable. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ulib.h"

static int program_errno;
static int *(*library_errno)(void);

int *__errno_location(void)
{
	return library_errno ? library_errno() : &program_errno;
}

void ulib_use_errno(int *(*location)(void))
{
	library_errno = location;
}

static const struct {
	int error;
	const char *text;
} messages[] = {
	{0, "Success"},
	{EPERM, "Operation not permitted"},
	{ENOENT, "No such file or directory"},
	{ESRCH, "No such process"},
	{EINTR, "Interrupted system call"},
	{EIO, "Input/output error"},
	{E2BIG, "Argument list too long"},
	{EBADF, "Bad file descriptor"},
	{EAGAIN, "Resource temporarily unavailable"},
	{ENOMEM, "Cannot allocate memory"},
	{EACCES, "Permission denied"},
	{EFAULT, "Bad address"},
	{EBUSY, "Device or resource busy"},
	{EEXIST, "File exists"},
	{ENODEV, "No such device"},
	{ENOTDIR, "Not a directory"},
	{EISDIR, "Is a directory"},
	{EINVAL, "Invalid argument"},
	{ENFILE, "Too many open files in system"},
	{EMFILE, "Too many open files"},
	{EFBIG, "File too large"},
	{ENOSPC, "No space left on device"},
	{ESPIPE, "Illegal seek"},
	{EROFS, "Read-only file system"},
	{EPIPE, "Broken pipe"},
	{EDOM, "Numerical argument out of domain"},
	{ERANGE, "Numerical result out of range"},
	{ENAMETOOLONG, "File name too long"},
	{ENOSYS, "No such function"},
	{ENODATA, "No data available"},
	{EPROTO, "Protocol error"},
	{EBADMSG, "Bad message"},
	{EOVERFLOW, "Value too large for defined data type"},
	{EILSEQ, "Invalid or incomplete multibyte or wide character"},
	{ENOTSUP, "Operation not supported"},
	{ENOBUFS, "No buffer space available"},
	{ETIMEDOUT, "Connection timed out"},
	{ECANCELED, "Operation canceled"},
};

char *strerror(int error)
{
	static char unknown[32];
	size_t i;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		if (messages[i].error == error)
			return (char *)messages[i].text;
	snprintf(unknown, sizeof(unknown), "Unknown error %d", error);
	return unknown;
}

void perror(const char *prefix)
{
	int error = errno;

	if (prefix && *prefix)
		fprintf(stderr, "%s: %s\n", prefix, strerror(error));
	else
		fprintf(stderr, "%s\n", strerror(error));
}

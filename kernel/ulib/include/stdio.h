/* SPDX-License-Identifier: MIT */
/*
 * stdio.h - ordinary C's <stdio.h>: output to the console, and read-only files.
 *
 * stdout is buffered by lines, so lines of different CPUs do not mix; stderr is written at once.
 * Files are those that `./redzone run --file NAME=HOSTPATH` put into the boot image; opening one
 * for writing fails with errno EROFS. stdin is that of the host, if it has one, and cannot be sought in.
 *
 * Floating point is not printed or scanned: a format with %f, %e, %g or %a is refused, the
 * function prints a message that says so and returns -1 with errno ENOTSUP. All other C17 conversions work,
 * except for wide characters (%lc, %ls).
 */
#ifndef _STDIO_H
#define _STDIO_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>

#define EOF	     (-1)
#define BUFSIZ	     1024
#define FILENAME_MAX 256
#define FOPEN_MAX    64

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2

typedef struct ulib_file FILE;
typedef long fpos_t;

extern FILE *const stdin;
extern FILE *const stdout;
extern FILE *const stderr;
#define stdin  stdin
#define stdout stdout
#define stderr stderr

/* The kernel has functions of its own by these names, with formats of its own. */
#define __ulib_name(name)	 __asm__("ulib_" #name)
#define __ulib_printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define __ulib_scanf(fmt, args)	 __attribute__((format(scanf, fmt, args)))

int snprintf(char *buf, size_t size, const char *fmt, ...) __ulib_name(snprintf)
	__ulib_printf(3, 4);
int vsnprintf(char *buf, size_t size, const char *fmt, va_list args) __ulib_name(vsnprintf)
	__ulib_printf(3, 0);
int sprintf(char *buf, const char *fmt, ...) __ulib_name(sprintf) __ulib_printf(2, 3);
int vsprintf(char *buf, const char *fmt, va_list args) __ulib_name(vsprintf) __ulib_printf(2, 0);
int sscanf(const char *text, const char *fmt, ...) __ulib_name(sscanf) __ulib_scanf(2, 3);
int vsscanf(const char *text, const char *fmt, va_list args) __ulib_name(vsscanf)
	__ulib_scanf(2, 0);

int printf(const char *fmt, ...) __ulib_printf(1, 2);
int vprintf(const char *fmt, va_list args) __ulib_printf(1, 0);
int fprintf(FILE *file, const char *fmt, ...) __ulib_printf(2, 3);
int vfprintf(FILE *file, const char *fmt, va_list args) __ulib_printf(2, 0);
int puts(const char *text);
int putchar(int c);
int fputs(const char *text, FILE *file);
int fputc(int c, FILE *file);
int putc(int c, FILE *file);
size_t fwrite(const void *data, size_t size, size_t count, FILE *file);
int fflush(FILE *file);
int setvbuf(FILE *file, char *buf, int mode, size_t size);
void setbuf(FILE *file, char *buf);

FILE *fopen(const char *path, const char *mode);
int fclose(FILE *file);
size_t fread(void *data, size_t size, size_t count, FILE *file);
int fgetc(FILE *file);
int getc(FILE *file);
int getchar(void);
int ungetc(int c, FILE *file);
char *fgets(char *buf, int size, FILE *file);
ssize_t getline(char **line, size_t *capacity, FILE *file);
int fseek(FILE *file, long offset, int whence);
long ftell(FILE *file);
void rewind(FILE *file);
int fgetpos(FILE *file, fpos_t *position);
int fsetpos(FILE *file, const fpos_t *position);
int feof(FILE *file);
int ferror(FILE *file);
void clearerr(FILE *file);
int fileno(FILE *file);
int remove(const char *path);

void perror(const char *prefix);

#endif

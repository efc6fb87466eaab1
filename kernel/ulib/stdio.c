// SPDX-License-Identifier: MIT
/* stdio.c - streams: the console for output, files of the boot image and the host's standard input for input. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ulib.h"

/**
 * struct ulib_file - one stream
 * @data, @size: contents of an input stream; the boot image holds them, no copy is made. Of @host, standard input, they
 *   are the part that was read last.
 * @pushed: character given back by ungetc(), EOF: none.
 * @output: goes to the console, at the end of each call.
 */
struct ulib_file {
	const unsigned char *data;
	size_t size;
	size_t pos;
	int pushed;
	bool output;
	bool host;
	bool eof;
	bool error;
};

static unsigned char input[BUFSIZ];
static FILE console_in = {.host = true, .pushed = EOF};
static FILE console_out = {.output = true, .pushed = EOF};
static FILE console_err = {.output = true, .pushed = EOF};

#undef stdin
#undef stdout
#undef stderr
FILE *const stdin = &console_in;
FILE *const stdout = &console_out;
FILE *const stderr = &console_err;

void ulib_reset_streams(void)
{
	console_in = (FILE){.host = true, .pushed = EOF};
	ulib_host_input_reset();
	console_out = (FILE){.output = true, .pushed = EOF};
	console_err = (FILE){.output = true, .pushed = EOF};
}

/* --- Output ----------------------------------------------------------------------------------- */

static bool writable(FILE *file)
{
	if (file->output)
		return true;
	file->error = true;
	errno = EBADF;
	return false;
}

/* What one call prints. If it is not too long, nothing comes in between. */
struct output {
	struct ulib_sink sink;
	size_t size;
	char text[512];
};

static void end_output(struct output *out)
{
	ulib_output(out->text, out->size);
	out->size = 0;
}

static void put_output(struct ulib_sink *sink, char c)
{
	struct output *out = (struct output *)sink;

	if (out->size == sizeof(out->text))
		end_output(out);
	out->text[out->size++] = c;
}

static int format_to(FILE *file, const char *name, const char *fmt, va_list args)
{
	struct output out;
	int len;

	if (!writable(file))
		return -1;
	out.sink.put = put_output;
	out.size = 0;
	len = ulib_format(&out.sink, name, fmt, args);
	if (len < 0)
		file->error = true;
	end_output(&out);
	return len;
}

int vfprintf(FILE *file, const char *fmt, va_list args)
{
	return format_to(file, "fprintf", fmt, args);
}

int vprintf(const char *fmt, va_list args)
{
	return format_to(stdout, "printf", fmt, args);
}

int fprintf(FILE *file, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = format_to(file, "fprintf", fmt, args);
	va_end(args);
	return len;
}

int printf(const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = format_to(stdout, "printf", fmt, args);
	va_end(args);
	return len;
}

int fputc(int c, FILE *file)
{
	if (!writable(file))
		return EOF;
	ulib_output(&(char){(char)c}, 1);
	return (unsigned char)c;
}

int putc(int c, FILE *file)
{
	return fputc(c, file);
}

int putchar(int c)
{
	return fputc(c, stdout);
}

static int put_text(const char *text, FILE *file, bool line)
{
	struct output out;

	if (!writable(file))
		return EOF;
	out.size = 0;
	while (*text)
		put_output(&out.sink, *text++);
	if (line)
		put_output(&out.sink, '\n');
	end_output(&out);
	return 0;
}

int fputs(const char *text, FILE *file)
{
	return put_text(text, file, false);
}

int puts(const char *text)
{
	return put_text(text, stdout, true);
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
	const char *bytes = data;
	struct output out;
	size_t total, i, n;

	if (!size || !count || !writable(file))
		return 0;
	if (__builtin_mul_overflow(size, count, &total)) {
		errno = EOVERFLOW;
		return 0;
	}
	/* A copy: the console does not check what it reads. */
	for (i = 0; i < total; i += n) {
		n = total - i < sizeof(out.text) ? total - i : sizeof(out.text);
		memcpy(out.text, bytes + i, n);
		ulib_output(out.text, n);
	}
	return count;
}

int fflush(FILE *file)
{
	return 0;
}

/* Nothing is buffered here: the kernel's console does that, and shows all of it soon. */
int setvbuf(FILE *file, char *buf, int mode, size_t size)
{
	if (mode != _IOFBF && mode != _IOLBF && mode != _IONBF) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

void setbuf(FILE *file, char *buf)
{
	setvbuf(file, buf, buf ? _IOFBF : _IONBF, BUFSIZ);
}

/* --- Files of the boot image ------------------------------------------------------------------ */

FILE *fopen(const char *path, const char *mode)
{
	FILE *file;

	if (mode[0] == 'w' || mode[0] == 'a' || strchr(mode, '+')) {
		errno = EROFS;
		return NULL;
	}
	if (mode[0] != 'r') {
		errno = EINVAL;
		return NULL;
	}
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->pushed = EOF;
	if (!ulib_image_file(path, &file->data, &file->size)) {
		free(file);
		errno = ENOENT;
		return NULL;
	}
	return file;
}

int fclose(FILE *file)
{
	fflush(file);
	/* The standard streams are not objects of the heap. */
	if (file != stdin && file != stdout && file != stderr)
		free(file);
	return 0;
}

static bool readable(FILE *file)
{
	if (!file->output)
		return true;
	file->error = true;
	errno = EBADF;
	return false;
}

/* Return: false at the end of the stream, or on an error. */
static bool more(FILE *file)
{
	long count;

	if (file->pos < file->size)
		return true;
	count = file->host ? ulib_host_input(input, sizeof(input)) : 0;
	if (count > 0) {
		file->data = input;
		file->size = (size_t)count;
		file->pos = 0;
		return true;
	}
	if (count < 0) {
		errno = EIO;
		file->error = true;
	} else {
		file->eof = true;
	}
	return false;
}

int fgetc(FILE *file)
{
	int c = file->pushed;

	if (!readable(file))
		return EOF;
	if (c != EOF) {
		file->pushed = EOF;
		return c;
	}
	return more(file) ? file->data[file->pos++] : EOF;
}

int getc(FILE *file)
{
	return fgetc(file);
}

int getchar(void)
{
	return fgetc(stdin);
}

int ungetc(int c, FILE *file)
{
	if (c == EOF || file->pushed != EOF || !readable(file))
		return EOF;
	file->pushed = (unsigned char)c;
	file->eof = false;
	return file->pushed;
}

size_t fread(void *data, size_t size, size_t count, FILE *file)
{
	unsigned char *out = data;
	size_t total, done = 0, left;

	if (!size || !count || !readable(file))
		return 0;
	if (__builtin_mul_overflow(size, count, &total)) {
		errno = EOVERFLOW;
		return 0;
	}
	if (file->pushed != EOF) {
		out[done++] = (unsigned char)file->pushed;
		file->pushed = EOF;
	}
	while (done < total && more(file)) {
		left = file->size - file->pos;
		if (left > total - done)
			left = total - done;
		memcpy(out + done, file->data + file->pos, left);
		file->pos += left;
		done += left;
	}
	return done / size;
}

char *fgets(char *buf, int size, FILE *file)
{
	int n = 0, c = 0;

	while (n < size - 1 && c != '\n') {
		c = fgetc(file);
		if (c == EOF)
			break;
		buf[n++] = (char)c;
	}
	if (!n)
		return NULL;
	buf[n] = '\0';
	return buf;
}

ssize_t getline(char **line, size_t *capacity, FILE *file)
{
	size_t n = 0;
	int c;

	do {
		c = fgetc(file);
		if (c == EOF)
			break;
		if (!*line || n + 2 > *capacity) {
			size_t bigger = *line && *capacity ? *capacity * 2 : 128;
			char *grown = realloc(*line, bigger);

			if (!grown)
				return -1;
			*line = grown;
			*capacity = bigger;
		}
		(*line)[n++] = (char)c;
	} while (c != '\n');
	if (!n)
		return -1;
	(*line)[n] = '\0';
	return (ssize_t)n;
}

int fseek(FILE *file, long offset, int whence)
{
	long from;

	if (file->output || file->host || whence < SEEK_SET || whence > SEEK_END) {
		errno = file->output || file->host ? ESPIPE : EINVAL;
		return -1;
	}
	from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? ftell(file) : (long)file->size;
	if (__builtin_add_overflow(from, offset, &from) || from < 0) {
		errno = EINVAL;
		return -1;
	}
	/* Behind the end is allowed; reading there finds the end. */
	file->pos = (size_t)from;
	file->pushed = EOF;
	file->eof = false;
	return 0;
}

long ftell(FILE *file)
{
	if (file->output || file->host) {
		errno = ESPIPE;
		return -1;
	}
	return (long)file->pos - (file->pushed != EOF);
}

void rewind(FILE *file)
{
	fseek(file, 0, SEEK_SET);
	file->error = false;
}

int fgetpos(FILE *file, fpos_t *position)
{
	*position = ftell(file);
	return *position < 0 ? -1 : 0;
}

int fsetpos(FILE *file, const fpos_t *position)
{
	return fseek(file, *position, SEEK_SET);
}

int feof(FILE *file)
{
	return file->eof;
}

int ferror(FILE *file)
{
	return file->error;
}

void clearerr(FILE *file)
{
	file->eof = false;
	file->error = false;
}

int fileno(FILE *file)
{
	if (file == stdin || file == stdout || file == stderr)
		return file == stdin ? 0 : file == stdout ? 1 : 2;
	errno = EBADF;
	return -1;
}

int remove(const char *path)
{
	errno = EROFS;
	return -1;
}

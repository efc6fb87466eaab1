/* SPDX-License-Identifier: MIT */
/*
 * initrd.c - the table of the files in the boot loader's archive ("cpio newc").
 *
 * The archive comes from outside, so every length in it is checked against the rest of the archive
 * before it is used. Each member is a header of 110 ASCII characters, the name with its NUL, padding
 * to 4 bytes, the data, padding to 4 bytes. The last member is called TRAILER!!!.
 */
#include <kernel/arch.h>
#include <kernel/ctype.h>
#include <kernel/initrd.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#define MAGIC_LEN  6
#define FIELD_LEN  8
#define HEADER_LEN 110

/* Numbers of the header's fields, each FIELD_LEN hexadecimal digits. */
#define FIELD_MODE     1
#define FIELD_FILESIZE 6
#define FIELD_NAMESIZE 11

#define MODE_TYPE    0170000
#define MODE_REGULAR 0100000

/* The rest of the archive: from @pos to @end. Padding counts from @start. */
struct cursor {
	const char *start, *pos, *end;
};

static struct initrd_file *files;
static size_t nr_files;

static bool parse_field(const char *header, unsigned int field, u32 *value)
{
	const char *p = header + MAGIC_LEN + field * FIELD_LEN;
	u32 v = 0;

	for (unsigned int i = 0; i < FIELD_LEN; i++) {
		char c = p[i];

		if (!isxdigit((u8)c))
			return false;
		v = v << 4 | (u32)(isdigit((u8)c) ? c - '0' : tolower((u8)c) - 'a' + 10);
	}
	*value = v;
	return true;
}

/* Take @n bytes, and the padding to a multiple of 4 bytes from the start. Return: NULL if fewer than
 * @n bytes are left. */
static const char *take(struct cursor *c, size_t n)
{
	const char *p = c->pos;
	size_t left = (size_t)(c->end - c->pos), padded;

	if (n > left)
		return NULL;
	padded = ALIGN((size_t)(p - c->start) + n, 4) - (size_t)(p - c->start);
	/* The archive may end without padding. */
	c->pos += min(padded, left);
	return p;
}

enum member {
	MEMBER_FILE,
	MEMBER_OTHER,
	MEMBER_END,
	MEMBER_BAD,
};

/* Read the next member; @file is filled for MEMBER_FILE. */
static enum member next_member(struct cursor *c, struct initrd_file *file)
{
	const char *header, *name, *data;
	u32 mode, size, name_size;

	/* Archives may be padded with zeros, and several may be joined. */
	while (c->pos < c->end && *c->pos == '\0')
		c->pos++;
	if (c->pos == c->end)
		return MEMBER_END;
	c->start = c->pos;

	if ((size_t)(c->end - c->pos) < HEADER_LEN)
		return MEMBER_BAD;
	header = c->pos;
	c->pos += HEADER_LEN;
	if (memcmp(header, "070701", MAGIC_LEN) != 0 && memcmp(header, "070702", MAGIC_LEN) != 0)
		return MEMBER_BAD;
	if (!parse_field(header, FIELD_MODE, &mode) ||
	    !parse_field(header, FIELD_FILESIZE, &size) ||
	    !parse_field(header, FIELD_NAMESIZE, &name_size))
		return MEMBER_BAD;

	name = take(c, name_size);
	if (!name || name_size == 0 || name[name_size - 1] != '\0')
		return MEMBER_BAD;
	data = take(c, size);
	if (!data)
		return MEMBER_BAD;
	if (strcmp(name, "TRAILER!!!") == 0 || (mode & MODE_TYPE) != MODE_REGULAR)
		return MEMBER_OTHER;

	while (name[0] == '/' || (name[0] == '.' && name[1] == '/'))
		name++;
	*file = (struct initrd_file){.name = name, .data = data, .size = size};
	return MEMBER_FILE;
}

/* Walk the archive, and store at most @max files. @bad: set to true if it is damaged. Return: number
 * of files in it. */
static size_t walk(struct initrd_file *table, size_t max, bool *bad)
{
	struct cursor c = {
		.start = (const char *)initrd_start,
		.pos = (const char *)initrd_start,
		.end = (const char *)initrd_end,
	};
	struct initrd_file file;
	size_t n = 0;

	for (;;) {
		switch (next_member(&c, &file)) {
		case MEMBER_FILE:
			if (n < max)
				table[n] = file;
			n++;
			break;
		case MEMBER_OTHER:
			break;
		case MEMBER_END:
			*bad = false;
			return n;
		case MEMBER_BAD:
			*bad = true;
			return n;
		}
	}
}

void initrd_init(void)
{
	size_t n;
	bool bad;

	files = NULL;
	nr_files = 0;
	if (initrd_start >= initrd_end)
		return;
	n = walk(NULL, 0, &bad);
	if (bad)
		pr_warn("initrd: damaged archive, %zu files before the damage\n", n);
	if (!n)
		return;
	files = kmalloc_array(n, sizeof(*files), GFP_KERNEL);
	if (!files) {
		pr_err("initrd: no memory for a table of %zu files\n", n);
		return;
	}
	nr_files = walk(files, n, &bad);
}

const struct initrd_file *initrd_find(const char *name)
{
	while (name[0] == '/' || (name[0] == '.' && name[1] == '/'))
		name++;
	for (size_t i = nr_files; i-- > 0;) {
		if (strcmp(files[i].name, name) == 0)
			return &files[i];
	}
	return NULL;
}

const struct initrd_file *initrd_files(size_t *count)
{
	*count = nr_files;
	return files;
}

/* SPDX-License-Identifier: MIT */
/*
 * fdt.c - the flattened device tree: walks it, finds nodes, reads properties.
 *
 * The tree is not copied, and it is not trusted: every read is checked against the block that it
 * belongs to. It is searched only a few dozen times during boot, so all searches are linear.
 */
#include <kernel/string.h>
#include <kernel/types.h>
#include <drivers/fdt.h>

#define FDT_MAGIC 0xd00dfeedU

#define FDT_BEGIN_NODE 1U
#define FDT_END_NODE   2U
#define FDT_PROP       3U
#define FDT_NOP	       4U
#define FDT_END	       9U

/* A deeper tree must be damaged. The limit also bounds the search for a parent. */
#define FDT_MAX_DEPTH 16

/* The header's words, big-endian. */
enum {
	HDR_MAGIC,
	HDR_TOTALSIZE,
	HDR_OFF_STRUCT,
	HDR_OFF_STRINGS,
	HDR_OFF_RSVMAP,
	HDR_VERSION,
	HDR_LAST_COMP,
	HDR_BOOT_CPU,
	HDR_SIZE_STRINGS,
	HDR_SIZE_STRUCT,
	HDR_WORDS,
};

static const u8 *blob;
static size_t blob_size;
static u32 struct_off, struct_size, strings_off, strings_size, rsvmap_off;

static u32 load32(const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

static u64 load64(const u8 *p)
{
	return (u64)load32(p) << 32 | load32(p + 4);
}

size_t fdt_init(const void *where, size_t max)
{
	const u8 *p = where;
	u32 total;

	blob = NULL;
	if (max < HDR_WORDS * 4 || load32(p) != FDT_MAGIC)
		return 0;
	total = load32(p + HDR_TOTALSIZE * 4);
	struct_off = load32(p + HDR_OFF_STRUCT * 4);
	struct_size = load32(p + HDR_SIZE_STRUCT * 4);
	strings_off = load32(p + HDR_OFF_STRINGS * 4);
	strings_size = load32(p + HDR_SIZE_STRINGS * 4);
	rsvmap_off = load32(p + HDR_OFF_RSVMAP * 4);
	if (load32(p + HDR_VERSION * 4) < 17 || load32(p + HDR_LAST_COMP * 4) > 17)
		return 0;
	if (total > max || struct_off > total || struct_size > total - struct_off ||
	    strings_off > total || strings_size > total - strings_off || rsvmap_off > total)
		return 0;
	blob = p;
	blob_size = total;
	return total;
}

/* --- The structure block, token by token ------------------------------------------------------ */

/**
 * struct token - one token and what it carries
 * @tag: FDT_*; FDT_END also for an invalid token.
 * @name: of the node or property. @data, @len: the property's value.
 * @next: offset of the next token.
 */
struct token {
	u32 tag;
	const char *name;
	const u8 *data;
	size_t len;
	u32 next;
};

/* Return: the length of the string at @p; @max if it does not end within @max bytes. */
static size_t bounded_strlen(const char *p, size_t max)
{
	size_t n = 0;

	while (n < max && p[n])
		n++;
	return n;
}

static bool string_at(u32 offset, const char **name)
{
	const char *p;

	if (offset >= strings_size)
		return false;
	p = (const char *)blob + strings_off + offset;
	*name = p;
	return bounded_strlen(p, strings_size - offset) < strings_size - offset;
}

static void read_token(u32 offset, struct token *t)
{
	const u8 *base = blob + struct_off;
	size_t left, len;

	*t = (struct token){.tag = FDT_END};
	if (!blob || offset >= struct_size || struct_size - offset < 4 || offset & 3)
		return;
	left = struct_size - offset - 4;
	t->next = offset + 4;
	switch (load32(base + offset)) {
	case FDT_BEGIN_NODE:
		t->name = (const char *)base + offset + 4;
		len = bounded_strlen(t->name, left);
		if (len == left)
			return;
		t->next += (u32)ALIGN(len + 1, 4);
		t->tag = FDT_BEGIN_NODE;
		return;
	case FDT_PROP:
		if (left < 8)
			return;
		t->len = load32(base + offset + 4);
		if (t->len > left - 8 || !string_at(load32(base + offset + 8), &t->name))
			return;
		t->data = base + offset + 12;
		t->next += (u32)(8 + ALIGN(t->len, 4));
		t->tag = FDT_PROP;
		return;
	case FDT_END_NODE:
		t->tag = FDT_END_NODE;
		return;
	case FDT_NOP:
		t->tag = FDT_NOP;
		return;
	default:
		return;
	}
}

int fdt_root(void)
{
	struct token t;
	u32 offset = 0;

	for (;;) {
		read_token(offset, &t);
		if (t.tag == FDT_BEGIN_NODE)
			return (int)offset;
		if (t.tag != FDT_NOP)
			return -1;
		offset = t.next;
	}
}

int fdt_next(int node, int *depth)
{
	struct token t;
	int change = 1;
	u32 offset;

	if (node < 0)
		return -1;
	read_token((u32)node, &t);
	if (t.tag != FDT_BEGIN_NODE)
		return -1;
	for (offset = t.next;; offset = t.next) {
		read_token(offset, &t);
		if (t.tag == FDT_BEGIN_NODE) {
			if (depth)
				*depth += change;
			return (int)offset;
		}
		if (t.tag == FDT_END)
			return -1;
		if (t.tag == FDT_END_NODE)
			change--;
	}
}

int fdt_first_child(int node)
{
	int depth = 0;
	int next = fdt_next(node, &depth);

	return depth == 1 ? next : -1;
}

int fdt_next_sibling(int node)
{
	int depth = 0;

	do {
		node = fdt_next(node, &depth);
	} while (node >= 0 && depth > 0);
	return node >= 0 && depth == 0 ? node : -1;
}

const char *fdt_name(int node)
{
	struct token t;

	if (node < 0)
		return "";
	read_token((u32)node, &t);
	return t.tag == FDT_BEGIN_NODE ? t.name : "";
}

static int fdt_parent(int node)
{
	int path[FDT_MAX_DEPTH];
	int depth = 0;
	int at;

	for (at = fdt_root(); at >= 0; at = fdt_next(at, &depth)) {
		if (depth < 0 || depth >= FDT_MAX_DEPTH)
			return -1;
		path[depth] = at;
		if (at == node)
			return depth ? path[depth - 1] : -1;
	}
	return -1;
}

/* --- Properties ------------------------------------------------------------------------------- */

const void *fdt_prop(int node, const char *name, size_t *len)
{
	struct token t;
	u32 offset;

	if (node < 0)
		return NULL;
	read_token((u32)node, &t);
	if (t.tag != FDT_BEGIN_NODE)
		return NULL;
	/* A node's properties come before its children. */
	for (offset = t.next;; offset = t.next) {
		read_token(offset, &t);
		if (t.tag == FDT_NOP)
			continue;
		if (t.tag != FDT_PROP)
			return NULL;
		if (!strcmp(t.name, name)) {
			if (len)
				*len = t.len;
			return t.data;
		}
	}
}

const char *fdt_string(int node, const char *name)
{
	size_t len;
	const char *p = fdt_prop(node, name, &len);

	return p && bounded_strlen(p, len) < len ? p : NULL;
}

u32 fdt_u32(int node, const char *name, unsigned int index, u32 def)
{
	size_t len;
	const u8 *p = fdt_prop(node, name, &len);

	if (!p || len / 4 <= index)
		return def;
	return load32(p + index * 4UL);
}

u64 fdt_u64(int node, const char *name, u64 def)
{
	size_t len;
	const u8 *p = fdt_prop(node, name, &len);

	if (p && len == 4)
		return load32(p);
	if (p && len == 8)
		return load64(p);
	return def;
}

bool fdt_available(int node)
{
	const char *status = fdt_string(node, "status");

	return !status || !strcmp(status, "okay") || !strcmp(status, "ok");
}

/* Return: the low 64 bits of a number that has @cells cells. */
static u64 read_cells(const u8 *p, u32 cells)
{
	u64 value = 0;

	for (u32 i = 0; i < cells; i++)
		value = value << 32 | load32(p + i * 4UL);
	return value;
}

static bool cells_of(int node, u32 *address, u32 *size)
{
	*address = fdt_u32(node, "#address-cells", 0, 2);
	*size = fdt_u32(node, "#size-cells", 0, 1);
	return *address >= 1 && *address <= 3 && *size <= 2;
}

/* Translate an address on the bus @bus to one on its parent's bus. Return: false if that is not
 * possible. */
static bool translate(int bus, int parent, u64 *address)
{
	u32 child_cells, child_size, parent_cells, parent_size, entry;
	size_t len;
	const u8 *p = fdt_prop(bus, "ranges", &len);

	/* Without "ranges" a CPU cannot access addresses of the bus; if it is empty, both buses have
	 * the same addresses. */
	if (!p || !len)
		return p != NULL;
	if (!cells_of(bus, &child_cells, &child_size) ||
	    !cells_of(parent, &parent_cells, &parent_size))
		return false;
	entry = (child_cells + parent_cells + child_size) * 4;
	for (; len >= entry; len -= entry, p += entry) {
		u64 from = read_cells(p, child_cells);
		u64 to = read_cells(p + child_cells * 4UL, parent_cells);
		u64 size = read_cells(p + (child_cells + parent_cells) * 4UL, child_size);

		if (*address - from < size) {
			*address = *address - from + to;
			return true;
		}
	}
	return false;
}

bool fdt_reg(int node, unsigned int index, phys_addr_t *base, u64 *size)
{
	u32 address_cells, size_cells;
	int bus = fdt_parent(node);
	size_t len, entry;
	const u8 *p;

	p = fdt_prop(node, "reg", &len);
	if (!p || bus < 0 || !cells_of(bus, &address_cells, &size_cells))
		return false;
	entry = (address_cells + size_cells) * 4UL;
	if (len / entry <= index)
		return false;
	p += entry * index;
	*base = read_cells(p, address_cells);
	*size = read_cells(p + address_cells * 4UL, size_cells);
	for (int parent = fdt_parent(bus); parent >= 0; bus = parent, parent = fdt_parent(bus)) {
		if (!translate(bus, parent, base))
			return false;
	}
	return true;
}

bool fdt_reserved(unsigned int index, phys_addr_t *base, u64 *size)
{
	size_t offset = rsvmap_off + index * 16UL;

	if (!blob || offset > blob_size || blob_size - offset < 16)
		return false;
	*base = load64(blob + offset);
	*size = load64(blob + offset + 8);
	return *base || *size;
}

/* --- Finding nodes ---------------------------------------------------------------------------- */

bool fdt_is_compatible(int node, const char *compat)
{
	size_t len, n, want = strlen(compat);
	const char *p = fdt_prop(node, "compatible", &len);

	/* It is a list of strings, the most specific one first. */
	for (; p && len; p += n + 1, len -= n + 1) {
		n = bounded_strlen(p, len);
		if (n == len)
			return false;
		if (n == want && !memcmp(p, compat, n))
			return true;
	}
	return false;
}

int fdt_compatible(int after, const char *compat)
{
	int node = after < 0 ? fdt_root() : fdt_next(after, NULL);

	while (node >= 0 && !fdt_is_compatible(node, compat))
		node = fdt_next(node, NULL);
	return node;
}

/* Return: true if the path component [@part, @part + @len) is the name of @node, with or without the
 * unit address. */
static bool name_matches(int node, const char *part, size_t len)
{
	const char *name = fdt_name(node);

	return !strncmp(name, part, len) && (!name[len] || name[len] == '@');
}

static int walk_path(int node, const char *path, size_t len)
{
	while (node >= 0 && len) {
		size_t n = 0;
		int child;

		if (*path == '/') {
			path++;
			len--;
			continue;
		}
		while (n < len && path[n] != '/')
			n++;
		for (child = fdt_first_child(node); child >= 0; child = fdt_next_sibling(child)) {
			if (name_matches(child, path, n))
				break;
		}
		node = child;
		path += n;
		len -= n;
	}
	return node;
}

int fdt_path(const char *path)
{
	/* The options of a console may follow after a colon. */
	size_t len = 0, n = 0;
	int aliases;

	while (path[len] && path[len] != ':')
		len++;
	if (path[0] == '/')
		return walk_path(fdt_root(), path, len);

	while (n < len && path[n] != '/')
		n++;
	aliases = walk_path(fdt_root(), "/aliases", 8);
	if (aliases >= 0) {
		struct token t;
		u32 offset;

		read_token((u32)aliases, &t);
		for (offset = t.next;; offset = t.next) {
			size_t full;

			read_token(offset, &t);
			if (t.tag == FDT_NOP)
				continue;
			if (t.tag != FDT_PROP)
				break;
			if (strlen(t.name) != n || memcmp(t.name, path, n))
				continue;
			full = bounded_strlen((const char *)t.data, t.len);
			if (full == t.len || !full || t.data[0] != '/')
				return -1;
			return walk_path(walk_path(fdt_root(), (const char *)t.data, full),
					 path + n, len - n);
		}
	}
	return -1;
}

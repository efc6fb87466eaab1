/* SPDX-License-Identifier: MIT */
/*
 * record.c - CONFIG_KASAN_RECORD: the first reports, packed, in memory that survives a reset.
 *
 * A reset may come between any two stores, and a bug may overwrite any byte. So each word of the header has its own
 * check, each report has a checksum, and both become valid by one store of an aligned word. The rest of the memory is
 * zero: after a reset, everything up to the last byte that is not zero belongs to the report that was being written.
 * Words have the processor's byte order. tools/redzone/decode/record.py reads all this.
 *
 * Numbers are packed into groups of seven bits, the lowest first, bit 7 set in all but the last. Addresses are stored as
 * distances from the address before, so that most take two or three bytes, and the first one as its distance from
 * kasan_record_start(), so that the decoder finds it in an image that was moved.
 */
#include "captured.h"

#ifdef CONFIG_KASAN_RECORD

#include <kasan/record.h>

#define MAGIC 0x315a4352U /* "RCZ1", and the byte order */
#define UNIT  8U	  /* bytes; places and sizes are counted in these */

/* Longest texts. Longer ones are cut. */
#define NAME_MAX     16U
#define SENTENCE_MAX 96U

/* Half a word for the value, half for its complement. */
#define CHECKED_MAX 0xffffU

/**
 * struct record_header - at the beginning. All words but @magic are checked ones
 * @shape: bytes of a pointer; mode << 8: 0 none but UBSan, 1 Generic, 2 and 3 software and hardware tags.
 * @size, @used: of the memory, and of what is written, with this header, in units.
 * @begun: number of reports that were begun. @lost: further ones that had no room. @again: further ones of a place that was
 * reported before. @boots: how often kasan_record_start() has found this record.
 */
struct record_header {
	uint32_t magic, shape, size, used, begun, lost, again, boots;
};

/**
 * struct record_entry - before each report's packed fields
 * @state: enum entry_state, units << 8 with this struct, the report's number, 1 to 255 and again, << 24. @crc: CRC-32 of @state and the fields.
 */
struct record_entry {
	uint32_t state, crc;
};

enum entry_state {
	ENTRY_OPEN = 0x4f, /* being written: units is 0 */
	ENTRY_TORN = 0x54, /* was OPEN at a reset */
	ENTRY_DONE = 0x44,
};

/* The report lock guards these. */
static volatile struct record_header *area;
static size_t area_units;
static bool
	damaged; /* a word of the header is wrong: nothing is written until the record is cleared */

/* --- Words and sums --- */

static uint32_t checked(size_t value)
{
	const uint32_t half = value > CHECKED_MAX ? CHECKED_MAX : (uint32_t)value;

	return half | ~half << 16;
}

static bool is_checked(uint32_t word)
{
	return (word & CHECKED_MAX) == (~word >> 16);
}

static size_t value_of(uint32_t word)
{
	return word & CHECKED_MAX;
}

/* All that was written before is in memory when this word is, as far as the compiler and the CPU decide it. */
static void publish(volatile uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void add_one(volatile uint32_t *word)
{
	publish(word, checked(value_of(*word) + 1));
}

/* CRC-32 of IEEE 802.3, bit by bit: a table would be larger than all the rest. */
static uint32_t add_crc(uint32_t crc, const volatile uint8_t *data, size_t size)
{
	unsigned int bit;

	while (size--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
	}
	return crc;
}

static uint32_t crc_of(const volatile struct record_entry *entry, uint32_t state, size_t bytes)
{
	const uint32_t crc = add_crc(~0U, (const volatile uint8_t *)&state, sizeof(state));

	return ~add_crc(crc, (const volatile uint8_t *)(entry + 1), bytes - sizeof(*entry));
}

static volatile uint8_t *byte_at(size_t unit)
{
	return (volatile uint8_t *)area + unit * UNIT;
}

static volatile struct record_entry *entry_at(size_t unit)
{
	return (volatile struct record_entry *)byte_at(unit);
}

/* --- Packing --- */

struct packer {
	volatile uint8_t *at, *end;
	uintptr_t last; /* address */
	size_t frames;	/* most of one trace */
	bool full;
};

static void put_byte(struct packer *to, uint8_t byte)
{
	if (to->at == to->end)
		to->full = true;
	else
		*to->at++ = byte;
}

static void put(struct packer *to, uintptr_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_byte(to, (uint8_t)(value | 0x80));
	put_byte(to, (uint8_t)value);
}

/* The sign goes to the lowest bit, so that short distances of both directions have few bits. */
static void put_address(struct packer *to, uintptr_t addr)
{
	const uintptr_t way = addr - to->last;

	put(to, way << 1 ^ (way >> (sizeof(way) * 8 - 1) ? ~(uintptr_t)0 : 0));
	to->last = addr;
}

static void put_text(struct packer *to, const char *text, size_t length, size_t most)
{
	size_t i;

	length = length < most ? length : most;
	put(to, length);
	for (i = 0; i < length; i++)
		put_byte(to, (uint8_t)text[i]);
}

/* @text: of constants, or copied and checked by the capture. */
static void put_string(struct packer *to, const char *text, size_t most)
{
	size_t length = 0;

	while (length < most && text[length])
		length++;
	put_text(to, text, length, most);
}

static void put_trace(struct packer *to, const uintptr_t *pcs, size_t count)
{
	size_t i;

	count = count < to->frames ? count : to->frames;
	put(to, count);
	for (i = 0; i < count; i++)
		put_address(to, pcs[i]);
}

static void put_track(struct packer *to, const struct kasan_track *track)
{
	const uintptr_t *pcs = NULL;
	const size_t count = kasan_depot_fetch(track->stack, &pcs);

	put(to, track->pid);
	put_trace(to, pcs, count);
}

/* What the address belongs to. Further kinds than enum kasan_object_kind's: */
#define IS_GLOBAL 16U
#define IS_FRAME  17U

static void put_owner(struct packer *to, const struct kasan_report *report)
{
	const struct kasan_owner *const owner = &report->owner;
	char name[NAME_MAX + 1];

	if (owner->kind != KASAN_OBJECT_NONE) {
		put(to, owner->kind);
		put(to, owner->state | (unsigned int)owner->corrupt << 2 |
				(unsigned int)owner->has_alloc << 3 |
				(unsigned int)owner->has_free << 4);
		put_address(to, owner->start);
		put(to, owner->size);
		put(to, owner->cache_size);
		put_string(to, owner->name, NAME_MAX);
		if (owner->has_alloc)
			put_track(to, &owner->alloc);
		if (owner->has_free)
			put_track(to, &owner->free);
	} else if (CONFIG_KASAN_GLOBALS && report->global) {
		kasan_copy_string(name, report->global->name, sizeof(name));
		put(to, IS_GLOBAL);
		put_address(to, report->global->beg);
		put(to, report->global->size);
		put_string(to, name, NAME_MAX);
	} else if (report->has_frame) {
		put(to, IS_FRAME);
		put_address(to, report->frame.base);
		put_address(to, report->frame.function);
	} else {
		put(to, 0);
	}
}

#ifdef CONFIG_KASAN_TAGS
#define MEMORY_TAG(report) ((report)->bad_shadow)
#else
#define MEMORY_TAG(report) 0U
#endif

/* The order is the format's. What tells most comes first, because a torn report ends anywhere. */
static void pack(struct packer *to, const struct kasan_report *report)
{
	const unsigned int how =
		(report->is_write ? KASAN_HOW_WRITE : 0) | (report->is_free ? KASAN_HOW_FREE : 0) |
		(report->is_fault ? KASAN_HOW_FAULT : 0) | (report->at_pc ? KASAN_HOW_AT_PC : 0) |
		(KASAN_IS_ASYNC(report) ? KASAN_HOW_ASYNC : 0) |
		(report->is_unclear ? KASAN_HOW_UNCLEAR : 0) | (report->has_shadow ? 64U : 0) |
		(KASAN_IS_UNDEFINED(report) ? 128U : 0);

	put_string(to, report->type, 2 * NAME_MAX);
	put(to, how);
	put_address(to, (uintptr_t)kasan_record_start);
	put_address(to, report->ip);
	put_trace(to, report->pcs, report->depth);
	to->last = (uintptr_t)kasan_record_start;
	put_address(to, report->pointer);
	put(to, report->size);
	put(to, report->task.id);
	put_string(to, report->comm, NAME_MAX);
	put(to, report->cpu);
	put(to, value_of(area->boots));
	put(to, MEMORY_TAG(report));
	put_owner(to, report);
#ifdef CONFIG_KASAN_UBSAN
	put_text(to, report->sentence.text, report->sentence.length, SENTENCE_MAX);
#endif
}

/* --- Writing --- */

static void fill_zero(volatile uint8_t *from, const volatile uint8_t *to)
{
	while (from < to)
		*from++ = 0;
}

/* Return: false if the report has no room, and nothing is left of it. */
static bool write_entry(const struct kasan_report *report, size_t frames)
{
	const size_t unit = value_of(area->used);
	volatile struct record_entry *const entry = entry_at(unit);
	const uint32_t number = (uint32_t)((value_of(area->begun) - 1) % 255 + 1) << 24;
	struct packer to;
	size_t units;
	uint32_t state;

	kasan_clear(&to);
	to.at = (volatile uint8_t *)(entry + 1);
	to.end = byte_at(area_units);
	to.frames = frames;
	/* Not even the two words have room. */
	if (to.end < to.at)
		return false;
	publish(&entry->state, ENTRY_OPEN | number);
	pack(&to, report);
	if (to.full) {
		fill_zero((volatile uint8_t *)entry, to.at);
		return false;
	}
	units = ((size_t)(to.at - byte_at(unit)) + UNIT - 1) / UNIT;
	state = ENTRY_DONE | (uint32_t)units << 8 | number;
	entry->crc = crc_of(entry, state, units * UNIT);
	publish(&entry->state, state);
	publish(&area->used, checked(unit + units));
	return true;
}

void kasan_record_report(const struct kasan_report *report, unsigned long count)
{
	if (!area || damaged)
		return;
	if (count > 1) {
		add_one(&area->again);
		return;
	}
	add_one(&area->begun);
	/* Rather a short trace than none. */
	if (write_entry(report, CONFIG_KASAN_RECORD_FRAMES) || write_entry(report, 2))
		return;
	publish(&area->begun, checked(value_of(area->begun) - 1));
	add_one(&area->lost);
}

/* --- After a reset --- */

/* The first word comes last: a reset in the middle leaves no record, and another boot begins anew. */
static void format(void)
{
	const unsigned int mode =
#if defined(KASAN_ALONE)
		0;
#elif defined(CONFIG_KASAN_GENERIC)
		1;
#elif defined(CONFIG_KASAN_SW_TAGS)
		2;
#else
		3;
#endif

	publish(&area->magic, 0);
	fill_zero(byte_at(0), byte_at(area_units));
	area->shape = checked(sizeof(void *) | mode << 8);
	area->size = checked(area_units);
	area->used = checked(sizeof(*area) / UNIT);
	area->begun = area->lost = area->again = area->boots = checked(0);
	damaged = false;
	publish(&area->magic, MAGIC);
}

static bool is_whole(void)
{
	const size_t used = value_of(area->used);

	return is_checked(area->shape) && is_checked(area->size) && is_checked(area->used) &&
	       is_checked(area->begun) && is_checked(area->lost) && is_checked(area->again) &&
	       is_checked(area->boots) && value_of(area->size) == area_units &&
	       used >= sizeof(*area) / UNIT && used <= area_units;
}

/* Count what a reset has left after the last report. */
static void settle(void)
{
	const size_t used = value_of(area->used);
	volatile struct record_entry *const entry = entry_at(used);
	const volatile uint8_t *end = byte_at(area_units);
	size_t units, length;
	uint32_t state;

	while (end > byte_at(used) && !end[-1])
		end--;
	units = ((size_t)(end - byte_at(used)) + UNIT - 1) / UNIT;
	if (!units)
		return;
	state = entry->state;
	length = state >> 8 & 0xffff;
	/* A report that is done may have been followed by the reset, instead of by the header's word; its last bytes may
	 * be 0. Any others are what somebody has written here. */
	if ((state & 0xff) == ENTRY_OPEN)
		publish(&entry->state, ENTRY_TORN | (uint32_t)units << 8 | (state & 0xff000000U));
	else if ((state & 0xff) == ENTRY_DONE && length > units && length <= area_units - used)
		units = length;
	publish(&area->used, checked(used + units));
}

size_t kasan_record_start(void *memory, size_t size)
{
	const size_t units = size / UNIT < CHECKED_MAX ? size / UNIT : CHECKED_MAX;

	if (!memory || (uintptr_t)memory % UNIT || size < KASAN_RECORD_MIN)
		return 0;
	area = memory;
	area_units = units;
	if (area->magic != MAGIC) {
		format();
		return 0;
	}
	damaged = !is_whole();
	if (damaged)
		return units * UNIT;
	settle();
	add_one(&area->boots);
	return value_of(area->begun) ? value_of(area->used) * UNIT : 0;
}

size_t kasan_record_read(void *buffer, size_t size)
{
	const volatile uint8_t *from;
	uint8_t *to = buffer;
	unsigned long flags;
	size_t length, i;

	if (!area || !kasan_trylock(&kasan_report_lock, &flags))
		return 0;
	/* The length in a damaged record cannot be trusted, so all of the memory is copied. */
	length = (damaged ? area_units : value_of(area->used)) * UNIT;
	length = length < size ? length : size;
	from = byte_at(0);
	for (i = 0; i < length; i++)
		to[i] = from[i];
	kasan_unlock(&kasan_report_lock, flags);
	kasan_flush_reports();
	return length;
}

bool kasan_record_clear(void)
{
	unsigned long flags;

	if (!area || !kasan_trylock(&kasan_report_lock, &flags))
		return false;
	format();
	kasan_unlock(&kasan_report_lock, flags);
	kasan_flush_reports();
	return true;
}

#endif

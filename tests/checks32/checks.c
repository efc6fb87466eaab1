/* SPDX-License-Identifier: MIT */
/*
 * checks.c - every check of a 32-bit runtime against an oracle that asks byte by byte: one program for all layouts,
 * which boots on a Cortex-M3.
 *
 * Nothing is accessed: the pieces of memory are addresses alone. Only their shadow is real, and the layout says where
 * (test_checks32.py). Reports, and the memory functions that would follow a good check, are replaced by counters.
 */
#include "../../runtime/shadow/shadow.h"

#include "../../runtime/shadow/compact.h"

/* --- The board --- */

extern char __bss_start[], __bss_end[], __stack_end[];
int main(void);
void _start(void);

static int semihosting(int operation, const void *argument)
{
	register int r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = argument;

	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
}

static void put(const char *text)
{
	semihosting(0x04, text);
}

static void put_hex(uint32_t value)
{
	char text[12] = " ";

	for (unsigned int i = 0; i < 8; i++)
		text[1 + i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
	text[9] = 0;
	put(text);
}

__attribute__((__noreturn__)) static void leave(int status)
{
	const uint32_t block[2] = {0x20026, (uint32_t)status};

	for (;;)
		semihosting(0x20, block);
}

/* A check that read what is no shadow. */
static void fault(void)
{
	put("checks32: a fault\n");
	leave(3);
}

__attribute__((section(".vectors"), used)) static const struct {
	void *stack;
	void (*handler[15])(void);
} vectors = {
	__stack_end,
	{_start, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault,
	 fault, fault},
};

void _start(void)
{
	for (volatile char *p = __bss_start; p < (volatile char *)__bss_end; p++)
		*p = 0;
	leave(main());
}

/* --- What the checks call --- */

static unsigned int reports;
static uintptr_t reported_addr;
static size_t reported_size;
static bool reported_write;
static unsigned int operations;

bool kasan_report_access(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp)
{
	(void)ip;
	(void)fp;
	reports++;
	reported_addr = addr;
	reported_size = size;
	reported_write = is_write;
	return true;
}

void kasan_port_panic(const char *why)
{
	put(why);
	leave(4);
}

unsigned long kasan_port_irq_save(void)
{
	return 0;
}

void kasan_port_irq_restore(unsigned long flags)
{
	(void)flags;
}

bool kasan_port_readable(const void *addr, size_t size)
{
	(void)addr;
	(void)size;
	return false;
}

void *__memcpy(void *dst, const void *src, size_t n)
{
	(void)src;
	(void)n;
	operations++;
	return dst;
}

void *__memmove(void *dst, const void *src, size_t n)
{
	(void)src;
	(void)n;
	operations++;
	return dst;
}

void *__memset(void *dst, int c, size_t n)
{
	(void)c;
	(void)n;
	operations++;
	return dst;
}

/* --- The oracle --- */

#define GRANULES   24
#define PIECE_SIZE (GRANULES * 8)

/* A piece of memory whose every granule has a state: 0: accessible, 1 to 7: that many bytes, more: not at all. Other
 * memory with shadow is accessible; memory without shadow is what the layout says. */
static uintptr_t piece;
static uint8_t states[GRANULES];

/* Where to put it: at places whose shadow is real memory. */
static const uintptr_t pieces[] = {PIECES};

#ifdef CONFIG_KASAN_SHADOW_WINDOWED
static const struct {
	uintptr_t start, size, shadow;
} windows[] = {WINDOWS};
#endif

static bool has_shadow(uintptr_t addr)
{
#ifdef CONFIG_KASAN_SHADOW_FULL
	return addr >= CONFIG_KASAN_SHADOW_LOW && addr <= CONFIG_KASAN_SHADOW_HIGH;
#else
	for (unsigned int i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		if (addr - windows[i].start < windows[i].size)
			return true;
	}
	return false;
#endif
}

static bool byte_ok(uintptr_t addr)
{
	const uintptr_t distance = addr - piece;
	uint8_t state;

	if (!has_shadow(addr)) {
#ifdef CONFIG_KASAN_SHADOW_FULL
		return false;
#else
		return addr >= CONFIG_KASAN_NULL_CHECK;
#endif
	}
	if (distance >= PIECE_SIZE)
		return true;
	state = states[distance / 8];
	return !state || (state < 8 && distance % 8 < state);
}

/* All of [@addr, @addr + @size), by the byte. @bad: filled with the first bad one. A range that wraps around or has a
 * negative size is bad as a whole. */
static bool range_ok(uintptr_t addr, size_t size, uintptr_t *bad)
{
	*bad = addr;
	if (size > (size_t)INT32_MAX || (size && addr + (size - 1) < addr))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (!byte_ok(addr + i)) {
			*bad = addr + i;
			return false;
		}
	}
	return true;
}

#ifdef CONFIG_KASAN_SHADOW_COMPACT
/* A heap would read the size from the object's header. */
unsigned int kasan_last_bytes(uintptr_t granule)
{
	const uintptr_t distance = granule - piece;

	return distance < PIECE_SIZE && states[distance / 8] < 8 ? states[distance / 8] : 0;
}
#endif

/* Write the state of granule @i to the shadow, as the hooks do. */
static void set_state(unsigned int i, uint8_t state)
{
	const uintptr_t addr = piece + i * 8;

	states[i] = state;
	if (!has_shadow(addr))
		return;
	kasan_poison((void *)addr, 8, KASAN_SLAB_REDZONE);
#ifdef CONFIG_KASAN_SHADOW_COMPACT
	/* A granule that is accessible in part is a redzone for the shadow. */
	if (state)
		return;
#endif
	if (state < 8)
		kasan_unpoison((void *)addr, state ? state : 8);
}

/* --- Comparing --- */

static unsigned int compared, failures;

static void fail(const char *what, uintptr_t addr, size_t size, uintptr_t want)
{
	if (failures++ >= 10)
		return;
	put("checks32: wrong: ");
	put(what);
	put_hex(addr);
	put_hex(size);
	put_hex(want);
	put(" states");
	for (unsigned int i = 0; i < GRANULES; i += 4)
		put_hex((uint32_t)states[i] << 24 | (uint32_t)states[i + 1] << 16 |
			(uint32_t)states[i + 2] << 8 | states[i + 3]);
	put("\n");
}

/* One call of @what, which has checked a range: reported once if it is bad, carried out if it is good. */
static void judge(const char *what, uintptr_t addr, size_t size, bool ok, bool is_write,
		  bool operates)
{
	compared++;
	if (reports != !ok || (operates && (operations != 0) != ok))
		fail(what, addr, size, (uintptr_t)ok);
	else if (!ok &&
		 (reported_addr != addr || reported_size != size || reported_write != is_write))
		fail(what, addr, size, reported_addr);
	reports = operations = 0;
}

#define SIZED(X, n)                        \
	X(__asan_load##n##_noabort, false) \
	X(__asan_store##n##_noabort, true)
#define DECLARE(name, is_write) void name(uintptr_t addr);
#define FIXED(X)		SIZED(X, 1) SIZED(X, 2) SIZED(X, 4) SIZED(X, 8) SIZED(X, 16)
FIXED(DECLARE)
void __asan_loadN_noabort(uintptr_t addr, size_t size);
void __asan_storeN_noabort(uintptr_t addr, size_t size);
void *__asan_memset(void *dst, int c, size_t n);
void *__asan_memcpy(void *dst, const void *src, size_t n);
void *__asan_memmove(void *dst, const void *src, size_t n);

static const struct {
	const char *name;
	void (*check)(uintptr_t addr);
	size_t size;
	bool is_write;
} fixed[] = {
#define ROW(name, write) {#name, name, 0, write},
	FIXED(ROW)};

/* All functions that check [@addr, @addr + @size). @good: @size accessible bytes, where there are that many. */
static void compare(uintptr_t addr, size_t size, uintptr_t good)
{
	uintptr_t bad;
	const bool ok = range_ok(addr, size, &bad);
	void *const p = (void *)addr;
	const bool sane = size && size <= (size_t)INT32_MAX && addr + (size - 1) >= addr;

	if (sane) {
		compared++;
		if (kasan_first_bad(addr, size) != (ok ? 0 : bad) && !(bad == 0 && !ok))
			fail("first_bad", addr, size, bad);
	}
	if (kasan_check_read(p, size) != ok)
		fail("check_read", addr, size, ok);
	judge("check_read", addr, size, ok, false, false);
	__asan_loadN_noabort(addr, size);
	judge("loadN", addr, size, ok, false, false);
	__asan_storeN_noabort(addr, size);
	judge("storeN", addr, size, ok, true, false);
	for (unsigned int i = 0; sane && i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		/* In pairs: 1, 2, 4, 8, 16. */
		if (size != 1U << i / 2)
			continue;
		fixed[i].check(addr);
		judge(fixed[i].name, addr, size, ok, fixed[i].is_write, false);
	}
	if (!size)
		return;
	__asan_memset(p, 0, size);
	judge("memset", addr, size, ok, true, true);
	if (!good || !range_ok(good, size, &bad))
		good = addr;
	/* With a bad range as source and destination only the source is reported. */
	__asan_memcpy((void *)good, p, size);
	judge("memcpy from", addr, size, ok, false, true);
	__asan_memmove(p, (void *)good, size);
	judge("memmove to", addr, size, ok, good != addr, true);
}

/* Sizes that are negative or wrap around, and pointers near both ends of the address space. */
static void absurd_sizes(uintptr_t addr)
{
	static const size_t sizes[] = {(size_t)-1,  (size_t)-2,	 (size_t)-3,	(size_t)-4,
				       (size_t)-7,  (size_t)-8,	 (size_t)-9,	(size_t)-16,
				       (size_t)-17, (size_t)-64, (size_t)-4096, 0x80000000U,
				       0x80000001U, 0xa0000000U, 0xfffff000U};

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		compare(addr, sizes[i], 0);
}

/* Every state of a granule, between neighbours of each kind, with @around before and after them. */
static void three_granules(uint8_t around)
{
	static const uint8_t kinds[] = {0, 5, 8};

	for (unsigned int i = 0; i < GRANULES; i++)
		set_state(i, around);
	for (unsigned int n = 0; n < 3 * 3 * 9; n++) {
		set_state(1, kinds[n % 3]);
		set_state(2, (uint8_t)(n / 9));
		set_state(3, kinds[n / 3 % 3]);
		for (unsigned int start = 7; start < 26; start++) {
			for (size_t size = 0; size <= 18; size++)
				compare(piece + start, size, 0);
		}
	}
}

/* One bad granule, or the last one in part: long ranges from every offset, up to and beyond the piece's end. */
static void long_ranges(void)
{
	for (unsigned int bad = 0; bad <= GRANULES; bad++) {
		for (unsigned int i = 0; i < GRANULES; i++)
			set_state(i, i == bad ? (bad & 1 ? 8 : 5) : 0);
		for (unsigned int start = 0; start < 16; start++) {
			for (size_t size = 17; size <= PIECE_SIZE - start + 16; size += 5)
				compare(piece + start - 8, size, 0);
		}
	}
}

/* The ends of the piece: what lies there has shadow, or has none, or there is nothing more. */
static void both_ends(void)
{
	for (unsigned int i = 0; i < GRANULES; i++)
		set_state(i, 0);
	for (unsigned int distance = 0; distance < 24; distance++) {
		for (size_t size = 0; size <= 40; size++) {
			compare(piece - 24 + distance, size, piece);
			compare(piece + PIECE_SIZE - distance, size, piece);
		}
	}
	for (unsigned int offset = 0; offset < PIECE_SIZE; offset += 3)
		absurd_sizes(piece + offset);
}

#ifdef CONFIG_KASAN_SHADOW_WINDOWED
/* Memory outside of the windows is passed over as a whole. Granule by granule this would take most of an hour. */
static void huge_ranges(void)
{
	for (uintptr_t addr = 0x40000000; addr < 0x40001000; addr++) {
		compared++;
		if (kasan_first_bad(addr, 0x40000000))
			fail("huge", addr, 0x40000000, 0);
	}
}
#endif

int main(void)
{
	kasan_set_reporting(KASAN_LIVE);
#ifdef CONFIG_KASAN_SHADOW_WINDOWED
	for (unsigned int i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		if (kasan_window_add(windows[i].start, windows[i].size,
				     (void *)windows[i].shadow)) {
			put("checks32: a window is refused\n");
			leave(2);
		}
	}
	huge_ranges();
#endif
	for (unsigned int n = 0; n < sizeof(pieces) / sizeof(pieces[0]); n++) {
		piece = pieces[n];
		three_granules(0);
		three_granules(8);
		long_ranges();
		both_ends();
		for (unsigned int i = 0; i < GRANULES; i++)
			set_state(i, 0);
	}
	for (uintptr_t addr = 0; addr < 32; addr++) {
		absurd_sizes(addr);
		absurd_sizes(0U - addr);
	}
	put(failures ? "checks32: failed," : "checks32: passed,");
	put_hex(compared);
	put("\n");
	return failures != 0;
}

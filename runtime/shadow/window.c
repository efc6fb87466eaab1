/* SPDX-License-Identifier: MIT */
/*
 * window.c - where shadow lies: translation for other files, the offset that compiled code reads at run time, the place
 * that is set at boot (CONFIG_KASAN_SHADOW_DYNAMIC), and the table of windows (windowed layout).
 *
 * Windows are added before the memory in them is handed out, mostly while booting, and never removed. A port takes its
 * numbers from a linker script or a board description, where mistakes are easy and fatal, so each refusal names the
 * wrong number and the right one.
 */
#include "shadow.h"

/* The compilers' name for it (-asan-force-dynamic-shadow, and Clang's default on riscv64). */
extern uintptr_t __asan_shadow_memory_dynamic_address;

uint8_t *kasan_shadow_of(const void *addr)
{
	uint8_t *shadow;

	if (!kasan_shadow_at((uintptr_t)addr, &shadow))
		return NULL;
#ifdef CONFIG_KASAN_SHADOW_HOLES
	if (!kasan_port_readable(shadow, 1))
		return NULL;
#endif
	return shadow;
}

/* The offset that compiled code has, if it is known. */
#ifdef KASAN_FULL_LINEAR
#define FIRST_OFFSET KASAN_FULL_OFFSET
#else
#define FIRST_OFFSET ((uintptr_t)(CONFIG_KASAN_SHADOW_OFFSET))
#endif

bool kasan_shadow_fault_to_access(uintptr_t shadow, uintptr_t *addr)
{
#if defined(CONFIG_KASAN_SHADOW_PIECES)
	uintptr_t first = 0, last;

	/* From piece to piece. */
	do {
		const uintptr_t start = kasan_port_shadow(first, &last);

		if (start && shadow - start <= (last - first) >> KASAN_SHADOW_SCALE_SHIFT) {
			*addr = first + ((shadow - start) << KASAN_SHADOW_SCALE_SHIFT);
			return true;
		}
		first = last + 1;
	} while (first);
	return false;
#elif defined(KASAN_FULL_LINEAR) || \
	(defined(CONFIG_KASAN_SHADOW_OFFSET) && !defined(CONFIG_KASAN_SHADOW_COMPACT))
	const uintptr_t granule = shadow - FIRST_OFFSET;

	/* Below the shadow of address 0 the difference wraps, so both ends fail the same test. */
	if (granule > UINTPTR_MAX >> KASAN_SHADOW_SCALE_SHIFT)
		return false;
	/* Inline checks of software tags look up every address with its top byte set. */
	*addr = kasan_untag_addr(granule << KASAN_SHADOW_SCALE_SHIFT);
	return true;
#else
	(void)shadow;
	(void)addr;
	return false;
#endif
}

#if defined(CONFIG_KASAN_SHADOW_DYNAMIC)

#ifdef CONFIG_KASAN_SHADOW_OFFSET
__attribute__((used)) uintptr_t __asan_shadow_memory_dynamic_address = CONFIG_KASAN_SHADOW_OFFSET;
#else
__attribute__((used)) uintptr_t __asan_shadow_memory_dynamic_address;
#endif
uintptr_t kasan_full_low = KASAN_FULL_NOWHERE;
uintptr_t kasan_full_span = UINTPTR_MAX - KASAN_FULL_NOWHERE;

const char *kasan_shadow_place(uintptr_t offset, uintptr_t low, uintptr_t high)
{
	const uintptr_t first = (low >> KASAN_SHADOW_SCALE_SHIFT) + offset;

	if (kasan_full_low != KASAN_FULL_NOWHERE)
		return kasan_complain("the shadow has its place already, for addresses from ",
				      kasan_full_low, " to ", kasan_full_low + kasan_full_span, "");
	if (low > high || (low | (high + 1)) & KASAN_GRANULE_MASK)
		return kasan_complain("the addresses from ", low, " to ", high,
				      " are not whole granules");
	if (first + ((high - low) >> KASAN_SHADOW_SCALE_SHIFT) < first)
		return kasan_complain("the shadow at ", first,
				      " would go on at address 0; the last address is ", high, "");
#ifdef CONFIG_KASAN_SHADOW_OFFSET
	if (offset != KASAN_FULL_OFFSET)
		return kasan_complain("the offset is ", offset,
				      ", but compiled code and the runtime have ",
				      KASAN_FULL_OFFSET, "");
#endif
	/* In this order, because an interrupt's checks may come between: until the end nothing has shadow. */
	__atomic_store_n(&__asan_shadow_memory_dynamic_address, offset, __ATOMIC_RELEASE);
	__atomic_store_n(&kasan_full_low, low, __ATOMIC_RELEASE);
	__atomic_store_n(&kasan_full_span, high - low, __ATOMIC_RELEASE);
	return NULL;
}

#elif defined(CONFIG_KASAN_SHADOW_PIECES)

__attribute__((used)) uintptr_t __asan_shadow_memory_dynamic_address;

#elif defined(CONFIG_KASAN_SHADOW_FULL)

__attribute__((used)) uintptr_t __asan_shadow_memory_dynamic_address = KASAN_FULL_OFFSET;

#elif defined(CONFIG_KASAN_SHADOW_WINDOWED)

#ifdef CONFIG_KASAN_SHADOW_OFFSET
__attribute__((used)) uintptr_t __asan_shadow_memory_dynamic_address = CONFIG_KASAN_SHADOW_OFFSET;
#else
__attribute__((used)) uintptr_t __asan_shadow_memory_dynamic_address;
#endif

struct kasan_window kasan_windows[CONFIG_KASAN_MAX_WINDOWS];
unsigned int kasan_window_count;

const struct kasan_window *kasan_later_window(uintptr_t addr)
{
	/* Pairs with the release in kasan_window_add(): every window that is counted has been filled. */
	const unsigned int count = __atomic_load_n(&kasan_window_count, __ATOMIC_ACQUIRE);
	unsigned int i;

	for (i = 1; i < count; i++) {
		if (addr - kasan_windows[i].start < kasan_windows[i].size)
			return &kasan_windows[i];
	}
	return NULL;
}

uintptr_t kasan_window_gap_end(uintptr_t addr, uintptr_t last)
{
	const unsigned int count = __atomic_load_n(&kasan_window_count, __ATOMIC_ACQUIRE);
	unsigned int i;

	for (i = 0; i < count; i++) {
		const uintptr_t start = kasan_windows[i].start;

		if (start > addr && start - 1 < last)
			last = start - 1;
	}
	return last;
}

/* A window starts at a byte of its shadow. */
#define START_MASK (((uintptr_t)1 << KASAN_WINDOW_SHIFT) - 1)

static inline size_t shadow_bytes(size_t size)
{
	return (size >> KASAN_WINDOW_SHIFT) + ((size & START_MASK) != 0);
}

#ifdef CONFIG_KASAN_WINDOW_START
/* Checks of accesses have its numbers as constants, and would take another one for memory without shadow. */
static bool is_first_as_compiled(uintptr_t start, size_t size)
{
	return kasan_window_count || (start == KASAN_FIRST_START && size == KASAN_FIRST_SIZE);
}
#else
#define is_first_as_compiled(start, size) true
#endif

#if CONFIG_KASAN_START_CHECKS

/* Do the two ranges share a byte? Sizes above 0, no wrap-around. */
static bool overlap(uintptr_t a, size_t a_size, uintptr_t b, size_t b_size)
{
	return a <= b + (b_size - 1) && b <= a + (a_size - 1);
}

/* Shadow is zeroed when a window is added, so it must not lie on top of the image. And the first window must cover the
 * image: compiled code translates the addresses of its stack and globals at the first window's offset without asking
 * which window they lie in. */
static const char *check_image(uintptr_t start, size_t size, uintptr_t shadow, size_t shadow_size)
{
	uintptr_t image = 0, end = 0;

	if (!kasan_port_image(&image, &end) || end <= image)
		return NULL;
	if (overlap(shadow, shadow_size, image, end - image))
		return kasan_complain(
			"shadow at ", shadow, " would overwrite the image: put it at or above ",
			(end + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK, "");
	if (!CONFIG_KASAN_STACK || kasan_window_count)
		return NULL;
	if (image < start)
		return kasan_complain("the window starts at ", start,
				      ", inside or above the image: start it at or below ",
				      image & ~(uintptr_t)KASAN_GRANULE_MASK, "");
	if (end - start > size)
		return kasan_complain(
			"window size ", size, " leaves out part of the image: at least ",
			(end - start + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK,
			" from its start");
	return NULL;
}

/* --- Adding --- */

static const char *check_window(uintptr_t start, size_t size, uintptr_t shadow)
{
	const size_t shadow_size = shadow_bytes(size);
	unsigned int i;

	if (start & START_MASK)
		return kasan_complain("window start ", start,
				      START_MASK == 7 ? " is not a multiple of 8: use "
						      : " is not a multiple of 32: use ",
				      start & ~START_MASK, "");
	if (!size || (size & KASAN_GRANULE_MASK))
		return kasan_complain(
			"window size ", size, " is not a multiple of 8 above 0: use ",
			size ? size & ~(size_t)KASAN_GRANULE_MASK : KASAN_GRANULE_SIZE, "");
	if (start + (size - 1) < start)
		return kasan_complain("window size ", size,
				      " runs past the end of the address space: at most ",
				      (uintptr_t)0 - start, " from its start");
	if (!shadow)
		return kasan_complain("window at ", start, " has no shadow: give ", shadow_size,
				      " bytes");
	if (shadow + (shadow_size - 1) < shadow)
		return kasan_complain("shadow at ", shadow,
				      " runs past the end of the address space: it takes ",
				      shadow_size, " bytes");
	if (overlap(start, size, shadow, shadow_size))
		return kasan_complain("shadow at ", shadow,
				      " lies inside its own window, which ends at ", start + size,
				      "");
	for (i = 0; i < kasan_window_count; i++) {
		const struct kasan_window *old = &kasan_windows[i];
		const uintptr_t old_shadow = (old->start >> KASAN_WINDOW_SHIFT) + old->offset;

		if (overlap(start, size, old->start, old->size))
			return kasan_complain("window overlaps the one at ", old->start,
					      ", which ends at ", old->start + old->size, "");
		if (overlap(shadow, shadow_size, old_shadow, shadow_bytes(old->size)))
			return kasan_complain("shadow overlaps that of the window at ", old->start,
					      ", which ends at ",
					      old_shadow + (old->size >> KASAN_WINDOW_SHIFT), "");
	}
	if (kasan_window_count == CONFIG_KASAN_MAX_WINDOWS)
		return kasan_complain("no room for the window at ", start,
				      ": CONFIG_KASAN_MAX_WINDOWS is ", CONFIG_KASAN_MAX_WINDOWS,
				      "");
#ifdef CONFIG_KASAN_WINDOW_START
	if (!is_first_as_compiled(start, size))
		return kasan_complain(
			"CONFIG_KASAN_WINDOW_START and _SIZE say that the first window starts at ",
			KASAN_FIRST_START, " and has the size ", KASAN_FIRST_SIZE, "");
#endif
#ifdef CONFIG_KASAN_SHADOW_OFFSET
	if (!kasan_window_count) {
		const uintptr_t right =
			(start >> KASAN_WINDOW_SHIFT) + (uintptr_t)(CONFIG_KASAN_SHADOW_OFFSET);

		if (shadow != right)
			return kasan_complain(
				"CONFIG_KASAN_SHADOW_OFFSET puts the shadow at ", right,
				"; for shadow where it is now, set it and the compiler's "
				"offset to ",
				shadow - (start >> KASAN_WINDOW_SHIFT), "");
	}
#endif
	return check_image(start, size, shadow, shadow_size);
}

#else
static const char *check_window(uintptr_t start, size_t size, uintptr_t shadow)
{
	if ((start & START_MASK) || !size || !shadow ||
	    kasan_window_count == CONFIG_KASAN_MAX_WINDOWS || !is_first_as_compiled(start, size))
		return "kasan_window_add(): wrong, CONFIG_KASAN_START_CHECKS=1 says why";
	return NULL;
}
#endif

const char *kasan_window_add(uintptr_t start, size_t size, void *shadow)
{
	const char *wrong = check_window(start, size, (uintptr_t)shadow);
	struct kasan_window *window;

	if (wrong)
		return wrong;
	kasan_fill(shadow, 0, shadow_bytes(size));
	window = &kasan_windows[kasan_window_count];
	window->start = start;
	window->offset = (uintptr_t)shadow - (start >> KASAN_WINDOW_SHIFT);
	if (!kasan_window_count)
		__asan_shadow_memory_dynamic_address = window->offset;
	/* A window is used as soon as it has a size. The loop over later ones sees it once it is counted. */
	__atomic_store_n(&window->size, size, __ATOMIC_RELEASE);
	__atomic_store_n(&kasan_window_count, kasan_window_count + 1, __ATOMIC_RELEASE);
	return NULL;
}

void *kasan_window_shadow(uintptr_t start)
{
	return (void *)((start >> KASAN_WINDOW_SHIFT) + kasan_windows[0].offset);
}

/* A function poisons its frame at the one offset it was compiled with. At another offset those stores would hit
 * unrelated memory, and nothing would be found on the stack. */
const char *kasan_check_stack(const void *low, const void *high)
{
	const uintptr_t start = (uintptr_t)low, last = (uintptr_t)high - 1;
	const struct kasan_window *window = kasan_window_of(start);

	if (!CONFIG_KASAN_STACK)
		return NULL;
	if (last < start || !window || window != kasan_window_of(last))
		return kasan_complain("the stack at ", start,
				      " has no shadow: a window must cover it, up to ", last + 1,
				      "");
	if (window->offset != kasan_windows[0].offset)
		return kasan_complain(
			"the stack is in the window at ", window->start,
			", whose shadow has another offset than the first window's: put it at ",
			(uintptr_t)kasan_window_shadow(window->start), "");
	return NULL;
}

#endif /* CONFIG_KASAN_SHADOW_WINDOWED */

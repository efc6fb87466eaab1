/* SPDX-License-Identifier: MIT */
/*
 * inputs.c - U-Boot that is fuzzed: when it would show its prompt, it asks the emulator what to do, and takes inputs from
 * the fuzzer, or one from a file.
 *
 * The words come from the emulator's option -fw_cfg name=opt/redzone/words,string=:
 *
 *	fuzz TARGET SIZE	inputs from the mailbox; SIZE is what to write to wait for the next one
 *	repeat TARGET		the input that -fw_cfg calls opt/redzone/input, with all that U-Boot prints
 *
 * Without words U-Boot shows its prompt.
 */
#include <kasan/fuzz.h>
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "../uboot.h"
#include "host.h"
#include "target.h"

#define LINE 1024
/* Enough for what setjmp() of any architecture stores. */
#define STATE_WORDS 32
#define INPUT_ALIGN 64
/*
 * Reports of one input that are printed while fuzzing; each takes about as long as a hundred inputs. The bug that an input
 * was kept for may come after several others, and PLACE_REPORTS bounds what those cost. REPORTS_ALL: for a fuzzer that
 * looks for one bug.
 */
#define REPORTS_MAX 32
#define REPORTS_ALL 128
/* Reports of one place that are printed in one boot. A bug that every other input meets would leave no time for others.
 * For a fuzzer that looks for one bug: of one input. */
#define PLACE_REPORTS 4U
#define PLACES	      1024U
/* A place is the code address of the access and so many return addresses: many bugs show in strlen(). */
#define CALLERS	   2
#define FRAMES_MAX 64
/* Inputs between two looks at the heap, and how much of it they may leave allocated. */
#define LOOK_EACH 64
#define LOST_MAX  (44UL << 20)

void *__wrap_memalign(size_t align, size_t size);
void __wrap_free(void *ptr);
void __real_main_loop(void);
void __wrap_main_loop(void);
_Noreturn void __wrap_hang(void);

static const struct fuzz_target *const targets[] = {
	&fuzz_dtb, &fuzz_efi, &fuzz_env, &fuzz_fit, &fuzz_fs, &fuzz_net,
};

static const struct fuzz_target *target;
static struct kasan_fuzz_mailbox *box;
static size_t wait_size;
static unsigned long heap_before, inputs;
static unsigned int reports;

extern uint32_t __start___sancov_guards[], __stop___sancov_guards[];

/* U-Boot's makefile copies the sections that it knows, and fills what lies between with ones. This runs before the
 * constructors of the compiler, which have no priority as high. */
__attribute__((constructor(101), used)) static void clear_guards(void)
{
	__memset(__start___sancov_guards, 0,
		 (size_t)((char *)__stop___sancov_guards - (char *)__start___sancov_guards));
}

/* --- Leaving an input ------------------------------------------------------------------------------------- */

int setjmp(unsigned long *state) __attribute__((returns_twice));
_Noreturn void __wrap_longjmp(unsigned long *state, int value);

/* Inputs of one boot that are left in the middle. They lose memory, and may leave more behind. */
#define LEFT_MAX 64

static unsigned long before_input[STATE_WORDS];
static bool working;
static unsigned int left;

static _Noreturn void leave_input(void)
{
	working = false;
	if (++left == LEFT_MAX)
		__atomic_store_n(&box->boot_again, 1, __ATOMIC_RELEASE);
	__wrap_longjmp(before_input, 1);
}

/* --- Lines of the runtime --------------------------------------------------------------------------------- */

static void put_decimal(unsigned long value, unsigned int digits, char fill)
{
	const unsigned int last = digits - 1;
	char text[24];

	text[digits] = '\0';
	while (digits--) {
		/* A time without a digit, in a system's first second, is no time for those that read reports. */
		const bool shown = value || fill == '0' || digits == last;

		text[digits] = shown ? (char)('0' + value % 10) : fill;
		value /= 10;
	}
	uboot_puts(text);
}

/* As a kernel does it: the fuzzer tells these lines from U-Boot's own by the time in front. */
void uboot_before_line(void)
{
	unsigned long count, rate;

	if (!box)
		return;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
	uboot_puts("[");
	put_decimal(count / rate, 5, ' ');
	uboot_puts(".");
	put_decimal(count % rate * 1000000 / rate, 6, '0');
	uboot_puts("] ");
}

static void say_address(const char *text, unsigned long value)
{
	uboot_before_line();
	uboot_put_hex(text, value);
	uboot_puts("\n");
}

unsigned long uboot_note_fault(unsigned long syndrome, unsigned long address, unsigned long pc,
			       int data)
{
	/* The access was not made, and was reported. So U-Boot leaves the input where it is: a boot takes longer. */
	if (data && box && working)
		return (unsigned long)leave_input;
	uboot_before_line();
	uboot_put_hex("Internal error: exception with syndrome ", syndrome);
	uboot_put_hex(" in ", pc);
	uboot_puts("\n");
	say_address("fault address ", address);
	uboot_say_window();
	return 0;
}

/* hang() is where U-Boot stops for ever. The fuzzer need not wait for that. */
_Noreturn void __wrap_hang(void)
{
	uboot_puts("\n");
	say_address("Kernel panic - not syncing: hang() called from ",
		    (unsigned long)__builtin_return_address(0));
	uboot_say_window();
	host_exit();
}

/* Return: a number of the place whose access has the code address @ip: the same for the same callers. */
static uintptr_t place_of(uintptr_t ip)
{
	const uintptr_t *frame = __builtin_frame_address(0);
	uintptr_t place = ip;
	int left = 0;

	for (int i = 0; i < FRAMES_MAX; i++) {
		const uintptr_t *next = (const uintptr_t *)frame[0];

		if (left) {
			place = place * 31 + frame[1];
			if (!--left)
				break;
		} else if (frame[1] == ip) {
			left = CALLERS;
		}
		/* Frames lie one above the other. The last one's link, or one that was overwritten, leads elsewhere. */
		if (next <= frame || (uintptr_t)next % sizeof(*next) ||
		    !kasan_port_readable(next, 2 * sizeof(*next)))
			break;
		frame = next;
	}
	return place ? place : 1;
}

static struct {
	uintptr_t place;
	unsigned int count;
} places[PLACES];

/* Return: true for the first few reports of a place. When the table is full every place counts as new. */
static bool is_news(uintptr_t place)
{
	for (unsigned int i = 0, at = (unsigned int)(place >> 2) % PLACES; i < PLACES;
	     i++, at = (at + 1) % PLACES) {
		if (places[at].place && places[at].place != place)
			continue;
		places[at].place = place;
		return places[at].count++ < PLACE_REPORTS;
	}
	return true;
}

/* Return: true if the fuzzer looks for one bug, with similar inputs. */
static bool looks_closely(void)
{
	return box && __atomic_load_n(&box->reports_all, __ATOMIC_RELAXED);
}

static bool wanted(const struct kasan_report_info *info)
{
	const unsigned int most = looks_closely() ? REPORTS_ALL : REPORTS_MAX;

	/* One input that is repeated shows all. */
	if ((box && reports >= most) || !is_news(place_of(info->ip)))
		return false;
	/* A finding's console begins with its input, and the addresses mean nothing without this line. */
	if (!reports++)
		uboot_say_window();
	return true;
}

static void note_report(const struct kasan_report_info *info)
{
	kasan_fuzz_reported(info->is_write || info->is_free);
}

/* --- Inputs ----------------------------------------------------------------------------------------------- */

bool kasan_port_fuzz_wait(bool sleep)
{
	if (sleep)
		host_wait(wait_size);
	return true;
}

void kasan_port_fuzz_wake(void)
{
	host_wake();
}

static int one_input(const uint8_t *data, size_t size)
{
	/* A variable that changes behind setjmp() must not be in a register. */
	static uint8_t *copy;
	static int result;

	copy = __wrap_memalign(INPUT_ALIGN, size ? size : 1);
	result = -1;
	reports = 0;
	if (looks_closely())
		__memset(places, 0, sizeof(places));
	if (copy) {
		__memcpy(copy, data, size);
		if (!setjmp(before_input)) {
			working = true;
			result = target->run(copy, size);
			working = false;
		}
		__wrap_free(copy);
	}
	/* What the input has lost is gone. A boot gets it back. */
	if (!copy ||
	    (box && ++inputs % LOOK_EACH == 0 && uboot_heap_used() > heap_before + LOST_MAX))
		__atomic_store_n(&box->boot_again, 1, __ATOMIC_RELEASE);
	return result;
}

/* Memory that is never given back. The runtime takes its own from the same place, in whole pages. */
static void *take_pages(size_t size)
{
	const size_t page = CONFIG_KASAN_PAGE_SIZE;

	return kasan_port_alloc((size + page - 1) & ~(page - 1));
}

static size_t number_of(const char *text)
{
	size_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (size_t)(*text - '0');
	return number;
}

static void fuzz(const char *size)
{
	wait_size = number_of(size);
	box = take_pages(sizeof(*box) + INPUT_ALIGN);
	if (!wait_size || !host_start_waking() || !box)
		uboot_hang("fuzz: no memory, or no ports to the host");
	box = (void *)(((uintptr_t)box + INPUT_ALIGN - 1) & ~(uintptr_t)(INPUT_ALIGN - 1));
	uboot_heap_settle();
	heap_before = uboot_heap_used();
	fuzz_quiet(1);
	uboot_put_hex("fuzz: mailbox at ", (unsigned long)box);
	uboot_puts("\n");
	kasan_fuzz_loop(box, one_input);
}

static void repeat(void)
{
	size_t size = 0;
	const unsigned int file = host_file("opt/redzone/input", &size);
	/* Not from the heap: where objects lie shall be as in the fuzzer. */
	uint8_t *data = file ? take_pages(size + 1) : NULL;

	if (!data)
		uboot_hang("fuzz: the input cannot be read");
	host_read(file, data, size);
	one_input(data, size);
	uboot_puts("\nfuzz: the input was handled\n");
}

/* Return: the next word of the line at *@at, with a NUL behind it; "" at its end. */
static char *next_word(char **at)
{
	char *word = *at, *end = word;

	while (*end && *end != ' ')
		end++;
	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

void __wrap_main_loop(void)
{
	static char line[LINE];
	size_t size = 0;
	const unsigned int words = host_file("opt/redzone/words", &size);
	char *at = line, *what, *name;
	const char *wrong;

	if (words && size < sizeof(line))
		host_read(words, line, size);
	what = next_word(&at);
	if (!same(what, "fuzz") && !same(what, "repeat")) {
		__real_main_loop();
		return;
	}
	name = next_word(&at);
	for (unsigned int i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (same(targets[i]->name, name))
			target = targets[i];
	if (!target)
		uboot_hang("fuzz: there is no such target");
	kasan_report_filter(wanted);
	kasan_report_hook(note_report);
	wrong = target->start ? target->start() : NULL;
	if (wrong)
		uboot_hang(wrong);
	if (same(what, "fuzz"))
		fuzz(next_word(&at));
	else
		repeat();
	host_exit();
}

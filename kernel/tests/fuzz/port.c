// SPDX-License-Identifier: MIT
/*
 * port.c - the fuzzing loop in this kernel: where the mailbox is, and how to wait for the host.
 *
 * The mailbox is a variable of the image. A line of the console tells the host its physical address. To sleep, the CPU
 * writes to a port of the host's that takes no more, see <kernel/host.h>: it stands still until the host takes something.
 */
#include <kasan/fuzz.h>
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/host.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/printk.h>
#include <kernel/program.h>

int redzone_fuzz(kasan_fuzz_target_fn target);

static unsigned int wait_size;
range_param("fuzz.wait", wait_size, 0, 65536, "a number of bytes",
	    "what a fuzzed kernel writes to the host to wait for the next input");

static struct kasan_fuzz_mailbox mailbox __aligned(4096);

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

/* Reports of one input that are printed. A bug in a loop would spend the time of thousands of inputs on the console. */
#define REPORTS_MAX 4

static kasan_fuzz_target_fn the_target;
static u32 reports_before;

static int count_leaks(const uint8_t *data, size_t size)
{
	int result;

	program_objects_count();
	result = the_target(data, size);
	mailbox.left = (int32_t)program_objects_counted();
	return result;
}

static int report_leaks(const uint8_t *data, size_t size)
{
	unsigned long bytes;
	int result;

	redzone_leaks_begin();
	result = the_target(data, size);
	mailbox.left = (int32_t)redzone_leaks_end(&bytes);
	mailbox.left_bytes = (uint32_t)min(bytes, (unsigned long)UINT32_MAX);
	/* Memory is what it was. */
	if (mailbox.left)
		kasan_fuzz_reported(false);
	return result;
}

static int one_input(const uint8_t *data, size_t size)
{
	const u32 leaks = READ_ONCE(mailbox.leaks);
	int result;

	reports_before = READ_ONCE(mailbox.reports);
	if (leaks == KASAN_FUZZ_LEAKS_COUNT)
		result = count_leaks(data, size);
	else if (leaks == KASAN_FUZZ_LEAKS_REPORT)
		result = report_leaks(data, size);
	else
		result = the_target(data, size);
	/* What the input has printed is the input's. */
	console_flush();
	return result;
}

#ifdef CONFIG_KASAN
static bool wanted(const struct kasan_report_info *info)
{
	return READ_ONCE(mailbox.reports) - reports_before < REPORTS_MAX;
}

static void note_report(const struct kasan_report_info *info)
{
	kasan_fuzz_reported(info->is_write || info->is_free);
}
#endif

/* Called by the main() of kernel/tests/fuzz/harness.c. Return: the program's status, when the host is gone. */
int redzone_fuzz(kasan_fuzz_target_fn target)
{
#ifdef CONFIG_KASAN
	kasan_report_hook(note_report);
	kasan_report_filter(wanted);
#endif
	printk("fuzz: mailbox at %#lx\n", (unsigned long)__pa_symbol(&mailbox));
	the_target = target;
	kasan_fuzz_loop(&mailbox, one_input);
	return 0;
}

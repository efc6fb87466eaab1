// SPDX-License-Identifier: MIT
/*
 * port.c - the fuzzing loop in this kernel: where the mailbox is, and how to wait for the host.
 *
 * The mailbox is a variable of the image. A line of the console tells the host its physical address. To sleep, the CPU
 * reads from a pipe of the host, through the emulator's semihosting calls: that needs no device.
 */
#include <kasan/fuzz.h>
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/printk.h>
#include <kernel/program.h>

int redzone_fuzz(kasan_fuzz_target_fn target);

static char no_path[] = "";
static char *wait_path = no_path;
core_param("fuzz.wait", wait_path, charp, "a host file",
	   "where a fuzzed kernel reads a byte when it waits for the next input");
static char *wake_path = no_path;
core_param("fuzz.wake", wake_path, charp, "a host file",
	   "where a fuzzed kernel writes a byte when the fuzzer waits for it");

static struct kasan_fuzz_mailbox mailbox __aligned(4096);
static long wait_file = -1, wake_file = -1;

bool kasan_port_fuzz_wait(bool sleep)
{
	char byte;

	if (!sleep || wait_file < 0)
		return true;
	return arch_host_read(wait_file, &byte, 1) == 1;
}

void kasan_port_fuzz_wake(void)
{
	if (wake_file >= 0)
		arch_host_write(wake_file, "w", 1);
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

	reports_before = READ_ONCE(mailbox.reports);
	if (leaks == KASAN_FUZZ_LEAKS_COUNT)
		return count_leaks(data, size);
	if (leaks == KASAN_FUZZ_LEAKS_REPORT)
		return report_leaks(data, size);
	return the_target(data, size);
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

/* Called by the main() of kernel/fuzz/harness.c. Return: the program's status, when the host is gone. */
int redzone_fuzz(kasan_fuzz_target_fn target)
{
	if (*wait_path)
		wait_file = arch_host_open(wait_path, false);
	if (*wake_path)
		wake_file = arch_host_open(wake_path, true);
#ifdef CONFIG_KASAN
	kasan_report_hook(note_report);
	kasan_report_filter(wanted);
#endif
	printk("fuzz: mailbox at %#lx\n", (unsigned long)__pa_symbol(&mailbox));
	the_target = target;
	kasan_fuzz_loop(&mailbox, one_input);
	return 0;
}

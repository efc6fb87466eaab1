/* SPDX-License-Identifier: MIT */
/*
 * host.c - the stream of bytes to the machine that runs the emulator, and standard input from there.
 *
 * Not instrumented, because KASAN's reports and the last words of a panic go through here.
 */
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/host.h>
#include <kernel/irqflags.h>
#include <kernel/kasan_port.h>
#include <kernel/program.h>
#include <kernel/preempt.h>
#include <kernel/sched.h>
#include <kernel/time.h>
#include <drivers/uart.h>
#include <drivers/virtio_console.h>

/* Ports of the device. */
#define PORT_STREAM 0
#define PORT_WAIT   1
#define PORT_WAKE   2

/* A program that prints without a pause fills it between two ticks, and each time costs the emulator some microseconds. */
#define BUFFER_SIZE (64UL << 10)
/* A mark, and a byte that needs one. */
#define ROOM_MIN 4

#define INPUT_MAX (16UL << 10)
/* How long a CPU looks for input before it sleeps until a tick. */
#define INPUT_SPIN_NS (2 * NSEC_PER_MSEC)

static bool present;

/* Owned by the one who owns the console. @used: bytes of @buffer. @channel: of the last of them. */
static char buffer[BUFFER_SIZE] __aligned(8);
static size_t used;
static unsigned int channel;

void host_init(void)
{
	unsigned long flags = console_lock();

	present = virtio_console_init();
	console_unlock(flags);
}

bool host_present(void)
{
	return READ_ONCE(present);
}

bool host_pending(void)
{
	return READ_ONCE(used) != 0;
}

struct __packed __attribute__((may_alias)) word {
	u64 value;
};

#define EACH_BYTE(value) (0x0101010101010101ULL * (value))

static bool has_mark(u64 word)
{
	const u64 rest = word ^ EACH_BYTE(HOST_MARK);

	return (rest - EACH_BYTE(0x01)) & ~rest & EACH_BYTE(0x80);
}

/* Copy bytes of [*@from, @end) to [@to, @limit), each mark twice. *@from: moved on. Return: the first free byte. */
static char *copy_escaped(char *to, const char *limit, const char **from, const char *end)
{
	const char *at = *from;

	while (at < end && limit - to >= 2) {
		if (end - at >= 8 && limit - to >= 8) {
			const struct word word = *(const struct word *)at;

			if (!has_mark(word.value)) {
				*(struct word *)to = word;
				to += 8;
				at += 8;
				continue;
			}
		}
		/* A compiler could make a call of memcpy() of plain stores, which is a checked one. */
		if (*at == HOST_MARK)
			WRITE_ONCE(*to++, HOST_MARK);
		WRITE_ONCE(*to++, *at++);
	}
	*from = at;
	return to;
}

void host_put(unsigned int to_channel, const char *data, size_t size)
{
	const char *const end = data + size;

	while (data < end) {
		const size_t before = READ_ONCE(used);
		const char *next = data;
		char *to = buffer + before;

		if (before > BUFFER_SIZE - ROOM_MIN) {
			host_flush();
			continue;
		}
		if (!before || channel != to_channel) {
			*to++ = HOST_MARK;
			*to++ = (char)(HOST_FIRST + to_channel);
		}
		to = copy_escaped(to, buffer + BUFFER_SIZE, &next, end);
		/* Reading the data may be a fault that was printed meanwhile. */
		if (READ_ONCE(used) != before)
			continue;
		channel = to_channel;
		WRITE_ONCE(used, (size_t)(to - buffer));
		data = next;
	}
}

void host_flush(void)
{
	const size_t size = READ_ONCE(used);

	WRITE_ONCE(used, 0);
	if (size)
		virtio_console_send(PORT_STREAM, buffer, size);
}

void host_recover(void)
{
	if (used > BUFFER_SIZE)
		used = 0;
}

void host_mark_uart(void)
{
	static const char mark[] = {HOST_MARK, HOST_FIRST + HOST_KERNEL};

	if (!host_present())
		return;
	host_flush();
	uart_write(mark, sizeof(mark));
}

bool host_send(unsigned int to_channel, const void *data, size_t size)
{
	unsigned long flags;

	if (!host_present())
		return false;
	flags = console_lock();
	host_put(to_channel, data, size);
	console_unlock(flags);
	return true;
}

/* Put @value into @text in decimal. Return: the number of characters. */
static size_t decimal(char *text, long value)
{
	unsigned long rest = value < 0 ? -(unsigned long)value : (unsigned long)value;
	char digits[20];
	size_t count = 0, size = 0;

	do {
		digits[count++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		text[size++] = '-';
	while (count)
		text[size++] = digits[--count];
	return size;
}

void host_tell(const char *word, long first, long second)
{
	char line[64];
	size_t size = 0;
	unsigned long flags;

	if (!host_present())
		return;
	while (word[size] && size < 16) {
		line[size] = word[size];
		size++;
	}
	line[size++] = ' ';
	size += decimal(line + size, first);
	line[size++] = ' ';
	size += decimal(line + size, second);
	line[size++] = '\n';
	flags = console_lock();
	host_put(HOST_CONTROL, line, size);
	host_flush();
	console_unlock(flags);
}

void machine_exit(int code)
{
	arch_local_irq_disable();
	/* Another CPU may have been stopped while it printed. */
	console_bust();
	host_tell("end", code, (long)(kasan_reports_total() + program_leaks_seen()));
	uart_flush();
	arch_power_off();
}

/* --- Standard input ----------------------------------------------------------------------------- */

/* An answer: to which request; how many bytes follow, or -1. The emulator fills it, in parts of any size. */
static struct {
	u32 request;
	s32 size;
	unsigned char data[INPUT_MAX];
} answer __aligned(8);
static size_t arrived;
static u32 request;

#define HEADER_SIZE offsetof(__typeof__(answer), data)

static size_t answer_size(void)
{
	if (arrived < HEADER_SIZE || answer.size <= 0)
		return HEADER_SIZE;
	return HEADER_SIZE + min((size_t)answer.size, INPUT_MAX);
}

/* Return: true if an answer is whole. A thread is not ended between the device's end and the count of what came. */
static bool look_for_answer(void)
{
	bool whole;

	preempt_disable();
	arrived += virtio_console_receive((char *)&answer + arrived, answer_size() - arrived);
	whole = arrived >= HEADER_SIZE && arrived == answer_size();
	if (whole)
		arrived = 0;
	preempt_enable();
	return whole;
}

long host_input(const unsigned char **data)
{
	const u32 mine = ++request;
	u64 start = clock_ns();

	if (!host_present())
		return -1;
	host_tell("read", mine, INPUT_MAX);
	/* An earlier caller that was ended may have left its answer to this one. */
	while (!look_for_answer() || answer.request != mine) {
		if (clock_ns() - start < INPUT_SPIN_NS)
			yield();
		else
			msleep(1);
	}
	*data = answer.data;
	return answer.size < 0 ? -1 : (long)min((size_t)answer.size, INPUT_MAX);
}

void host_restart_input(void)
{
	host_tell("restart", 0, 0);
}

/* --- A fuzzer ----------------------------------------------------------------------------------- */

void host_wait(size_t size)
{
	if (size)
		virtio_console_send(PORT_WAIT, buffer, min(size, BUFFER_SIZE));
}

void host_wake(void)
{
	virtio_console_send(PORT_WAKE, buffer, 1);
}

/* SPDX-License-Identifier: MIT */
/*
 * host.c - the emulator's devices that a fuzzed U-Boot needs, at the addresses of the machine "virt": its configuration
 * (fw_cfg), with words and an input, and a virtio console, whose ports wake the fuzzer and wait for it.
 *
 * These are all ways to the host. Code that is fuzzed can reach them as well: it reads what it was given anyway, and it
 * writes to pipes of the fuzzer's.
 */
#include <stdint.h>

#include <kasan/port.h>

#include "host.h"

/* The configuration: a byte at a time, after the number of a file was written. */
#define CONFIG_DATA   0x09020000UL
#define CONFIG_SELECT 0x09020008UL
/* The list of files: how many, and for each its size, its number, 16 bits, and its name. All numbers are big-endian. */
#define CONFIG_LIST 0x19
#define NAME_SIZE   56
#define FILES_MAX   1024U

/* The first place for a virtio device, and its registers. */
#define DEVICE		0x0a000000UL
#define MAGIC		0x000
#define VERSION		0x004
#define DEVICE_ID	0x008
#define FEATURES	0x020
#define FEATURES_SELECT 0x024
#define QUEUE		0x030
#define QUEUE_SIZE	0x038
#define QUEUE_READY	0x044
#define NOTIFY		0x050
#define STATUS		0x070
#define QUEUE_DESC	0x080
#define QUEUE_DRIVER	0x090
#define QUEUE_DEVICE	0x0a0

#define MAGIC_VALUE 0x74726976U
#define CONSOLE	    3
/* Several ports; and bit 32: what the standard says. */
#define MULTIPORT     2U
#define STANDARD_HIGH 1U
/* Acknowledged, there is a driver, features, and all of that with the device running. */
#define STATUS_FEATURES 11U
#define STATUS_RUNS	15U

#define PORT_WAIT 1
#define PORT_WAKE 2
#define PORTS	  3

#define PSCI_SYSTEM_OFF 0x84000008UL

static uint32_t get(unsigned long address)
{
	uint32_t value;

	__asm__ volatile("ldr %w0, [%1]\n\tdmb sy" : "=r"(value) : "r"(address) : "memory");
	return value;
}

static void set(unsigned long address, uint32_t value)
{
	__asm__ volatile("dmb sy\n\tstr %w0, [%1]" ::"r"(value), "r"(address) : "memory");
}

/* --- The configuration ---------------------------------------------------------------------------- */

static void select_file(unsigned int number)
{
	__asm__ volatile("strh %w0, [%1]" ::"r"(__builtin_bswap16((uint16_t)number)),
			 "r"(CONFIG_SELECT)
			 : "memory");
}

static uint8_t next_byte(void)
{
	uint32_t value;

	__asm__ volatile("ldrb %w0, [%1]" : "=r"(value) : "r"(CONFIG_DATA) : "memory");
	return (uint8_t)value;
}

static uint32_t next_number(unsigned int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | next_byte();
	return value;
}

unsigned int host_file(const char *name, size_t *size)
{
	uint32_t count;

	select_file(CONFIG_LIST);
	count = next_number(4);
	for (uint32_t i = 0; i < count && i < FILES_MAX; i++) {
		const uint32_t bytes = next_number(4), number = next_number(2);
		const char *at = name;
		bool same = true;

		next_number(2);
		for (unsigned int n = 0; n < NAME_SIZE; n++) {
			const char c = (char)next_byte();

			/* Behind the NUL are more of them. */
			same = same && c == *at;
			at += *at ? 1 : 0;
		}
		if (same) {
			*size = bytes;
			return number;
		}
	}
	return 0;
}

void host_read(unsigned int number, void *data, size_t size)
{
	uint8_t *to = data;

	select_file(number);
	while (size--)
		*to++ = next_byte();
}

/* --- The console ---------------------------------------------------------------------------------- */

/* A queue with room for one buffer, for output of one port. */
static struct {
	struct {
		uint64_t address;
		uint32_t size;
		uint16_t flags, next;
	} desc __attribute__((aligned(16)));
	struct {
		uint16_t flags, index, ring[1];
	} avail __attribute__((aligned(4)));
	struct {
		uint16_t flags, index;
		uint32_t ring[2];
	} used __attribute__((aligned(4)));
} queues[PORTS];

/* Sent to wait or to wake: the other side looks only at the number of bytes. */
static uint8_t nothing[65536];

static unsigned int queue_of(unsigned int port)
{
	return 2 * port + 3;
}

static void set_address(unsigned long reg, const volatile void *what)
{
	set(DEVICE + reg, (uint32_t)(uintptr_t)what);
	set(DEVICE + reg + 4, (uint32_t)((uint64_t)(uintptr_t)what >> 32));
}

bool host_start_waking(void)
{
	if (get(DEVICE + MAGIC) != MAGIC_VALUE || get(DEVICE + VERSION) != 2 ||
	    get(DEVICE + DEVICE_ID) != CONSOLE)
		return false;
	set(DEVICE + STATUS, 0);
	set(DEVICE + FEATURES_SELECT, 1);
	set(DEVICE + FEATURES, STANDARD_HIGH);
	set(DEVICE + FEATURES_SELECT, 0);
	set(DEVICE + FEATURES, MULTIPORT);
	set(DEVICE + STATUS, STATUS_FEATURES);
	for (unsigned int port = PORT_WAIT; port < PORTS; port++) {
		/* No interrupts. */
		queues[port].avail.flags = 1;
		set(DEVICE + QUEUE, queue_of(port));
		set(DEVICE + QUEUE_SIZE, 1);
		set_address(QUEUE_DESC, &queues[port].desc);
		set_address(QUEUE_DRIVER, &queues[port].avail);
		set_address(QUEUE_DEVICE, &queues[port].used);
		set(DEVICE + QUEUE_READY, 1);
	}
	set(DEVICE + STATUS, STATUS_RUNS);
	return true;
}

/* The emulator has written the bytes when it goes on with this CPU. */
static void send(unsigned int port, size_t size)
{
	queues[port].desc.address = (uintptr_t)nothing;
	queues[port].desc.size = (uint32_t)size;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&queues[port].avail.index, (uint16_t)(queues[port].avail.index + 1),
			 __ATOMIC_SEQ_CST);
	set(DEVICE + NOTIFY, queue_of(port));
}

void host_wait(size_t size)
{
	send(PORT_WAIT, size < sizeof(nothing) ? size : sizeof(nothing));
}

void host_wake(void)
{
	send(PORT_WAKE, 1);
}

void host_exit(void)
{
	register unsigned long x0 __asm__("x0") = PSCI_SYSTEM_OFF;

	for (;;)
		__asm__ volatile("hvc #0" : "+r"(x0)::"memory");
}

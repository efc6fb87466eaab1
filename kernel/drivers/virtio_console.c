/* SPDX-License-Identifier: MIT */
/*
 * virtio_console.c - the virtio console, polled.
 *
 * Uninstrumented and without locks, so that it works in a crash when nothing else does.
 */
#include <kernel/arch.h>
#include <asm/barrier.h>
#include <drivers/virtio.h>
#include <drivers/virtio_console.h>

#define DEVICE_CONSOLE 3
#define F_MULTIPORT    BIT(1)

/* Queues: input and output of port 0, of the control messages, of port 1, and so on. */
#define QUEUE_INPUT   0
#define QUEUE_CONTROL 3

/* Control messages. */
#define DEVICE_READY 0
#define PORT_READY   3
#define PORT_OPEN    6

/*
 * A device that is gone must not stop a panic: about a second. QEMU usually has the bytes before it goes on with this CPU, but
 * with ioeventfd=on it leaves them to another thread, which a busy host may let wait.
 */
#define MAX_POLLS 100000000

static struct virtio_device device;
static struct virtio_queue input, control, output[VIRTIO_CONSOLE_PORTS];
static bool has_port[VIRTIO_CONSOLE_PORTS];

static struct {
	u32 port;
	u16 event;
	u16 value;
} message;

static unsigned int output_queue(unsigned int port)
{
	return port ? 2 * port + 3 : 1;
}

static void wait_for(struct virtio_queue *queue)
{
	for (int polls = 0; polls < MAX_POLLS && !virtio_idle(queue); polls++)
		cpu_relax();
}

static void tell(u16 event)
{
	message.event = event;
	message.value = 1;
	virtio_post(&device, QUEUE_CONTROL, &control, __pa_symbol(&message), sizeof(message),
		    false);
	wait_for(&control);
}

bool virtio_console_init(void)
{
	unsigned int ports = 1;

	if (!virtio_probe(&device, DEVICE_CONSOLE, F_MULTIPORT))
		return false;
	if (device.features & F_MULTIPORT)
		ports = VIRTIO_CONSOLE_PORTS;
	for (unsigned int port = 0; port < ports; port++)
		has_port[port] = virtio_add_queue(&device, output_queue(port), &output[port]);
	if (!virtio_add_queue(&device, QUEUE_INPUT, &input) || !has_port[0])
		return false;
	if (ports > 1 && !virtio_add_queue(&device, QUEUE_CONTROL, &control))
		return false;
	virtio_start(&device);
	/* Without that the device keeps the input of a port. Its own messages say nothing that matters here. */
	if (ports > 1) {
		tell(DEVICE_READY);
		tell(PORT_READY);
		tell(PORT_OPEN);
	}
	return true;
}

void virtio_console_send(unsigned int port, void *data, size_t size)
{
	struct virtio_queue *queue = &output[port];

	if (!has_port[port])
		return;
	/* A CPU that was stopped in the middle. */
	if (!virtio_idle(queue)) {
		virtio_kick(&device, output_queue(port));
		wait_for(queue);
		/* It would take the new bytes for the old ones too. */
		if (!virtio_idle(queue))
			return;
	}
	virtio_post(&device, output_queue(port), queue, __pa_symbol(data), size, false);
	wait_for(queue);
}

size_t virtio_console_receive(void *data, size_t size)
{
	static bool posted;

	if (!posted) {
		virtio_post(&device, QUEUE_INPUT, &input, __pa_symbol(data), size, true);
		posted = true;
	}
	if (!virtio_idle(&input))
		return 0;
	posted = false;
	return min((size_t)READ_ONCE(input.used.ring[0].len), size);
}

// SPDX-License-Identifier: MIT
/* virtio_rng.c - the virtio entropy device, polled: a driver like any other, whose buffers go through the DMA layer. */
#include <kernel/mutex.h>
#include <kernel/sched.h>
#include <kernel/time.h>
#include <drivers/virtio.h>
#include <drivers/virtio_rng.h>

#define DEVICE_ENTROPY 4

/* The emulator's host may be busy. */
#define TIMEOUT_NS (5 * NSEC_PER_SEC)

/* Guards all below, and the device. */
static DEFINE_MUTEX(lock);
static struct virtio_device device;
static struct virtio_queue requests;
static enum { NOT_LOOKED, ABSENT, PRESENT } state;

bool virtio_rng_present(void)
{
	bool present;

	mutex_lock(&lock);
	if (state == NOT_LOOKED) {
		state = ABSENT;
		if (virtio_probe(&device, DEVICE_ENTROPY, 0) &&
		    virtio_add_queue(&device, 0, &requests)) {
			virtio_start(&device);
			state = PRESENT;
		}
	}
	present = state == PRESENT;
	mutex_unlock(&lock);
	return present;
}

size_t virtio_rng_fill(dma_addr_t buffer, size_t size)
{
	const u64 start = clock_ns();
	size_t written = 0;

	mutex_lock(&lock);
	virtio_post(&device, 0, &requests, buffer, size, true);
	while (!virtio_idle(&requests) && clock_ns() - start < TIMEOUT_NS)
		cpu_relax();
	if (virtio_idle(&requests))
		written = min((size_t)READ_ONCE(requests.used.ring[0].len), size);
	else
		state = ABSENT;
	mutex_unlock(&lock);
	return written;
}

size_t virtio_rng_read(void *buffer, size_t size)
{
	const dma_addr_t addr = dma_map_single(buffer, size, DMA_FROM_DEVICE);
	const size_t written = virtio_rng_fill(addr, size);

	dma_unmap_single(addr, size, DMA_FROM_DEVICE);
	return written;
}

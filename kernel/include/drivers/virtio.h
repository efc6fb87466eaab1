/* SPDX-License-Identifier: MIT */
/*
 * virtio.h - devices of the virtio standard, version 1, behind the registers that the device tree calls "virtio,mmio".
 *
 * A queue holds one buffer at a time, and its end is polled: the drivers work in any context, without interrupts and locks.
 * A caller must see to it that only one CPU uses a queue.
 */
#ifndef DRIVERS_VIRTIO_H
#define DRIVERS_VIRTIO_H

#include <kernel/types.h>

/** VIRTIO_F_VERSION_1 - a feature that virtio_probe() always asks for. */
#define VIRTIO_F_VERSION_1 BIT(32)

/** struct virtio_device - @regs: its registers. @features: those that both sides know. */
struct virtio_device {
	char *regs;
	u64 features;
};

/** struct virtio_queue - memory that the device reads and writes, in the kernel's image. All zero at first. */
struct virtio_queue {
	struct {
		u64 addr;
		u32 len;
		u16 flags;
		u16 next;
	} desc __aligned(16);
	/* The only entry of each ring names the only descriptor: 0. */
	struct {
		u16 flags;
		u16 idx;
		u16 ring[1];
	} avail __aligned(4);
	struct {
		u16 flags;
		u16 idx;
		struct {
			u32 id;
			u32 len;
		} ring[1];
	} used __aligned(4);
};

/**
 * virtio_probe() - find a device, and reset it
 * @id: kind of device, as the standard numbers them. @features: those that the driver knows.
 *
 * Boot CPU, when ioremap() works. Return: false if there is none, or it is of an older version of the standard.
 */
bool virtio_probe(struct virtio_device *device, u32 id, u64 features);

/** virtio_add_queue() - between virtio_probe() and virtio_start(): use @queue as number @index. Return: false if the device
 *  has no such queue. */
bool virtio_add_queue(const struct virtio_device *device, unsigned int index,
		      struct virtio_queue *queue);

/** virtio_start() - all queues are there: the device may use them. */
void virtio_start(const struct virtio_device *device);

/**
 * virtio_post() - hand a buffer to the device
 * @to_guest: the device writes it, else it reads it. @data: where the buffer is. The queue must be idle.
 */
void virtio_post(const struct virtio_device *device, unsigned int index, struct virtio_queue *queue,
		 phys_addr_t data, size_t size, bool to_guest);

/** virtio_idle() - Return: true if the device has nothing of the queue. */
static inline bool virtio_idle(const struct virtio_queue *queue)
{
	return __atomic_load_n(&queue->used.idx, __ATOMIC_ACQUIRE) == queue->avail.idx;
}

/** virtio_kick() - tell the device once more that there is a buffer: another CPU may have been stopped before it did. */
void virtio_kick(const struct virtio_device *device, unsigned int index);

#endif

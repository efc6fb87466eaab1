/* SPDX-License-Identifier: MIT */
/* virtio_rng.h - the virtio entropy device, which fills buffers of the caller's by DMA. */
#ifndef DRIVERS_VIRTIO_RNG_H
#define DRIVERS_VIRTIO_RNG_H

#include <kernel/dma-mapping.h>

/** virtio_rng_present() - Return: is there such a device? May sleep; looks for it the first time. */
bool virtio_rng_present(void);

/**
 * virtio_rng_fill() - let the device write random bytes
 * @buffer: mapped, DMA_FROM_DEVICE. @size: bytes.
 *
 * May sleep. The device exists. Return: number of bytes that it has written; 0: it does not answer.
 */
size_t virtio_rng_fill(dma_addr_t buffer, size_t size);

/** virtio_rng_read() - fill @buffer, of kmalloc(), with @size random bytes. May sleep. Return: number of bytes. */
size_t virtio_rng_read(void *buffer, size_t size);

#endif

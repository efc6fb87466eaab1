// SPDX-License-Identifier: MIT
/*
 * kasan_test_dma.c - buffers that a device has: accesses by the CPU, wrong unmaps, and writes past the buffer by a real
 * device, the entropy device of virtio.
 */
#include <kernel/dma-mapping.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <drivers/virtio_rng.h>

#include "kasan_test.h"

static char *alloc(struct kunit *test, size_t size)
{
	char *buffer = kzalloc(size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buffer);
	HIDE_VAR(buffer);
	return buffer;
}

void kasan_dma_use(struct kunit *test)
{
	const size_t size = 200;
	char *buffer = alloc(test, size);
	const dma_addr_t addr = dma_map_single(buffer, size, DMA_TO_DEVICE);

	KASAN_EXPECT_BUG(test, "dma-use", KASAN_READ, 1, READ_ACCESS(buffer[100]));
	KASAN_EXPECT_BUG(test, "dma-use", KASAN_WRITE, 4, WRITE_ACCESS(*(int *)(buffer + 8), 1));
	dma_sync_single_for_cpu(addr + 64, 32);
	WRITE_ACCESS(buffer[64], 1);
	WRITE_ACCESS(buffer[95], 1);
	KASAN_EXPECT_BUG(test, "dma-use", KASAN_READ, 1, READ_ACCESS(buffer[63]));
	KASAN_EXPECT_BUG(test, "dma-use", KASAN_READ, 1, READ_ACCESS(buffer[96]));
	dma_sync_single_for_device(addr + 64, 32);
	KASAN_EXPECT_BUG(test, "dma-use", KASAN_READ, 1, READ_ACCESS(buffer[64]));
	dma_unmap_single(addr, size, DMA_TO_DEVICE);
	/* As it was before, to the byte. */
	memset(buffer, 1, size);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
			 READ_ACCESS(buffer[KASAN_END(size)]));
	kfree(buffer);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_WRITE, size,
			 dma_unmap_single(dma_map_single(buffer, size, DMA_FROM_DEVICE), size,
					  DMA_FROM_DEVICE));
}

void kasan_dma_wrong_unmap(struct kunit *test)
{
	char *buffer = alloc(test, 64), *other = alloc(test, 64);
	size_t size = 64;
	enum dma_data_direction direction = DMA_TO_DEVICE;
	dma_addr_t addr = dma_map_single(buffer, 64, DMA_TO_DEVICE);

	/* The mapping must also end where the bugs are removed. */
	KASAN_TEST_BUG(size = 48);
	KUNIT_EXPECT_KASAN_REPORT(test, "dma-invalid-unmap", KASAN_WRITE, 48,
				  dma_unmap_single(addr, size, DMA_TO_DEVICE));
	addr = dma_map_single(buffer, 64, DMA_TO_DEVICE);
	KASAN_TEST_BUG(direction = DMA_FROM_DEVICE);
	KUNIT_EXPECT_KASAN_REPORT(test, "dma-invalid-unmap", KASAN_WRITE, 64,
				  dma_unmap_single(addr, 64, direction));
	addr = dma_map_single(buffer, 64, DMA_TO_DEVICE);
	dma_unmap_single(addr, 64, DMA_TO_DEVICE);
	KASAN_EXPECT_BUG(test, "dma-invalid-unmap", KASAN_WRITE, 64,
			 dma_unmap_single(addr, 64, DMA_TO_DEVICE));
	KASAN_EXPECT_BUG(test, "dma-invalid-unmap", KASAN_WRITE, 16,
			 dma_unmap_single(__pa(kasan_reset_tag(other + 16)), 16, DMA_TO_DEVICE));
	kfree(buffer);
	kfree(other);
}

void kasan_dma_past_the_end(struct kunit *test)
{
	size_t length = 20;
	dma_addr_t addr;
	char *buffer;

	kunit_needs(test, KASAN_TEST_BYTES, "sizes of objects to the byte");
	kunit_needs(test, virtio_rng_present(), "a virtio entropy device");
	buffer = alloc(test, 20);
	addr = dma_map_single(buffer, 20, DMA_FROM_DEVICE);
	KASAN_TEST_BUG(length = 23);
	KUNIT_EXPECT_EQ(test, virtio_rng_fill(addr, length), length);
	/* The device writes what it had there by accident only once in 2^24 boots. */
	KUNIT_EXPECT_KASAN_REPORT(test, "dma-out-of-bounds", KASAN_WRITE, KASAN_ANY_SIZE,
				  dma_unmap_single(addr, 20, DMA_FROM_DEVICE));
	kfree(buffer);
}

void kasan_dma_traffic(struct kunit *test)
{
	unsigned int zeros = 0;
	char *buffer;

	kunit_needs(test, virtio_rng_present(), "a virtio entropy device");
	for (size_t size = 1; size <= 200; size++) {
		buffer = alloc(test, size);
		KUNIT_ASSERT_EQ(test, virtio_rng_read(buffer, size), size);
		zeros += !memchr_inv(buffer, 0, size);
		kfree(buffer);
	}
	/* The short ones. */
	KUNIT_EXPECT_LT(test, zeros, 5U);
}

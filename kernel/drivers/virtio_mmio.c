/* SPDX-License-Identifier: MIT */
/*
 * virtio_mmio.c - finds virtio devices in the device tree, agrees with them on features, and sets up their queues.
 *
 * Uninstrumented and without locks, like the drivers that reports and panics use.
 */
#include <kernel/arch.h>
#include <asm/barrier.h>
#include <asm/io.h>
#include <drivers/fdt.h>
#include <drivers/virtio.h>

/* Registers. */
#define MAGIC		    0x000
#define VERSION		    0x004
#define DEVICE_ID	    0x008
#define DEVICE_FEATURES	    0x010
#define DEVICE_FEATURES_SEL 0x014
#define DRIVER_FEATURES	    0x020
#define DRIVER_FEATURES_SEL 0x024
#define QUEUE_SEL	    0x030
#define QUEUE_NUM_MAX	    0x034
#define QUEUE_NUM	    0x038
#define QUEUE_READY	    0x044
#define QUEUE_NOTIFY	    0x050
#define STATUS		    0x070
#define QUEUE_DESC	    0x080
#define QUEUE_DRIVER	    0x090
#define QUEUE_DEVICE	    0x0a0

#define MAGIC_VALUE 0x74726976U /* "virt" */
/* Version 1 is what was before the standard: emulators offer it unless they are told otherwise. */
#define VERSION_STANDARD 2

#define STATUS_ACKNOWLEDGE BIT(0)
#define STATUS_DRIVER	   BIT(1)
#define STATUS_DRIVER_OK   BIT(2)
#define STATUS_FEATURES_OK BIT(3)
#define STATUS_FAILED	   BIT(7)

#define DESC_F_WRITE	     BIT(1) /* the device writes */
#define AVAIL_F_NO_INTERRUPT BIT(0)

static u32 get(const struct virtio_device *device, unsigned int reg)
{
	return readl(device->regs + reg);
}

static void set(const struct virtio_device *device, unsigned int reg, u32 value)
{
	writel(value, device->regs + reg);
}

static void set_address(const struct virtio_device *device, unsigned int reg, const void *what)
{
	const phys_addr_t pa = __pa_symbol(what);

	set(device, reg, (u32)pa);
	set(device, reg + 4, (u32)((u64)pa >> 32));
}

static bool agree(struct virtio_device *device, u64 features)
{
	u64 offered;
	u32 status = STATUS_ACKNOWLEDGE | STATUS_DRIVER;

	set(device, STATUS, 0);
	set(device, STATUS, STATUS_ACKNOWLEDGE);
	set(device, STATUS, status);
	set(device, DEVICE_FEATURES_SEL, 1);
	offered = (u64)get(device, DEVICE_FEATURES) << 32;
	set(device, DEVICE_FEATURES_SEL, 0);
	offered |= get(device, DEVICE_FEATURES);
	device->features = offered & (features | VIRTIO_F_VERSION_1);
	set(device, DRIVER_FEATURES_SEL, 1);
	set(device, DRIVER_FEATURES, (u32)(device->features >> 32));
	set(device, DRIVER_FEATURES_SEL, 0);
	set(device, DRIVER_FEATURES, (u32)device->features);
	status |= STATUS_FEATURES_OK;
	set(device, STATUS, status);
	if (device->features & VIRTIO_F_VERSION_1 && get(device, STATUS) & STATUS_FEATURES_OK)
		return true;
	set(device, STATUS, STATUS_FAILED);
	return false;
}

bool virtio_probe(struct virtio_device *device, u32 id, u64 features)
{
	phys_addr_t base, page = 0;
	char *mapped = NULL;
	u64 size;

	for (int node = fdt_compatible(-1, "virtio,mmio"); node >= 0;
	     node = fdt_compatible(node, "virtio,mmio")) {
		if (!fdt_available(node) || !fdt_reg(node, 0, &base, &size))
			continue;
		/* Several share a page. */
		if (!mapped || (base & PAGE_MASK) != page) {
			page = base & PAGE_MASK;
			mapped = ioremap(page, PAGE_SIZE);
			if (!mapped)
				return false;
		}
		device->regs = mapped + (base & ~PAGE_MASK);
		if (get(device, MAGIC) == MAGIC_VALUE && get(device, VERSION) == VERSION_STANDARD &&
		    get(device, DEVICE_ID) == id)
			return agree(device, features);
	}
	return false;
}

bool virtio_add_queue(const struct virtio_device *device, unsigned int index,
		      struct virtio_queue *queue)
{
	set(device, QUEUE_SEL, index);
	if (!get(device, QUEUE_NUM_MAX) || get(device, QUEUE_READY))
		return false;
	queue->avail.flags = AVAIL_F_NO_INTERRUPT;
	set(device, QUEUE_NUM, 1);
	set_address(device, QUEUE_DESC, &queue->desc);
	set_address(device, QUEUE_DRIVER, &queue->avail);
	set_address(device, QUEUE_DEVICE, &queue->used);
	set(device, QUEUE_READY, 1);
	return true;
}

void virtio_start(const struct virtio_device *device)
{
	set(device, STATUS, get(device, STATUS) | STATUS_DRIVER_OK);
}

void virtio_post(const struct virtio_device *device, unsigned int index, struct virtio_queue *queue,
		 phys_addr_t data, size_t size, bool to_guest)
{
	queue->desc.addr = data;
	queue->desc.len = (u32)size;
	queue->desc.flags = to_guest ? DESC_F_WRITE : 0;
	wmb();
	WRITE_ONCE(queue->avail.idx, (u16)(queue->avail.idx + 1));
	virtio_kick(device, index);
}

void virtio_kick(const struct virtio_device *device, unsigned int index)
{
	mb();
	set(device, QUEUE_NOTIFY, index);
}

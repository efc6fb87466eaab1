# SPDX-License-Identifier: MIT
# Device drivers. An architecture without a device tree gets its own list here. arch.cmake names the driver that supplies
# <drivers/uart.h>; the list is empty if the architecture does that itself. What reports and the last steps of a panic use is
# uninstrumented.
set(REDZONE_DRIVERS_SOURCES
	${REDZONE_ARCH_UART}
	fdt.c
	fdt_memory.c
	virtio_console.c
	virtio_mmio.c
	virtio_rng.c
)
set(REDZONE_DRIVERS_UNINSTRUMENTED
	${REDZONE_ARCH_UART}
	virtio_console.c
	virtio_mmio.c
)

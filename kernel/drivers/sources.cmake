# SPDX-License-Identifier: MIT
# Device drivers. An architecture with another UART, or without a device tree, gets its own list here, with one file
# that supplies <drivers/uart.h>. What reports and the last steps of a panic use is uninstrumented.
set(REDZONE_DRIVERS_SOURCES
	fdt.c
	pl011.c
	virtio_console.c
	virtio_mmio.c
	virtio_rng.c
)
set(REDZONE_DRIVERS_UNINSTRUMENTED
	pl011.c
	virtio_console.c
	virtio_mmio.c
)

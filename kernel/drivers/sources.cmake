# SPDX-License-Identifier: MIT
# Device drivers. An architecture with another UART, or without a device tree, gets its own list here, with one file
# that supplies <drivers/uart.h>. The UART is uninstrumented because reports and the last steps of a panic use it.
set(REDZONE_DRIVERS_SOURCES
	fdt.c
	pl011.c
)
set(REDZONE_DRIVERS_UNINSTRUMENTED
	pl011.c
)

# SPDX-License-Identifier: MIT
# Device drivers. An architecture that has no device tree or another UART gets its own list here: one file of it
# supplies <drivers/uart.h>. The console is used by reports and by the last steps of a panic.
set(REDZONE_DRIVERS_SOURCES
	fdt.c
	pl011.c
)
set(REDZONE_DRIVERS_UNINSTRUMENTED
	pl011.c
)

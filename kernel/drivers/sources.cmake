# SPDX-License-Identifier: MIT
# Device drivers. The console and the firmware calls are used by reports and by the last steps of a panic.
set(REDZONE_DRIVERS_SOURCES
	fdt.c
	gicv2.c
	gicv3.c
	pl011.c
	psci.c
)
set(REDZONE_DRIVERS_UNINSTRUMENTED
	pl011.c
	psci.c
)

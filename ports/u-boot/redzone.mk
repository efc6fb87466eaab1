# SPDX-License-Identifier: MIT
#
# Read by make before U-Boot's own makefile (MAKEFILES=): what U-Boot appends to its link options later comes
# behind these. The linker takes a script with INSERT only if it precedes the main one.
LDFLAGS_u-boot += $(REDZONE_UBOOT_LINK)

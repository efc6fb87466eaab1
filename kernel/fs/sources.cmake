# SPDX-License-Identifier: MIT
# The file system in memory that programs see.
set(REDZONE_FS_SOURCES
    contents.c
    ramfs.c)

// SPDX-License-Identifier: MIT
/*
 * semihost.c - files of the host, through the emulator's semihosting calls. An emulator answers them; elsewhere the trap
 * handler skips the instruction, and the call fails.
 */
#include <kernel/arch.h>
#include <kernel/string.h>
#include "internal.h"

/* The operations, and modes of opening: those of C's "rb" and "wb". */
#define SYS_OPEN   0x01
#define SYS_CLOSE  0x02
#define SYS_WRITE  0x05
#define SYS_READ   0x06
#define MODE_READ  1
#define MODE_WRITE 5

long arch_host_open(const char *path, bool to_write)
{
	u64 block[3] = {(u64)path, to_write ? MODE_WRITE : MODE_READ, strlen(path)};

	return (int)semihosting_call(SYS_OPEN, block);
}

void arch_host_close(long file)
{
	u64 block[1] = {(u64)file};

	semihosting_call(SYS_CLOSE, block);
}

/* Both operations answer with the number of bytes that were not moved. */
static long moved(u64 op, long file, const void *data, size_t size)
{
	u64 block[3] = {(u64)file, (u64)data, size};
	u64 rest = semihosting_call(op, block);

	return rest <= size ? (long)(size - rest) : -1;
}

long arch_host_read(long file, void *data, size_t size)
{
	return moved(SYS_READ, file, data, size);
}

long arch_host_write(long file, const void *data, size_t size)
{
	return moved(SYS_WRITE, file, data, size);
}

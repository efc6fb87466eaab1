/* SPDX-License-Identifier: MIT */
/* host.h - what a fuzzed U-Boot gets from the emulator, and how it waits for the fuzzer. */
#ifndef UBOOT_FUZZ_HOST_H
#define UBOOT_FUZZ_HOST_H

#include <stdbool.h>
#include <stddef.h>

/** host_file() - find what the emulator's option -fw_cfg names @name. @size: filled. Return: its number, 0 if there is none. */
unsigned int host_file(const char *name, size_t *size);

/** host_read() - copy the first @size bytes of file @number to @data. */
void host_read(unsigned int number, void *data, size_t size);

/** host_start_waking() - find the device of host_wait() and host_wake(). Return: false if there is none. */
bool host_start_waking(void);

/** host_wait() - stand still until the fuzzer wakes this CPU, or has done so since the last call. @size: what the fuzzer says to
 *  write for that. */
void host_wait(size_t size);

/** host_wake() - wake the fuzzer. */
void host_wake(void);

/** host_exit() - end the emulator. */
_Noreturn void host_exit(void);

#endif

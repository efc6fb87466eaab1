/* SPDX-License-Identifier: MIT */
/*
 * host.h - the machine that runs the emulator: it takes what is printed, files that were saved, and the exit status; it
 * gives standard input.
 *
 * All of that goes through a virtio console, <drivers/virtio_console.h>. The kernel names channels by their number, and never
 * a file: what a channel stands for is said on the command line of the one who started the emulator. Without such a device
 * the console is the UART, and the rest fails.
 *
 * Output is one stream of bytes, port 0, so that all of it stays in order. HOST_MARK and a byte HOST_FIRST + N say that the
 * bytes from there on are of channel N; two HOST_MARKs are one byte HOST_MARK.
 */
#ifndef KERNEL_HOST_H
#define KERNEL_HOST_H

#include <kernel/types.h>

#define HOST_MARK  0x10
#define HOST_FIRST 0x20

/* Channels: what the kernel prints, what a program prints, lines of host_tell(), and from HOST_SAVED on the contents of files. */
#define HOST_KERNEL	 0
#define HOST_PROGRAM	 1
#define HOST_CONTROL	 2
#define HOST_SAVED	 3
#define HOST_CHANNEL_MAX 200

/** host_init() - find the device. Boot CPU, when ioremap() works. */
void host_init(void);

/** host_present() - Return: true if there is a device. */
bool host_present(void);

/** host_put() - add bytes to the stream, in a buffer. host_flush() - send the buffer. host_pending() - Return: true if there is
 *  something in it. The caller owns the console, and there is a device. Any context. */
void host_put(unsigned int channel, const char *data, size_t size);
void host_flush(void);
bool host_pending(void);

/** host_recover() - the console was taken from a CPU that may have been inside of host_put(). */
void host_recover(void);

/** host_mark_uart() - the caller is going to write to the UART, past the console. Any context. */
void host_mark_uart(void);

/** host_send() - host_put(), for those who do not own the console. Any context. Return: false without a device. */
bool host_send(unsigned int channel, const void *data, size_t size);

/** host_tell() - send the line "@word @first @second" and all that is in the buffer. Any context. */
void host_tell(const char *word, long first, long second);

/**
 * machine_exit() - say how it ends, and switch the machine off
 * @code: exit status, 0 to 255: the host gets it with the number of all reports of KASAN and of leaks. Without a host it is lost.
 *
 * Any context.
 */
_Noreturn void machine_exit(int code);

/**
 * host_input() - ask for the next bytes of standard input, and wait for them
 * @data: filled with where they are, until the next call.
 *
 * May sleep; one caller at a time. A caller that is ended inside does not disturb the next one. Return:
 * their number, 0 at the end of the input; -1 on an error.
 */
long host_input(const unsigned char **data);

/** host_restart_input() - let standard input begin anew. */
void host_restart_input(void);

/**
 * host_wait() - stand still until a fuzzer on the host wakes this CPU, or has woken it since the last call
 * @size: what the host said to write: it lets the CPU go on by reading it. 0: return at once.
 *
 * host_wake() - wake the fuzzer. Task context, one caller at a time.
 */
void host_wait(size_t size);
void host_wake(void);

#endif

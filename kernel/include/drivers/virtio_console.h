/* SPDX-License-Identifier: MIT */
/*
 * virtio_console.h - the virtio console: numbered ports to the machine that runs the emulator.
 *
 * Output of each port, and input of port 0. Nothing is buffered here: a function returns when the device has the bytes. The
 * emulator writes them while the CPU waits, so a port that takes no more makes the CPU wait too.
 */
#ifndef DRIVERS_VIRTIO_CONSOLE_H
#define DRIVERS_VIRTIO_CONSOLE_H

#include <kernel/types.h>

/** VIRTIO_CONSOLE_PORTS - ports are numbered below. */
#define VIRTIO_CONSOLE_PORTS 4

/** virtio_console_init() - find the device. Boot CPU, when ioremap() works. Return: true if there is one. */
bool virtio_console_init(void);

/** virtio_console_send() - send @size bytes at @data, in the kernel's image, to @port. One CPU at a time for each port; any
 *  context. A port that the machine does not have drops them. */
void virtio_console_send(unsigned int port, void *data, size_t size);

/**
 * virtio_console_receive() - ask for input of port 0, or look whether it is there
 * @data: buffer in the kernel's image, the same in each call until bytes have come. @size: of it.
 *
 * One CPU at a time. Return: bytes that have come; 0: none yet, call again.
 */
size_t virtio_console_receive(void *data, size_t size);

#endif

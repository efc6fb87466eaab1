/* SPDX-License-Identifier: MIT */
/*
 * io.c - entry points where memory is touched by something that no check sees, or where a bug hides in a
 * buffer that is larger than its contents.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "uboot.h"

/* As the network drivers align a packet. */
#define PACKET_ALIGN 64

void *__wrap_memalign(size_t align, size_t size);
void __wrap_free(void *ptr);

void __real_net_process_received_packet(unsigned char *packet, int size);
void __wrap_net_process_received_packet(unsigned char *packet, int size);

/*
 * A driver hands a received packet on in a buffer of 1,536 bytes, left over from other packets: reading past a
 * short one is not a bad access there. It is one in a buffer of exactly its size.
 */
void __wrap_net_process_received_packet(unsigned char *packet, int size)
{
	unsigned char *exact = size > 0 ? __wrap_memalign(PACKET_ALIGN, (size_t)size) : NULL;

	if (!exact) {
		__real_net_process_received_packet(packet, size);
		return;
	}
	__memcpy(exact, packet, (size_t)size);
	__real_net_process_received_packet(exact, size);
	__wrap_free(exact);
}

#ifdef __aarch64__
/* Place of the stack pointer in what setjmp() saved: behind x19 to x30. */
#define JMP_BUF_SP 12
#else
/* Behind the twelve registers that a RISC-V function preserves and the return address. */
#define JMP_BUF_SP 13
#endif

_Noreturn void __real_longjmp(unsigned long *buffer, int value);
_Noreturn void __wrap_longjmp(unsigned long *buffer, int value);

/* The frames that are left behind never take their redzones away. */
_Noreturn void __wrap_longjmp(unsigned long *buffer, int value)
{
	kasan_unpoison_stack(__builtin_frame_address(0), (void *)buffer[JMP_BUF_SP]);
	__real_longjmp(buffer, value);
}

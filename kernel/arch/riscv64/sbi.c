/* SPDX-License-Identifier: MIT */
/*
 * sbi.c - calling the firmware; the console, which is the firmware's, and switching off.
 *
 * Not instrumented: the console is used in reports, and page tables change there.
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <asm/barrier.h>
#include <drivers/uart.h>
#include "sbi.h"

#define SBI_EXT_BASE	   0x10
#define SBI_BASE_PROBE	   3
#define SBI_LEGACY_PUTCHAR 1

#define SBI_DBCN_WRITE_BYTE 2

#define SBI_FENCE_I	   0
#define SBI_FENCE_VMA	   1
#define SBI_FENCE_VMA_ASID 2

#define SBI_ERR_INVALID_PARAM	  (-3)
#define SBI_ERR_DENIED		  (-4)
#define SBI_ERR_INVALID_ADDRESS	  (-5)
#define SBI_ERR_ALREADY_AVAILABLE (-6)

struct sbi_result sbi_call(unsigned long extension, unsigned long function, unsigned long x0,
			   unsigned long x1, unsigned long x2, unsigned long x3, unsigned long x4)
{
	register unsigned long a0 __asm__("a0") = x0;
	register unsigned long a1 __asm__("a1") = x1;
	register unsigned long a2 __asm__("a2") = x2;
	register unsigned long a3 __asm__("a3") = x3;
	register unsigned long a4 __asm__("a4") = x4;
	register unsigned long a6 __asm__("a6") = function;
	register unsigned long a7 __asm__("a7") = extension;

	/* The firmware keeps all registers but the two of the result. */
	__asm__ __volatile__("ecall"
			     : "+r"(a0), "+r"(a1)
			     : "r"(a2), "r"(a3), "r"(a4), "r"(a6), "r"(a7)
			     : "memory");
	return (struct sbi_result){(long)a0, (long)a1};
}

bool sbi_has(unsigned long extension)
{
	struct sbi_result result = sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE, extension, 0, 0, 0, 0);

	return !result.error && result.value;
}

void sbi_set_timer(u64 when)
{
	sbi_call(SBI_EXT_TIMER, 0, when, 0, 0, 0, 0);
}

void sbi_send_ipi(unsigned long hart)
{
	sbi_call(SBI_EXT_IPI, 0, 1, hart, 0, 0, 0);
}

void sbi_fence_i(unsigned long mask, unsigned long base)
{
	sbi_call(SBI_EXT_FENCE, SBI_FENCE_I, mask, base, 0, 0, 0);
}

void sbi_fence_vma(unsigned long mask, unsigned long base, unsigned long start, unsigned long size,
		   long asid)
{
	if (asid < 0)
		sbi_call(SBI_EXT_FENCE, SBI_FENCE_VMA, mask, base, start, size, 0);
	else
		sbi_call(SBI_EXT_FENCE, SBI_FENCE_VMA_ASID, mask, base, start, size,
			 (unsigned long)asid);
}

int sbi_start_hart(unsigned long hart, phys_addr_t entry, unsigned long argument)
{
	switch (sbi_call(SBI_EXT_HSM, 0, hart, entry, argument, 0, 0).error) {
	case 0:
		return 0;
	case SBI_ERR_INVALID_PARAM:
	case SBI_ERR_INVALID_ADDRESS:
		return -EINVAL;
	case SBI_ERR_DENIED:
		return -EPERM;
	case SBI_ERR_ALREADY_AVAILABLE:
		return -EBUSY;
	default:
		return -EIO;
	}
}

/* --- The console: <drivers/uart.h> ------------------------------------------------------------ */

/* Byte by byte: the buffer need not be one piece of memory. */
void uart_write(const char *s, size_t n)
{
	static enum { UNKNOWN, LEGACY, DEBUG_CONSOLE } kind;

	if (kind == UNKNOWN)
		kind = sbi_has(SBI_EXT_DBCN) ? DEBUG_CONSOLE : LEGACY;
	for (size_t i = 0; i < n; i++) {
		if (kind == DEBUG_CONSOLE)
			sbi_call(SBI_EXT_DBCN, SBI_DBCN_WRITE_BYTE, (u8)s[i], 0, 0, 0, 0);
		else
			sbi_call(SBI_LEGACY_PUTCHAR, 0, (u8)s[i], 0, 0, 0, 0);
	}
}

/* A call returns when the byte is on its way. */
void uart_flush(void)
{
}

void arch_power_off(void)
{
	/* Type 0: shut down. */
	sbi_call(SBI_EXT_RESET, 0, 0, 0, 0, 0, 0);
	for (;;)
		wfi();
}

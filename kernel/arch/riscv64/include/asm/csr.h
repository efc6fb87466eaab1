/* SPDX-License-Identifier: MIT */
/* csr.h - bits of the control and status registers that the kernel uses, for C and assembly. */
#ifndef ASM_CSR_H
#define ASM_CSR_H

/* sstatus */
#define SR_SIE	0x2	/* interrupts are on */
#define SR_SPIE 0x20	/* they were before the trap */
#define SR_SPP	0x100	/* the trap came from the kernel */
#define SR_FS	0x6000	/* state of the floating-point registers; 0: they trap */
#define SR_SUM	0x40000 /* the kernel may access user memory */

/* sie and sip: software, timer and external interrupts */
#define IE_SOFTWARE 0x2
#define IE_TIMER    0x20
#define IE_EXTERNAL 0x200

/* satp */
#define SATP_MODE_SV48	9
#define SATP_MODE_SHIFT 60
#define SATP_ASID_SHIFT 44
#define SATP_ASID_MASK	0xffffUL

#ifndef __ASSEMBLER__
#define csr_read(name)                                                            \
	({                                                                        \
		unsigned long value_;                                             \
		__asm__ __volatile__("csrr %0, " #name : "=r"(value_)::"memory"); \
		value_;                                                           \
	})
#define csr_write(name, value) \
	__asm__ __volatile__("csrw " #name ", %0" ::"r"((unsigned long)(value)) : "memory")
#define csr_set(name, bits) \
	__asm__ __volatile__("csrs " #name ", %0" ::"r"((unsigned long)(bits)) : "memory")
#define csr_clear(name, bits) \
	__asm__ __volatile__("csrc " #name ", %0" ::"r"((unsigned long)(bits)) : "memory")
#endif

#endif

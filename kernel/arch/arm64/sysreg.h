/* SPDX-License-Identifier: MIT */
/* sysreg.h - system register access by name, and the fields that more than one file needs. */
#ifndef ARM64_SYSREG_H
#define ARM64_SYSREG_H

#ifndef __ASSEMBLER__
#include <kernel/types.h>

/* In two steps: a name that is a macro for an encoding is expanded first. */
#define __sysreg_str1(x) #x
#define __sysreg_str(x)	 __sysreg_str1(x)

#define read_sysreg(reg)                                                                 \
	({                                                                               \
		u64 __sysreg_val;                                                        \
		__asm__ __volatile__("mrs %0, " __sysreg_str(reg) : "=r"(__sysreg_val)); \
		__sysreg_val;                                                            \
	})

#define write_sysreg(val, reg)                                                                 \
	do {                                                                                   \
		u64 __sysreg_new = (u64)(val);                                                 \
		__asm__ __volatile__("msr " __sysreg_str(reg) ", %x0" : : "rZ"(__sysreg_new)); \
	} while (0)
#endif

/* GICv3 CPU interface, as encodings: assemblers know the names only with the right -march. */
#define ICC_PMR_EL1	S3_0_C4_C6_0
#define ICC_SGI1R_EL1	S3_0_C12_C11_5
#define ICC_IAR1_EL1	S3_0_C12_C12_0
#define ICC_EOIR1_EL1	S3_0_C12_C12_1
#define ICC_BPR1_EL1	S3_0_C12_C12_3
#define ICC_CTLR_EL1	S3_0_C12_C12_4
#define ICC_SRE_EL1	S3_0_C12_C12_5
#define ICC_IGRPEN1_EL1 S3_0_C12_C12_7
#define ICC_SRE_EL2	S3_4_C12_C9_5
#define ICH_HCR_EL2	S3_4_C12_C11_0

#define SCTLR_EL1_M (1 << 0)
#define SCTLR_EL1_C (1 << 2)
#define SCTLR_EL1_I (1 << 12)

#define MPIDR_HWID_MASK 0xff00ffffffUL

#endif

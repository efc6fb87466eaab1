/* SPDX-License-Identifier: MIT */
/* scs.h - there is no shadow call stack yet: the compiler keeps its pointer in gp, which is `current` here. */
#ifndef ASM_SCS_H
#define ASM_SCS_H
#endif

/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - every file of OpenSBI is compiled with this (-include): an allocation in the harts' scratch areas tells the port
 * the place that it is made at, as its name in reports.
 */
#ifndef OPENSBI_SCRATCH_H
#define OPENSBI_SCRATCH_H

#include <sbi/sbi_scratch.h>

#define SCRATCH_TEXT(x)	 #x
#define SCRATCH_PLACE(x) SCRATCH_TEXT(x)

#define sbi_scratch_alloc_offset(size) \
	kasan_scratch_alloc(size, __FILE_NAME__ ":" SCRATCH_PLACE(__LINE__))

unsigned long kasan_scratch_alloc(unsigned long size, const char *where);

#endif /* OPENSBI_SCRATCH_H */

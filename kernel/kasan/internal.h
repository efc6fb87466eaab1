/* SPDX-License-Identifier: MIT */
/* internal.h - what the files of the port share. */
#ifndef KASAN_INTERNAL_H
#define KASAN_INTERNAL_H

#include <kernel/types.h>

/**
 * kasan_note_report() - remember an access that KASAN has just reported
 * @addr, @size: the access.
 *
 * If the access then faults in the same thread, the oops refers to the report in a few lines, instead of a
 * second one. Called inside of a report.
 */
void kasan_note_report(uintptr_t addr, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * record.h - the crash record: the first reports, packed, in memory that survives a reset (CONFIG_KASAN_RECORD).
 *
 * The system gives the memory at boot. Reports are then written there before they are printed. After a reset, the next
 * boot reads the record, sends or stores it, and clears it. On the host, `./redzone decode --record FILE --elf IMAGE`
 * makes reports of it. docs/port/crash-record.md has the steps and the format.
 *
 * Without CONFIG_KASAN_RECORD these are empty.
 */
#ifndef KASAN_RECORD_H
#define KASAN_RECORD_H

#include <kasan/hook.h>

#if defined(CONFIG_KASAN_RECORD) && (defined(CONFIG_KASAN) || defined(KASAN_ALONE))

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kasan_record_start() - write reports to @memory from now on
 * @memory: aligned to 8 bytes, and mapped for ordinary reads and writes. Neither the start code nor the boot loader may
 * clear it, and no report may find it in a cache only when the reset comes: see docs/port/crash-record.md.
 * @size: bytes, at least KASAN_RECORD_MIN, the same at every boot. 512 hold three to six reports; beyond 512 KiB the rest
 * is not used.
 *
 * If the memory holds a record from before the reset, it is kept, and new reports are added to it. Otherwise an empty
 * record is made. Call it once at boot, on one CPU, before the first report. Memory that is too small or not aligned is
 * ignored.
 *
 * Return: number of bytes that kasan_record_read() has to give; 0: nothing was reported before the reset.
 */
size_t kasan_record_start(void *memory, size_t size);
#define KASAN_RECORD_MIN 128

/**
 * kasan_record_read() - copy the record
 * @buffer: where to; @size: its bytes. A record that does not fit is cut, which the decoder says.
 *
 * Any context but a report. Return: number of bytes copied; 0: there is no record, or another CPU is reporting.
 */
size_t kasan_record_read(void *buffer, size_t size);

/** kasan_record_clear() - make the record empty, once it has been sent. Context as above. Return: false: another CPU is
 *  reporting, or there is no record. */
bool kasan_record_clear(void);

#ifdef __cplusplus
}
#endif

#else

static inline size_t kasan_record_start(void *memory, size_t size)
{
	(void)memory;
	(void)size;
	return 0;
}

static inline size_t kasan_record_read(void *buffer, size_t size)
{
	(void)buffer;
	(void)size;
	return 0;
}

static inline bool kasan_record_clear(void)
{
	return false;
}

#endif

#endif /* KASAN_RECORD_H */

/* SPDX-License-Identifier: MIT */
/* files.h - the files of the build-like mix: files.c keeps them in memory. */
#ifndef BENCH_FILES_H
#define BENCH_FILES_H

#include <kernel/types.h>

/**
 * struct bench_file_counts - what was done to files
 * @lookups: that found one. @misses: that did not. @read, @written: bytes. @writebacks: blocks whose work item ran.
 */
struct bench_file_counts {
	unsigned long lookups, misses, created, removed, read, written, writebacks;
};

/** bench_file_call() - the system call MIX_CALL: mix.h has its arguments. Return: its result, or a negative error. */
long bench_file_call(const u64 *args);

/** bench_file_make() - make a file of @blocks blocks without a program. May sleep. Return: false: no memory. */
bool bench_file_make(const char *name, unsigned int blocks);

/** bench_file_remove() - take the file @name away. May sleep. Return: 0 or -ENOENT. */
long bench_file_remove(const char *name);

/** bench_files_start() - an empty folder, and counts of 0. May sleep. Return: false: no memory. */
bool bench_files_start(void);

/** bench_files_end() - wait until all work is done and removed files are freed. Sleeps. */
void bench_files_end(void);

void bench_file_counts(struct bench_file_counts *counts);

#endif

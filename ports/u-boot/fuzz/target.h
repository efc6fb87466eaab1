/* SPDX-License-Identifier: MIT */
/*
 * target.h - what can be fuzzed in U-Boot: one file each in this folder. Plain C types only, as in uboot.h.
 */
#ifndef UBOOT_FUZZ_TARGET_H
#define UBOOT_FUZZ_TARGET_H

/**
 * struct fuzz_target - @name: the word behind --fuzz
 * @start: called once, before the first input; NULL: nothing to do. Return: NULL, or what is wrong.
 * @run: works on one input, @size bytes at @data, a heap object of exactly that size, aligned to 64 bytes. It leaves
 *	U-Boot as it was: no device, no environment variable, no allocation. Return: 0; -1: not worth keeping.
 */
struct fuzz_target {
	const char *name;
	const char *(*start)(void);
	int (*run)(const unsigned char *data, unsigned long size);
};

extern const struct fuzz_target fuzz_dtb, fuzz_efi, fuzz_env, fuzz_fit, fuzz_fs, fuzz_net;

/** fuzz_quiet() - U-Boot's own console is off from now on, or on. The runtime's lines are always printed. */
void fuzz_quiet(int quiet);

#endif /* UBOOT_FUZZ_TARGET_H */

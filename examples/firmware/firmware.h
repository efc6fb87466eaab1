/* SPDX-License-Identifier: MIT */
#ifndef FIRMWARE_H
#define FIRMWARE_H

#include <stddef.h>

/* From the linker script. */
extern char stack_start[], stack_end[], heap_start[], heap_end[];

/* board.c */
void put(char c);
void print(const char *text);
_Noreturn void stop(const char *why);

/* heap.c */
void *malloc(size_t size);
void free(void *ptr);

int main(void);

#endif /* FIRMWARE_H */

/* SPDX-License-Identifier: MIT */
/* board.h - what the demonstration needs of its machine: characters out, one interrupt, the end. */
#ifndef BOARD_H
#define BOARD_H

/** board_puts() - write @text to the serial line. */
void board_puts(const char *text);

/** board_putu() - write @value in decimal. */
void board_putu(unsigned long value);

/** board_exit() - end QEMU with this exit status. */
_Noreturn void board_exit(int status);

/** board_interrupt() - have the CPU take the demonstration's interrupt now: it calls demo_interrupt(). */
void board_interrupt(void);

/** demo_interrupt() - bugs.c: runs in the interrupt. */
void demo_interrupt(void);

/** main() - the program. */
int main(void);

#endif /* BOARD_H */

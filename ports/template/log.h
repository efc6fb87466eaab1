/* SPDX-License-Identifier: MIT */
/* log.h - a buffer between reports and the serial line. */
#ifndef LOG_H
#define LOG_H

/** log_line() - keep @text for log_drain(), or drop it if the buffer is full. In reports. */
void log_line(const char *text);

/** log_drain() - print what is kept. From one task, with interrupts on. Return: lines that were dropped since the last
 *  call. */
unsigned int log_drain(void);

#endif /* LOG_H */

/* SPDX-License-Identifier: MIT */
/*
 * formats.h - tells the compiler which functions of the C library take a format, for ./redzone run --warnings, which
 * includes it before each file of a program.
 *
 * It includes no header itself, because a program may define macros before it includes one. The structure is what that
 * library calls FILE.
 */
#if !defined(__ASSEMBLER__) && !defined(__cplusplus)
struct _IO_FILE;
#define REDZONE_FILE		      struct _IO_FILE
#define REDZONE_PRINTF(format, first) __attribute__((__format__(__printf__, format, first)))
#define REDZONE_SCANF(format, first)  __attribute__((__format__(__scanf__, format, first)))

int printf(const char *__restrict, ...) REDZONE_PRINTF(1, 2);
int fprintf(REDZONE_FILE *__restrict, const char *__restrict, ...) REDZONE_PRINTF(2, 3);
int sprintf(char *__restrict, const char *__restrict, ...) REDZONE_PRINTF(2, 3);
int snprintf(char *__restrict, __SIZE_TYPE__, const char *__restrict, ...) REDZONE_PRINTF(3, 4);
int vprintf(const char *__restrict, __builtin_va_list) REDZONE_PRINTF(1, 0);
int vfprintf(REDZONE_FILE *__restrict, const char *__restrict, __builtin_va_list)
	REDZONE_PRINTF(2, 0);
int vsprintf(char *__restrict, const char *__restrict, __builtin_va_list) REDZONE_PRINTF(2, 0);
int vsnprintf(char *__restrict, __SIZE_TYPE__, const char *__restrict, __builtin_va_list)
	REDZONE_PRINTF(3, 0);
int scanf(const char *__restrict, ...) REDZONE_SCANF(1, 2);
int fscanf(REDZONE_FILE *__restrict, const char *__restrict, ...) REDZONE_SCANF(2, 3);
int sscanf(const char *__restrict, const char *__restrict, ...) REDZONE_SCANF(2, 3);
int vsscanf(const char *__restrict, const char *__restrict, __builtin_va_list) REDZONE_SCANF(2, 0);

#undef REDZONE_FILE
#undef REDZONE_PRINTF
#undef REDZONE_SCANF
#endif

/* SPDX-License-Identifier: MIT */
/* internal.h - declarations shared by the files of kernel/user/. */
#ifndef USER_INTERNAL_H
#define USER_INTERNAL_H

#include <kernel/process.h>
#include <kernel/user_mm.h>

/**
 * elf_load() - map the segments of an ELF program and put its bytes there
 * @mm: an empty address space; its heap is set to start after the program.
 * @image, @size: the file, which may be damaged in any way.
 * @entry: filled: where it starts.
 *
 * Return: 0; -ENOEXEC; -ENOMEM.
 */
int elf_load(struct mm_struct *mm, const void *image, size_t size, unsigned long *entry);

/** elf_build_stack() - map a stack and put the arguments there, as the ELF ABI has them. @sp: filled.
 *  Return: 0; -E2BIG; -ENOMEM. */
int elf_build_stack(struct mm_struct *mm, int argc, const char *const *argv, unsigned long *sp);

/** process_adopt() - @child, not started yet, is a child of the running process. */
void process_adopt(struct process *child);

/** process_wait_child() - wait for a child of the running process. @pid: which, -1: any. @status:
 *  filled. Return: its pid; -ECHILD: there is none; -EINTR: killed meanwhile; 0: none has ended and
 *  @nohang. */
long process_wait_child(long pid, bool nohang, int *status);

/** process_kill_child() - Return: 0, -ESRCH. */
long process_kill_child(long pid, int signal);

/* Descriptors, sys_file.c and pipe.c. */
long sys_dup(const u64 *args);
long sys_dup3(const u64 *args);
long sys_openat(const u64 *args);
long sys_close(const u64 *args);
long sys_pipe2(const u64 *args);
long sys_lseek(const u64 *args);
long sys_read(const u64 *args);
long sys_write(const u64 *args);
/* Processes, sys_process.c. */
long sys_exit(const u64 *args);
long sys_spawn(const u64 *args);
long sys_wait4(const u64 *args);
long sys_kill(const u64 *args);
long sys_getpid(const u64 *args);
long sys_sched_yield(const u64 *args);
long sys_nanosleep(const u64 *args);

#endif

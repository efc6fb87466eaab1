/* SPDX-License-Identifier: MIT */
/*
 * mix.h - the build-like mix: what the kernel's side (mix.c, files.c) and the programs in user mode
 * (user/mix.c) agree on. Only constants.
 *
 * Each of MIX_MAKERS programs "make" compiles its share of the jobs. A job is one program "cc": it gets its source
 * through a pipe, reads headers, computes, writes an object file, and says through another pipe that it is done.
 */
#ifndef BENCH_MIX_H
#define BENCH_MIX_H

/* Programs that compile at the same time, as `make -j4` would. */
#define MIX_MAKERS 4UL

/* Headers that all jobs share, and how many of them each job reads. */
#define MIX_HEADERS	  32UL
#define MIX_HEADERS_READ  16UL
#define MIX_HEADER_BLOCKS 2UL

/* Bytes: of the source that goes through a pipe, of the object file, of a block of a file, of what cc says. */
#define MIX_SOURCE 8192UL
#define MIX_OBJECT 4096UL
#define MIX_BLOCK  1024UL
#define MIX_ANSWER 512UL

/* Files that are looked for in vain before each job: the folders in which a header could be. */
#define MIX_MISSES 8UL

/* Steps of user/mix.c's compute() for each header of a job. They make the kernel's share of all instructions 23 %,
 * which is what the published run times and system times of a kernel build give: bench/lockdep-arm64.md. */
#define MIX_STEPS 28UL

/* Bytes of a file's name with its NUL. */
#define MIX_NAME 24UL

/* The number of the system call for files, and its first argument. Then come the name and, if there are bytes to
 * be copied, their address and number. */
#define MIX_CALL 1041UL
enum mix_file_op {
	MIX_LOOK_UP, /* Return: its bytes, or -ENOENT */
	MIX_CREATE,  /* Return: 0 or -EEXIST */
	MIX_APPEND,  /* up to MIX_BLOCK bytes. Return: 0 */
	MIX_READ,    /* from the start. Return: bytes copied */
	MIX_SYNC,    /* wait until all of it is written back. Return: 0 */
	MIX_REMOVE,  /* Return: 0 */
};

#endif

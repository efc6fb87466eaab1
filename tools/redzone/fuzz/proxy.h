/* SPDX-License-Identifier: MIT */
/*
 * proxy.h - the executable whose target runs in a guest, for libFuzzer and for AFL++: what its files share.
 *
 * guest.c starts and ends the emulator and exchanges inputs for results; verdict.c names what went wrong, from the
 * console; findings.c stores inputs with a verdict and makes them small; input.c is all that an engine does with an input.
 * libfuzzer.c is what libFuzzer calls. afl.c answers afl-fuzz, and afl_cmplog.c shows it comparisons.
 */
#ifndef REDZONE_FUZZ_PROXY_H
#define REDZONE_FUZZ_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <kasan/fuzz.h>

/**
 * struct config - what the file EXECUTABLE.conf says, and the environment
 * @command: the emulator's, with NULL behind it. @FD in a word stands for a file descriptor: see guest.c.
 * @memory, @ram: bytes of the guest's RAM, and its physical address. @counters: how many the kernel has.
 * @places: the code address of each, or NULL. @hang_ms: time of an input. @boot_ms: time of a boot.
 * @spin_us: how long the host polls before it sleeps. @findings: folder for findings, which then do not end the
 *	process; NULL: the engine learns of it. @leaks: objects that an input leaves over are a finding. @compare: which
 *	comparisons the engine wants: KASAN_FUZZ_COMPARE_*. @quiet: another process says how many inputs there were.
 * @reports_all: the guest shall print every report of an input: 0 or 1.
 */
struct config {
	char **command;
	size_t memory;
	uint64_t ram;
	size_t counters;
	uint64_t *places;
	unsigned int hang_ms, boot_ms, spin_us;
	const char *findings;
	bool leaks, quiet;
	uint32_t compare;
	uint32_t reports_all;
};

extern struct config config;

/** read_config() - fill config, or end the process with a line that says what is wrong. */
void read_config(void);

/** fail() - say why the process cannot go on, end the guest and the process with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *text, ...);

/* --- guest.c --- */

enum end {
	END_GOOD,    /* the target returned, without a report */
	END_REPORT,  /* the target returned, and KASAN reported */
	END_HANG,    /* no end: the guest was stopped */
	END_DEAD,    /* the guest ended */
	END_SMASHED, /* the target has overwritten the mailbox: the guest was stopped */
	END_KILLED,  /* someone else ended the emulator, or it failed */
	END_LATE,    /* the engine does not wait any longer */
};

/* The engine's, if it has a limit of its own. Return: true if it does not wait for the end of the input any longer. */
extern bool (*engine_gave_up)(void);

/* The engine's: the input takes longer than it is polled for. */
extern void (*engine_slow)(void);

/* The engine's, if it does not say it itself. Return: how many counters were not 0 so far. */
extern size_t (*engine_edges)(void);

/* The engine's, if it ends between inputs only: no input is being worked on, so this is the end if a signal waits. */
extern void (*engine_may_end)(void);

/** guest_killed() - say that someone else has ended the emulator. */
void guest_killed(void);

/** guest_ready() - boot the guest if need be, so that the next input has none to wait for. */
void guest_ready(void);

/** RETRIES - boots for one input whose emulator was ended by someone else. */
#define RETRIES 3

/** guest_run() - let the guest, which is booted if need be, work on an input. Its result is in *guest_box(). */
enum end guest_run(const uint8_t *data, size_t size);

/** guest_box() - Return: the mailbox of the running guest. Every word may have any value. */
struct kasan_fuzz_mailbox *guest_box(void);

/** guest_died_late() - Return: true if the guest has ended by itself since its newest input, which had an end. The input
 *  is in @data and @size, its console in guest_console(), until the next boot. */
bool guest_died_late(const uint8_t **data, size_t *size);

/** guest_lost() - Return: true if inputs have left over so much that the guest soon has no memory. */
bool guest_lost(void);

/** guest_number() - Return: the number of the newest input. */
uint32_t guest_number(void);

/** guest_console() - Return: the console since the newest input, with a NUL behind it, in a buffer that the next call
 *  uses again. */
const char *guest_console(void);

/** guest_forget_console() - the console's text is not needed any more. */
void guest_forget_console(void);

/** guest_stop() - end the guest; the next input boots one. */
void guest_stop(void);

/** guest_boots() - Return: number of boots so far. guest_reports() - Return: reports since the last boot. */
unsigned int guest_boots(void);
unsigned int guest_reports(void);

/** now_ms() - Return: milliseconds since some time. */
uint64_t now_ms(void);

/* --- input.c --- */

/** input_expect() - be ready for an input. It is no part of the input's time. */
void input_expect(void);

/** input_run() - let the guest work on an input, once more if the first time says nothing about it. Its result is in
 *  *guest_box(), if there is one. */
enum end input_run(const uint8_t *data, size_t size);

/** input_store() - store an input with a finding in config.findings. */
void input_store(enum end end, const uint8_t *data, size_t size);

/** input_goes_on() - what is done behind each input. Return: true if the guest could go on, so that its result counts. */
bool input_goes_on(enum end end);

/* --- afl.c, afl_cmplog.c --- */

/** afl_wanted() - Return: true if AFL++ has started this process. */
bool afl_wanted(void);

/** afl_serve() - answer AFL++ until it ends. @file: where inputs are if it names a file; NULL: standard input. */
__attribute__((noreturn)) void afl_serve(const char *file);

/** afl_cmplog_start() - @map: AFL++'s memory for comparisons. */
void afl_cmplog_start(void *map);

/** afl_cmplog_take() - show AFL++ the comparisons of the newest input. */
void afl_cmplog_take(const struct kasan_fuzz_mailbox *box);

/* --- verdict.c --- */

#define TITLE_MAX 512
/** VERDICTS - bugs of one input that are told apart. */
#define VERDICTS 128

/**
 * struct verdict - one thing that went wrong
 * @title: one line, such as "KASAN: slab-out-of-bounds in parse". @key: the same for each input that runs into the bug.
 * @offset: where its report begins in the console. @again: not a report, but a line, or no line, of a bug that was
 * reported before.
 */
struct verdict {
	char title[TITLE_MAX];
	uint64_t key;
	size_t offset;
	bool again;
};

/** verdict_list() - name what happened. @end: not END_GOOD. Return: how many of @list are filled; at least one. */
size_t verdict_list(enum end end, const char *console, struct verdict *list, size_t room);

/** verdict_print() - write the first report's headline, its access and its functions to @to, without times and indents:
 *  that is the form in which ClusterFuzz and other readers of libFuzzer's output know a kernel's report. */
void verdict_print(const char *console, FILE *to);

/* --- findings.c --- */

/** findings_begin() - read the keys of the findings that are stored already. */
void findings_begin(void);

/** findings_add() - store an input with its console, unless its bug is known. @number: of the input, from 1 on. Return:
 *  true if it is a new one. */
bool findings_add(const struct verdict *verdict, uint64_t number, const uint8_t *data, size_t size,
		  const char *console);

/** findings_retry() - try again to store what could not be written. */
void findings_retry(void);

/** findings_minimize() - make the input file @from smaller as long as its bug stays; write it to @to. @key: of the bug.
 *  @milliseconds: the limit. Return: exit status: 0, or 3 if that does not happen with the input. */
int findings_minimize(const char *from, const char *to, uint64_t key, uint64_t milliseconds);

#endif

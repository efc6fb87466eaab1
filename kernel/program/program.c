// SPDX-License-Identifier: MIT
/* program.c - runs the ordinary C program that was linked into the kernel, in a thread of its own.
 */
#include <kernel/arch.h>
#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/errno.h>
#include <kernel/fault_inject.h>
#include <kernel/fpu.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/page.h>
#include <kernel/param.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/types.h>
#include <kernel/wait.h>
#include <kasan/kasan.h>

#include "internal.h"
#include "setjmp.h"

/* Ordinary C is used to large stacks, so it gets what Linux gives. They are virtually mapped, with guard pages, and their
 * memory comes when it is touched. Their shadow is there from the start. */
#define STACK_SIZE (8UL << 20)
#define STACK_MIN  (64UL << 10)
#define STACK_MAX  (1UL << 30)
/* A running thread is gone within a tick or two after kthread_kill(), unless its host has little time. */
#define KILL_MS 10000
/* What a shell shows for a program that it could not start. */
#define NO_MEMORY_STATUS 126

void program_unpoison_frames(const void *low, const void *high);

size_t program_stack_size = STACK_SIZE;

static int set_stack_size(const char *value, void *var)
{
	size_t size;
	int err = param_parse_size(value, &size);

	if (!err && (size < STACK_MIN || size > STACK_MAX))
		err = -ERANGE;
	if (!err)
		program_stack_size = size;
	return err;
}
setup_param("program.stack", set_stack_size, "a size as in 512K or 16M, from 64K to 1G",
	    "bytes of a program's stack; default: 8M");

/* 0: no limit. */
static unsigned int time_limit_ms;
range_param(
	"program.timeout_ms", time_limit_ms, 0, 4294967295, "a number of milliseconds",
	"time of the program, and of the start and the end of each module; what takes longer is "
	"ended, and its trace printed; default: 0, no limit");

struct program {
	int (*main)(int argc, char **argv);
	program_hook_t *ctors;
	program_hook_t *dtors;
	int argc;
	char **argv;
	void (*on_error)(void);
	bool one_report;
};

/* The thread of the program that run_program() or program_run_one() waits for, and whether it came to an
 * end of its own. A thread that was given up decides nothing more. */
static struct task *running;
/* Whether it was said that the program has too little memory. */
static bool said_no_memory;
/* That of the program, or of a module. */
static const struct task *first_thread;
static bool ended_by_itself;
/* The running program's C library; NULL until that is ready. */
static const struct program_library *library;
/* Of code that runs without a library: the kernel's tests. */
static int own_errno;
/* Another thread than the first has ended the program, with @over_status. */
enum { RUNS, ENDS, OVER };
static int over;
static int over_status;
/* The program is being ended because it has not ended itself: its threads say where they are. */
static bool hangs;
/* So many of them do. */
#define HANG_TRACES 4U
static atomic_t traces_left;
/* The running program's constructors and destructors that were not called yet; NULL if there are none. */
static program_hook_t *constructors;
static program_hook_t *destructors;

void program_use_library(const struct program_library *operations)
{
	WRITE_ONCE(library, operations);
}

int *program_errno(void)
{
	/* A thread that an earlier program has left behind may ask while the next one begins. */
	const struct program_library *now = READ_ONCE(library);

	return now ? now->errno_location() : &own_errno;
}

/* Is the caller a thread of the program that runs, but not the first one? */
static bool is_other_thread(void)
{
	const struct program_library *now = READ_ONCE(library);

	return current->kflags & PF_PROGRAM && now && now->is_member();
}

/* Called by such a thread: let the one that waits for the program end it. The first call counts. */
static void end_from_thread(bool by_itself, int status)
{
	int runs = RUNS;

	if (!__atomic_compare_exchange_n(&over, &runs, ENDS, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return;
	ended_by_itself = by_itself;
	over_status = status;
	smp_store_release(&over, OVER);
	/* It waits for this thread's end before it gives the first one up. */
	wake_up_all(&running->exited.wait);
}

void program_thread_died(void)
{
	if (READ_ONCE(hangs) && (current == first_thread || current->kflags & PF_PROGRAM) &&
	    atomic_dec_return(&traces_left) >= 0)
		dump_stack();
	if (is_other_thread())
		end_from_thread(false, -EFAULT);
}

void program_library_roots(program_scan_fn scan)
{
	if (library)
		library->roots(scan);
}

void program_exit(int status)
{
	if (current == READ_ONCE(running) || is_other_thread()) {
		/* What setjmp() leaves out would be what functions before have left on the stack. */
		struct program_jump registers = {0};

		/* Pointers that are in registers are found here, at the low end of what is the program's. */
		(void)setjmp(&registers);
		program_leaks_end(kasan_reset_tag(&registers));
	}
	if (current == READ_ONCE(running))
		ended_by_itself = true;
	else if (is_other_thread())
		end_from_thread(true, status);
	kthread_exit(status);
}

/* Called by longjmp(): the frames between here and the target are gone without their epilogues. */
void program_unpoison_frames(const void *low, const void *high)
{
	const char *stack = current->stack;

	/* From a handler's own stack to that of the program. */
	if (current->on_other && (uintptr_t)high - (uintptr_t)stack > current->stack_size) {
		const void *left_at = current->left_at;

		kasan_unpoison_stack(low, stack + current->stack_size);
		task_swap_stack();
		/* The frames that the handler has interrupted are gone too. */
		low = max(left_at, (const void *)current->stack);
	}
	kasan_unpoison_stack(low, high);
}

void program_run_constructors(void)
{
	/* A C library prepares itself before: only the program's own allocations fail on purpose. */
	fault_inject_start();
	while (constructors && *constructors)
		(*constructors++)();
}

void program_run_destructors(void)
{
	if (current != READ_ONCE(running) && !is_other_thread())
		return;
	/* A destructor may call exit(), and so come here again. */
	while (destructors && *destructors)
		(*destructors++)();
}

static int program_thread(void *arg)
{
	struct program program = *(struct program *)arg;

	if (program.one_report)
		current->kflags |= PF_ONE_REPORT;
	program_input_reset();
	if (!program_environ_begin()) {
		pr_err("program: no memory for its environment\n");
		program_exit(NO_MEMORY_STATUS);
	}
	program_leaks_begin();
	/* Constructors run now, in the program's thread: they may do all that the program may, and their
	 * bugs count as the program's. */
	constructors = program.ctors;
	destructors = program.dtors;
	/* The library has the constructors called when it is ready, and calls exit() with main()'s value. */
	program_exit(program.main(program.argc, program.argv));
}

/* Return: the program's thread, not woken yet. @program must live until it has begun. */
static struct task *create_thread(struct program *program)
{
	const char *name = strrchr(program->argv[0], '/');
	struct task *task;

	fault_inject_pause();
	ended_by_itself = false;
	WRITE_ONCE(library, NULL);
	said_no_memory = false;
	over = RUNS;
	WRITE_ONCE(hangs, false);
	task = kthread_create_demand(program_thread, program, program_stack_size, "%s",
				     name ? name + 1 : program->argv[0]);
	if (IS_ERR(task))
		return task;
	if (fpu_attach(task)) {
		/* Never woken, so it does not run at all. */
		kthread_join(task);
		return ERR_PTR(-ENOMEM);
	}
	WRITE_ONCE(running, task);
	program_start_callbacks(program->on_error);
	return task;
}

/* More than any machine has: a program that asks for it does not need a larger one. */
#define NONSENSE (64UL << 30)

void program_no_memory(size_t size)
{
	if (!READ_ONCE(running) || size > NONSENSE || xchg(&said_no_memory, true))
		return;
	printk("program: no memory for %lu bytes; it has %lu MiB, ./redzone run --mem gives it "
	       "more\n",
	       (unsigned long)size, totalram_pages() >> (20 - PAGE_SHIFT));
}

/* Wait until the program of @task is over, and end what is left of it. Gives up the reference to @task, unless the program
 * has not ended after @timeout ticks. Return: true if it has; @status: filled. */
static bool wait_for_program(struct task *task, long timeout, int *status)
{
	bool joined;

	if (!wait_event_timeout(task->exited.wait,
				completion_done(&task->exited) || smp_load_acquire(&over) == OVER,
				timeout))
		return false;
	if (library)
		library->stop_threads();
	if (!completion_done(&task->exited))
		kthread_kill(task);
	joined = kthread_join_timeout(task, (long)msecs_to_jiffies(KILL_MS), status);
	/* A thread that holds a lock for ever stays behind. */
	if (!joined)
		put_task_struct(task);
	if (over == OVER)
		*status = over_status;
	return true;
}

/* The thread @task has not ended in time. Give up the reference to it. @others: it may not be the program's only one. */
static void end_hang(struct task *task, const struct program_library *others, int *status)
{
	atomic_set(&traces_left, HANG_TRACES);
	first_thread = task;
	smp_store_release(&hangs, true);
	kthread_kill(task);
	if (others)
		others->stop_threads();
	/* A thread that holds a lock for ever stays behind. */
	if (!kthread_join_timeout(task, (long)msecs_to_jiffies(KILL_MS), status))
		put_task_struct(task);
}

static long time_limit(void)
{
	return time_limit_ms ? (long)msecs_to_jiffies(time_limit_ms) : MAX_SCHEDULE_TIMEOUT;
}

bool program_join_module(struct task *task, const char *name)
{
	int status;

	if (kthread_join_timeout(task, time_limit(), &status))
		return true;
	printk("module %s: no end after %u ms\n", name, time_limit_ms);
	/* One that waits is in a queue, and cannot be ended: see kthread_kill(). */
	if (READ_ONCE(task->state) == TASK_RUNNING)
		end_hang(task, NULL, &status);
	else
		put_task_struct(task);
	return false;
}

/* The program is over: print what it wanted in vain. */
static void say_missing(void)
{
	if (library)
		library->say_missing();
}

int run_program(int argc, char **argv)
{
	static char default_name[] = "program";
	char *default_argv[] = {default_name, NULL};
	struct program program = {.main = redzone_program_main,
				  .ctors = redzone_ctors_program,
				  .dtors = redzone_dtors_program,
				  .argc = argc,
				  .argv = argv,
				  .on_error = redzone_on_error_program};
	struct task *task;
	int status;

	if (!redzone_program_main)
		return -ENOENT;
	if (argc < 1) {
		program.argc = 1;
		program.argv = default_argv;
	}
	task = create_thread(&program);
	if (IS_ERR(task)) {
		pr_err("program: no memory for its thread\n");
		return (int)PTR_ERR(task);
	}
	wake_up_process(task);
	if (!wait_for_program(task, time_limit(), &status)) {
		printk("program: no end after %u ms\n", time_limit_ms);
		end_hang(task, library, &status);
	}
	say_missing();
	if (library)
		library->save_files();
	if (!ended_by_itself)
		return -EFAULT;
	if (status)
		printk("program returned %d\n", status);
	return status;
}

enum program_end program_run_one(const struct program_entry *entry, int argc, char **argv,
				 unsigned int timeout_ms, int *status)
{
	/* Static: a thread that never got a CPU would look at it after this function's end. */
	static struct program program;
	struct task *task;

	program = (struct program){.main = entry->main,
				   .ctors = entry->ctors,
				   .dtors = entry->dtors,
				   .argc = argc,
				   .argv = argv,
				   .on_error = entry->on_error,
				   .one_report = true};
	task = create_thread(&program);
	if (IS_ERR(task)) {
		*status = (int)PTR_ERR(task);
		return PROGRAM_NO_THREAD;
	}
	wake_up_process(task);
	if (!wait_for_program(task, (long)msecs_to_jiffies(timeout_ms), status)) {
		WRITE_ONCE(running, NULL);
		printk("program: no end after %u ms\n", timeout_ms);
		end_hang(task, library, status);
		say_missing();
		return PROGRAM_TIMEOUT;
	}
	say_missing();
	return ended_by_itself ? PROGRAM_RETURNED : PROGRAM_KILLED;
}

bool program_was_killed(void)
{
	/* A program that never got a thread did not die. */
	return READ_ONCE(running) && !ended_by_itself;
}

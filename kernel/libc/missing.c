// SPDX-License-Identifier: MIT
/*
 * missing.c - which system calls a program has made that are not there. They fail with ENOSYS, which many programs do not
 * look at, so one line at the program's end lists them.
 *
 * Calls for which the library has another way of its own, as for faccessat2(), are not listed.
 */
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/string.h>

#include "libc.h"

/* What a program calls, by the numbers of Linux's asm-generic/unistd.h. */
static const struct {
	u16 nr;
	const char *name;
} names[] = {
	{0, "io_setup"},
	{19, "eventfd"},
	{20, "epoll_create"},
	{21, "epoll_ctl"},
	{22, "epoll_wait"},
	{26, "inotify_init"},
	{33, "mknod"},
	{36, "symlink"},
	{37, "link"},
	{39, "umount"},
	{40, "mount"},
	{43, "statfs"},
	{44, "fstatfs"},
	{47, "fallocate"},
	{51, "chroot"},
	{71, "sendfile"},
	{72, "select"},
	{73, "poll"},
	{74, "signalfd"},
	{76, "splice"},
	{85, "timerfd_create"},
	{95, "waitid"},
	{97, "unshare"},
	{102, "getitimer"},
	{103, "setitimer"},
	{107, "timer_create"},
	{112, "clock_settime"},
	{116, "syslog"},
	{117, "ptrace"},
	{118, "sched_setparam"},
	{119, "sched_setscheduler"},
	{120, "sched_getscheduler"},
	{121, "sched_getparam"},
	{122, "sched_setaffinity"},
	{125, "sched_get_priority_max"},
	{126, "sched_get_priority_min"},
	{133, "sigsuspend"},
	{137, "sigwait"},
	{138, "sigqueue"},
	{140, "setpriority"},
	{141, "getpriority"},
	{144, "setgid"},
	{146, "setuid"},
	{153, "times"},
	{154, "setpgid"},
	{155, "getpgid"},
	{156, "getsid"},
	{157, "setsid"},
	{158, "getgroups"},
	{159, "setgroups"},
	{161, "sethostname"},
	{163, "getrlimit"},
	{164, "setrlimit"},
	{165, "getrusage"},
	{168, "getcpu"},
	{179, "sysinfo"},
	{180, "mq_open"},
	{186, "msgget"},
	{190, "semget"},
	{194, "shmget"},
	{198, "socket"},
	{199, "socketpair"},
	{200, "bind"},
	{201, "listen"},
	{202, "accept"},
	{203, "connect"},
	{204, "getsockname"},
	{205, "getpeername"},
	{206, "send"},
	{207, "recv"},
	{208, "setsockopt"},
	{209, "getsockopt"},
	{210, "shutdown"},
	{211, "sendmsg"},
	{212, "recvmsg"},
	{220, "fork"},
	{221, "exec"},
	{223, "posix_fadvise"},
	{230, "mlockall"},
	{231, "munlockall"},
	{232, "mincore"},
	{242, "accept"},
	{260, "wait"},
	{261, "getrlimit"},
	{279, "memfd_create"},
	{285, "copy_file_range"},
	{291, "statx"},
};

/* The library does without: mlock2, preadv2, pwritev2, faccessat2, fchmodat2; membarrier; and sync(), which has nothing to do. */
static const u16 has_another_way[] = {81, 283, 284, 286, 287, 439, 452};

#define NR_CALLS 512
static u64 made[NR_CALLS / 64];
/* One whose number is larger. */
static long other;

void libc_note_missing(long nr)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(has_another_way); i++)
		if (nr == has_another_way[i])
			return;
	if (nr >= 0 && nr < NR_CALLS)
		__atomic_fetch_or(&made[nr / 64], 1UL << nr % 64, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&other, nr, __ATOMIC_RELAXED);
}

/* Put the name of the call @nr into @line, which has @size bytes, @used of them used. Return: how many are used then. */
static size_t add_name(char *line, size_t size, size_t used, long nr)
{
	const char *const comma = used ? ", " : "";

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].nr == nr)
			return used + (size_t)scnprintf(line + used, size - used, "%s%s", comma,
							names[i].name);
	return used + (size_t)scnprintf(line + used, size - used, "%ssystem call %ld", comma, nr);
}

void libc_say_missing(void)
{
	char line[512];
	size_t used = 0;
	long last;

	for (long nr = 0; nr < NR_CALLS; nr++)
		if (__atomic_load_n(&made[nr / 64], __ATOMIC_RELAXED) & 1UL << nr % 64)
			used = add_name(line, sizeof(line), used, nr);
	last = __atomic_exchange_n(&other, 0, __ATOMIC_RELAXED);
	if (last)
		used = add_name(line, sizeof(line), used, last);
	if (used)
		printk("program: calls that are not there: %s\n", line);
	memset(made, 0, sizeof(made));
}

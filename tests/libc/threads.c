// SPDX-License-Identifier: MIT
/*
 * threads.c - threads of a program: POSIX and C11, thread-local variables, and how threads and the
 * program end. Without a bug. The first argument "exit" ends the program from a thread while others run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS	200

static int wrong;

static void check(int right, int line, const char *what)
{
	if (right)
		return;
	wrong++;
	printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check(condition, __LINE__, #condition)

static struct timespec after_ms(long ms)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += ms / 1000;
	time.tv_nsec += ms % 1000 * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_nsec -= 1000000000;
		time.tv_sec++;
	}
	return time;
}

/* --- Thread-local variables, errno, floating point ---------------------------------------------- */

static _Thread_local int filled = 42;
static _Thread_local char empty[100];
_Thread_local long list[5] = {1, 2, 3};
static _Alignas(64) _Thread_local char aligned[64] = "aligned";
static __thread const char *text = "text";
static pthread_barrier_t barrier;
static void *places[THREADS];

static void check_fresh(void)
{
	int clear = 1;

	for (size_t i = 0; i < sizeof(empty); i++)
		clear &= !empty[i];
	CHECK(clear);
	CHECK(filled == 42);
	CHECK(list[0] == 1 && list[2] == 3 && list[4] == 0);
	CHECK(!strcmp(aligned, "aligned") && (uintptr_t)aligned % 64 == 0);
	CHECK(!strcmp(text, "text"));
}

static void *use_locals(void *arg)
{
	long number = (long)(intptr_t)arg;
	double sum = 0;

	check_fresh();
	places[number] = &filled;
	filled = (int)number;
	memset(empty, (int)number, sizeof(empty));
	errno = (int)number;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		sum += sqrt((double)(number + 1));
		sched_yield();
	}
	CHECK(fabs(sum - ROUNDS * sqrt((double)(number + 1))) < 1e-9);
	CHECK(fegetround() == FE_UPWARD);
	CHECK(filled == number && empty[99] == number && errno == number);
	return (void *)(intptr_t)(number * number);
}

static void locals(void)
{
	pthread_t threads[THREADS];
	long sum = 0;

	check_fresh();
	/* A new thread has the rounding of the thread that makes it. */
	fesetround(FE_UPWARD);
	CHECK(!pthread_barrier_init(&barrier, NULL, THREADS));
	for (long i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, use_locals, (void *)(intptr_t)i));
	for (int i = 0; i < THREADS; i++) {
		void *result;

		CHECK(!pthread_join(threads[i], &result));
		sum += (long)(intptr_t)result;
		for (int k = 0; k < i; k++)
			CHECK(places[k] != places[i]);
	}
	fesetround(FE_TONEAREST);
	CHECK(sum == 140);
	check_fresh();
	CHECK(!pthread_barrier_destroy(&barrier));
}

/* --- Mutexes, conditions, semaphores, rwlocks ---------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static long counter, written;
static int turn;
static atomic_long atomic_counter;
static _Atomic(uint8_t) atomic_byte;

static void *count(void *arg)
{
	int number = (int)(intptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
		atomic_fetch_add(&atomic_counter, 2);
		atomic_byte++;
		pthread_rwlock_rdlock(&rwlock);
		CHECK(written >= 0);
		pthread_rwlock_unlock(&rwlock);
		pthread_rwlock_wrlock(&rwlock);
		written++;
		pthread_rwlock_unlock(&rwlock);
	}
	/* Each in turn. */
	pthread_mutex_lock(&mutex);
	while (turn != number)
		pthread_cond_wait(&changed, &mutex);
	turn++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	sem_post(&semaphore);
	return NULL;
}

static void locks(void)
{
	pthread_t threads[THREADS];

	CHECK(!sem_init(&semaphore, 0, 0));
	for (long i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, count,
				      (void *)(intptr_t)(THREADS - 1 - i)));
	for (int i = 0; i < THREADS; i++)
		CHECK(!sem_wait(&semaphore));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK(counter == THREADS * ROUNDS && written == THREADS * ROUNDS && turn == THREADS);
	CHECK(atomic_counter == 2 * THREADS * ROUNDS && atomic_byte == (uint8_t)(THREADS * ROUNDS));
}

static void *hold(void *arg)
{
	struct timespec soon = after_ms(30);

	CHECK(pthread_mutex_trylock(arg) == EBUSY);
	CHECK(pthread_mutex_timedlock(arg, &soon) == ETIMEDOUT);
	return NULL;
}

static void kinds(void)
{
	struct timespec soon = after_ms(30);
	pthread_mutexattr_t kind;
	pthread_mutex_t lock;
	pthread_t thread;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	CHECK(!pthread_mutex_init(&lock, &kind));
	CHECK(!pthread_mutex_lock(&lock) && !pthread_mutex_lock(&lock));
	CHECK(!pthread_create(&thread, NULL, hold, &lock));
	CHECK(!pthread_join(thread, NULL));
	CHECK(!pthread_mutex_unlock(&lock) && !pthread_mutex_unlock(&lock));
	CHECK(!pthread_mutex_destroy(&lock));
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	CHECK(!pthread_mutex_init(&lock, &kind));
	CHECK(pthread_mutex_unlock(&lock) == EPERM);
	CHECK(!pthread_mutex_lock(&lock) && pthread_mutex_lock(&lock) == EDEADLK);
	CHECK(!pthread_mutex_unlock(&lock));
	pthread_mutex_lock(&mutex);
	CHECK(pthread_cond_timedwait(&changed, &mutex, &soon) == ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
}

/* --- Once, keys, attributes, names, detached threads, cancellation ------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static atomic_int onces, destroyed, detached;

static void only_once(void)
{
	onces++;
}

static void destroy(void *value)
{
	CHECK(!strcmp(value, "value"));
	free(value);
	destroyed++;
}

static void *use_key(void *arg)
{
	char name[16];

	pthread_once(&once, only_once);
	CHECK(!pthread_getspecific(key));
	CHECK(!pthread_setspecific(key, strdup("value")));
	CHECK(!pthread_setname_np(pthread_self(), "worker"));
	CHECK(!pthread_getname_np(pthread_self(), name, sizeof(name)) && !strcmp(name, "worker"));
	if (arg)
		detached++;
	pthread_exit(arg);
}

static void *use_stack(void *arg)
{
	size_t size = (size_t)(intptr_t)arg;
	volatile char space[size];
	char *low, *top;
	pthread_attr_t attr;

	for (size_t i = 0; i < size; i += 4096)
		space[i] = 1;
	CHECK(!pthread_getattr_np(pthread_self(), &attr));
	CHECK(!pthread_attr_getstack(&attr, (void **)&low, &size));
	top = low + size;
	CHECK((uintptr_t)space - (uintptr_t)low < (uintptr_t)top - (uintptr_t)low);
	return NULL;
}

static void *wait_for_ever(void *arg)
{
	sem_post(arg);
	for (;;)
		sleep(1000);
}

static void various(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	void *result;

	CHECK(!pthread_key_create(&key, destroy));
	pthread_attr_init(&attr);
	CHECK(!pthread_attr_setstacksize(&attr, 4 << 20));
	CHECK(!pthread_create(&thread, &attr, use_stack, (void *)(intptr_t)(4000 << 10)));
	CHECK(!pthread_join(thread, NULL));
	CHECK(!pthread_attr_setstacksize(&attr, 2048));
	CHECK(!pthread_create(&thread, &attr, use_key, NULL));
	CHECK(!pthread_join(thread, &result) && !result);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread, &attr, use_key, &attr));
	while (detached < THREADS || destroyed < THREADS + 1)
		sched_yield();
	CHECK(onces == 1);
	CHECK(!pthread_key_delete(key));
	CHECK(!pthread_create(&thread, NULL, wait_for_ever, &semaphore));
	sem_wait(&semaphore);
	CHECK(!pthread_cancel(thread));
	CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
}

/* --- C11 ----------------------------------------------------------------------------------------- */

static mtx_t c11_mutex;
static cnd_t c11_changed;
static tss_t c11_key;
static once_flag c11_once = ONCE_FLAG_INIT;
static int c11_done;

static int c11_thread(void *arg)
{
	call_once(&c11_once, only_once);
	tss_set(c11_key, strdup("value"));
	mtx_lock(&c11_mutex);
	c11_done++;
	cnd_signal(&c11_changed);
	mtx_unlock(&c11_mutex);
	return *(int *)arg;
}

static void c11(void)
{
	struct timespec some = {.tv_nsec = 1000000};
	thrd_t threads[3];
	int value = 7, result;

	CHECK(mtx_init(&c11_mutex, mtx_timed | mtx_recursive) == thrd_success);
	CHECK(cnd_init(&c11_changed) == thrd_success &&
	      tss_create(&c11_key, destroy) == thrd_success);
	for (int i = 0; i < 3; i++)
		CHECK(thrd_create(&threads[i], c11_thread, &value) == thrd_success);
	mtx_lock(&c11_mutex);
	while (c11_done < 3)
		cnd_wait(&c11_changed, &c11_mutex);
	mtx_unlock(&c11_mutex);
	for (int i = 0; i < 3; i++)
		CHECK(thrd_join(threads[i], &result) == thrd_success && result == 7);
	CHECK(onces == 2 && destroyed == THREADS + 4);
	CHECK(!thrd_sleep(&some, NULL));
}

/* --- The end ------------------------------------------------------------------------------------- */

static void at_exit(void)
{
	printf(wrong ? "threads: %d wrong\n" : "threads: good\n", wrong);
	fflush(stdout);
}

static void *spin(void *arg)
{
	for (volatile long i = 0;; i++)
		if (i % 1024 == 0)
			atomic_counter++;
}

static void *last(void *arg)
{
	long before = atomic_counter;

	/* Another thread runs now, and one waits for ever. */
	while (arg && atomic_counter == before)
		sched_yield();
	exit(wrong ? 1 : arg ? 23 : 0);
}

int main(int argc, char **argv)
{
	int leave = argc > 1 && !strcmp(argv[1], "exit");
	pthread_t thread;

	atexit(at_exit);
	locals();
	locks();
	kinds();
	various();
	c11();
	if (leave) {
		pthread_create(&thread, NULL, spin, NULL);
		pthread_create(&thread, NULL, wait_for_ever, &semaphore);
	}
	pthread_create(&thread, NULL, last, leave ? &thread : NULL);
	/* The program goes on without its first thread. */
	pthread_exit(NULL);
}

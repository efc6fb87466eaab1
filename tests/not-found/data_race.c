/* SPDX-License-Identifier: MIT */
/* Two threads write one variable without a lock. */
#include <pthread.h>

static volatile long shared;

static void *add(void *unused)
{
	for (int i = 0; i < 1000; i++)
		shared++;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, add, NULL))
		return 1;
	add(NULL);
	return pthread_join(thread, NULL);
}

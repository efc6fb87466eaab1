/* SPDX-License-Identifier: MIT */
/* ubsan_alone.c - a system without tasks that has UBSan and nothing else of the runtime. Only its size is looked at. */
#include <kasan/kasan.h>
#include <kasan/port.h>

void _start(void);
int calculate(int a, int b, int *array);

void kasan_port_print(const char *text)
{
	(void)text;
}

void kasan_port_panic(const char *why)
{
	(void)why;
	for (;;)
		;
}

void kasan_port_task(struct kasan_port_task *task)
{
	(void)task;
}

unsigned long kasan_port_irq_save(void)
{
	return 0;
}

void kasan_port_irq_restore(unsigned long flags)
{
	(void)flags;
}

unsigned int kasan_port_cpu(void)
{
	return 0;
}

int calculate(int a, int b, int *array)
{
	return (a + b * array[a]) / b + (a << b);
}

void _start(void)
{
	static int array[4];

	kasan_init(0);
	array[0] = calculate(array[1], array[2], array);
}

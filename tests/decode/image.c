/* SPDX-License-Identifier: MIT */
/*
 * image.c - the program that test_lines.py makes logs from. Each call of a check_ function is a place that a log
 * names: the test finds the call in the machine code and this file's line by the function's name.
 */
#define NOINLINE __attribute__((noinline))
#define INLINE	 static inline __attribute__((always_inline))

struct packet {
	struct packet *next;
	unsigned char data[48];
};

#ifndef MODULE
/* Not static: their symbols stay, and nothing of them is inlined. */
NOINLINE void check_bad_access(volatile unsigned char *at)
{
	*at = 1;
}

NOINLINE void check_middle(void)
{
	__asm__ volatile("" ::: "memory");
}

NOINLINE void check_first(void)
{
	__asm__ volatile("" ::: "memory");
}

NOINLINE void *check_alloc(unsigned long size)
{
	__asm__ volatile("" ::: "memory");
	return (void *)(0x1000 + size);
}

NOINLINE void check_free(void *object)
{
	__asm__ volatile("" ::"r"(object) : "memory");
}

INLINE void fill(struct packet *packet, int index)
{
	check_bad_access(packet->data + index);
	__asm__ volatile("" ::: "memory");
}

NOINLINE void parse_packet(struct packet *packet, int index)
{
	check_first();
	fill(packet, index);
	__asm__ volatile("" ::: "memory");
}

NOINLINE struct packet *new_packet(void)
{
	struct packet *packet = check_alloc(sizeof(*packet));

	__asm__ volatile("" ::: "memory");
	return packet;
}

NOINLINE void drop_packet(struct packet *packet)
{
	check_free(packet);
	__asm__ volatile("" ::: "memory");
}

int counters[4] = {1, 2, 3, 4};

NOINLINE void receive(int index)
{
	struct packet *packet = new_packet();

	parse_packet(packet, index);
	check_middle();
	drop_packet(packet);
	__asm__ volatile("" ::: "memory");
}

void _start(void)
{
	receive(counters[1]);
	__asm__ volatile("" ::: "memory");
}
#else
extern void check_middle(void);
extern void check_bad_access(volatile unsigned char *at);

NOINLINE int module_helper(unsigned char *at)
{
	check_middle();
	check_bad_access(at);
	return *at;
}

int module_entry(unsigned char *at)
{
	int sum = module_helper(at);

	return sum + module_helper(at + 1);
}
#endif

// SPDX-License-Identifier: MIT
/*
 * heap_bugs.c - what `./redzone run` shows first: two bugs that every C program can have.
 *
 * Ordinary C, but inside a kernel: main() is a kernel thread, malloc() is kmalloc(), and the Kernel
 * Address Sanitizer looks at each load and store. It reports both bugs below, with the line of the
 * bad access and the lines that allocated and freed the memory, and the program goes on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not inlined, so that call traces show these functions by name. */
#define noinline __attribute__((noinline))

struct message {
	size_t length;
	char *text;
};

static noinline struct message *message_create(const char *text)
{
	struct message *message = malloc(sizeof(*message));

	if (!message)
		return NULL;
	message->length = strlen(text);
	message->text = malloc(message->length);
	if (!message->text) {
		free(message);
		return NULL;
	}
	/* Copies the characters; there is no room for the NUL. */
	memcpy(message->text, text, message->length);
	return message;
}

static noinline void message_destroy(struct message *message)
{
	free(message->text);
	free(message);
}

/* Bug 1: the text is not NUL-terminated on creation, and its buffer has no byte left for the NUL.
 */
static noinline void message_terminate(struct message *message)
{
	message->text[message->length] = '\0'; /* one byte past the end of the heap object */
}

/* Bug 2: the caller has already freed the message. */
static noinline size_t message_length(const struct message *message)
{
	return message->length; /* a read of freed memory */
}

int main(int argc, char **argv)
{
	struct message *message = message_create("hello, world!");

	if (!message)
		return 1;

	printf("1. Heap overflow: 13 characters fill a 13-byte object; "
	       "the terminating NUL goes past its end.\n");
	message_terminate(message);

	printf("2. Use after free: reading the length of a destroyed message.\n");
	message_destroy(message);
	printf("   Read length %zu (it was 13): the memory no longer belongs to the message.\n",
	       message_length(message));
	return 0;
}

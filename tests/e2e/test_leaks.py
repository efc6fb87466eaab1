# SPDX-License-Identifier: MIT
"""`./redzone run --leaks`: objects that nothing points to at the end of a program are reported, no others."""

import json

import pytest
from redzone.testing.needs import first

LOSES = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct node *next;
	char text[24];
};

static void *volatile global;
static char *volatile inner;

__attribute__((noinline)) static void lose(size_t size)
{
	volatile char *p = malloc(size);

	p[0] = 1;
}

__attribute__((noinline)) static void lose_list(void)
{
	struct node *first = calloc(1, sizeof(*first));

	first->next = calloc(1, sizeof(*first));
	first->next->next = calloc(1, sizeof(*first));
}

__attribute__((noinline)) static void lose_ring(void)
{
	struct node *one = calloc(1, 100), *two = calloc(1, 100);

	one->next = two;
	two->next = one;
}

__attribute__((noinline)) static void clear(void)
{
	volatile char stack[4096];

	for (size_t i = 0; i < sizeof(stack); i++)
		stack[i] = 0;
}

int main(int argc, char **argv)
{
	struct node *list = NULL;

	global = malloc(50);
	/* A pointer into an object will do. */
	inner = (char *)malloc(60) + 7;
	for (int i = 0; i < 3; i++) {
		struct node *node = malloc(sizeof(*node));

		node->next = list;
		list = node;
	}
	*(struct node **)global = list;
	setvbuf(stdout, malloc(BUFSIZ), _IOFBF, BUFSIZ);
	if (argc > 1) {
		for (volatile int i = 0; i < 3; i++)
			lose(40);
		lose(3 << 20);
		lose_list();
		lose_ring();
		clear();
	}
	printf("done\\n");
	return 0;
}
"""

THREADS = """\
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static _Thread_local char *own;
static pthread_barrier_t barrier;
static volatile int go_on = 1;

static void *run(void *unused)
{
	char *local = malloc(30);

	own = malloc(20);
	own[0] = local[0] = 1;
	pthread_barrier_wait(&barrier);
	if (unused) {
		while (go_on)
			local[1]++;
	} else {
		sleep(1000);
	}
	return local;
}

int main(int argc, char **argv)
{
	pthread_t busy, asleep;
	char *held = malloc(10);

	own = malloc(25);
	pthread_barrier_init(&barrier, NULL, 3);
	pthread_create(&busy, NULL, run, &barrier);
	pthread_create(&asleep, NULL, run, NULL);
	pthread_barrier_wait(&barrier);
	/* Neither these nor what the caller of exit() has on its stack is lost. */
	held[0] = 1;
	exit(held[0] - 1);
}
"""

KERNELS = [
    *((mode, "clang-19") for mode in ("generic", "hw_tags", "sw_tags", "off")),
    ("hw_tags", "gcc"),
]


@first(2, ("mode", "cc"), KERNELS)
def test_lost_objects(redzone, source, mode, cc):
    """All objects of one place are one report, and those that only lost ones lead to are counted."""
    options = ("--mode", mode, "--cc", cc, "--leaks", "--no-symbolize", source(LOSES))
    result = redzone("run", *options, "--", "lose", status=1)
    found = result.stdout
    assert found.count("BUG: memory leak in ") == 4
    assert found.count("BUG: memory leak in lose\n") == 2
    assert "Objects that nothing points to: 3, of 120 bytes in all" in found
    assert "Objects that nothing points to: 1, of 3145728 bytes in all" in found
    assert "BUG: memory leak in lose_list\n" in found
    assert "Objects that nothing points to: 1, of 32 bytes in all" in found
    assert "BUG: memory leak in lose_ring\n" in found
    assert "Objects that only lost ones point to: 3, of 164 bytes in all" in found
    assert "program: leaks: 9 objects of 3146144 bytes, from 4 places" in found
    assert "4 leaks" in result.stderr


def test_explained(redzone, source):
    """Reports have source lines, and the summary names places; without leaks it says that there are none."""
    file = source(LOSES)
    result = redzone("run", "--leaks", file, "--", "lose", status=1)
    assert "memory-leak, 3 objects of 120 bytes, program.c:15 in lose()" in result.stderr
    assert "nothing pointed to memory that was allocated in lose() at program.c:15" in " ".join(
        result.stdout.split()
    )
    result = redzone("run", "--leaks", file, status=0)
    assert "no KASAN report, no leak" in result.stderr
    # Whoever does not ask gets nothing.
    result = redzone("run", file, "--", "lose", status=0)
    lines = (result.stdout + result.stderr).splitlines()
    # Other tests may use the same build folder, and a line names the command that is waited for.
    assert "leak" not in "\n".join(
        line for line in lines if not line.startswith("redzone: waiting for process")
    )


@pytest.mark.parametrize("cpus", [pytest.param("1", marks=pytest.mark.rest), "4"])
def test_threads_hold_objects(redzone, source, cpus):
    """Stacks, registers and thread-local variables of all threads count, wherever these are."""
    result = redzone("run", "--leaks", "--smp", cpus, source(THREADS), status=0)
    assert "program: leaks: none" in result.stdout


def test_each_has_a_verdict(redzone, source, tmp_path):
    lost = "#include <stdlib.h>\nint main(void)\n{\n\tvoid *volatile p = malloc(9);\n\n\tp = 0;\n}\n"
    files = [source(lost, "lost.c"), source("int main(void)\n{\n}\n", "good.c")]
    result = redzone("run", "--each", "--leaks", "--json", tmp_path / "out.json", *files, status=1)
    assert "lost.c # memory-leak, 1 object of 9 bytes, " in result.stdout
    assert "\nok 2 " in result.stdout
    first_one, second = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["programs"]
    assert (first_one["end"], first_one["report"]["type"], second["end"]) == ("leak", "memory-leak", "ok")

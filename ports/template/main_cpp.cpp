// SPDX-License-Identifier: MIT
//
// main_cpp.cpp - the program in C++, in place of main.c: instrumented. It plants the bugs that C++ adds to those
// of main.c, and says at the end whether each was reported correctly. Exit status: 0 all were, 1 some were not.
#include <kasan/kasan.h>

#include "board.h"
#include "cxx.h"

namespace
{

// Hardware tags see whole granules of 16 bytes: an overflow shows when it leaves the last one.
#ifdef CONFIG_KASAN_HW_TAGS
constexpr size_t end_of_13 = 16;
#else
constexpr size_t end_of_13 = 13;
#endif

const char *seen;
unsigned int count;

// Hides a value from the compiler: it would see the bug, and remove it.
template <typename T> T runtime(T value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

void note(const struct kasan_report_info *info)
{
	seen = info->bug_type;
	count++;
}

class shape
{
      public:
	virtual ~shape()
	{
	}
	virtual int area() const = 0;
};

class square : public shape
{
      public:
	explicit square(int side) : side(side)
	{
	}
	int area() const override
	{
		return side * side;
	}

      private:
	int side;
};

struct job {
	explicit job(int priority) : priority(priority)
	{
	}
	int priority;
};

struct alignas(64) cache_line {
	char bytes[64];
};

// A global with a constructor, which runs before main(). It looks whether globals have their redzones by then.
class registry
{
      public:
	registry()
	    : names(new char[20]), has_redzones(!kasan_byte_accessible(runtime(entries) + 10))
	{
		for (char &entry : entries)
			entry = 'r';
	}
	~registry()
	{
		delete[] names;
	}
	char *names;
	bool has_redzones;
	static char entries[10];
};

char registry::entries[10];
registry at_start;

void use_after_delete()
{
	job *object = new job(3), *stale = runtime(object);

	delete object;
	stale->priority = 4;
}

void array_overflow()
{
	char *text = new char[13];

	runtime(text)[end_of_13] = 0;
	delete[] text;
}

void double_delete()
{
	job *object = new job(4), *stale = runtime(object);

	delete object;
	delete stale;
}

void aligned_overflow()
{
	cache_line *lines = new cache_line[2];

	runtime(lines)[2].bytes[0] = 1;
	delete[] lines;
}

void nothrow_overflow()
{
	char *text = new (std::nothrow) char[13];

	runtime(text)[end_of_13] = 0;
	delete[] text;
}

void placement_after_delete()
{
	void *memory = ::operator new(sizeof(job)), *stale = runtime(memory);

	::operator delete(memory, sizeof(job));
	(void)runtime(new (stale) job(5));
}

void allocated_by_constructor()
{
	runtime(at_start.names)[32] = 1;
}

#ifdef CONFIG_KASAN_GENERIC
void global_overflow()
{
	runtime(registry::entries)[10] = 1;
}

// Clang registers the globals of all files first. GCC does it in the file's own order: behind its constructors.
void redzones_in_constructors()
{
#ifdef __clang__
	if (!at_start.has_redzones)
		count++;
#endif
}
#endif

void correct_use()
{
	cache_line *line = new cache_line;
	shape *object = new square(6);
	char *text = new char[13];

	runtime(text)[12] = 'x';
	runtime(line)->bytes[63] = (char)runtime(object)->area();
	delete[] text;
	delete object;
	delete line;
	delete runtime((shape *)nullptr);
}

const struct bug {
	const char *name, *type; // type: nullptr: must not be reported
	void (*run)();
} bugs[] = {
	{"use_after_delete", "slab-use-after-free", use_after_delete},
	{"array_overflow", "slab-out-of-bounds", array_overflow},
	{"double_delete", "double-free", double_delete},
	{"aligned_overflow", "slab-out-of-bounds", aligned_overflow},
	{"nothrow_overflow", "slab-out-of-bounds", nothrow_overflow},
	{"placement_after_delete", "slab-use-after-free", placement_after_delete},
	{"allocated_by_constructor", "slab-out-of-bounds", allocated_by_constructor},
#ifdef CONFIG_KASAN_GENERIC
	{"global_overflow", "global-out-of-bounds", global_overflow},
	{"redzones_in_constructors", nullptr, redzones_in_constructors},
#endif
	{"correct_use", nullptr, correct_use},
};

bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

bool as_expected(const bug &planted)
{
	if (!planted.type)
		return count == 0;
	return count == 1 && same(seen, planted.type);
}

} // namespace

int main(void)
{
	const char *wrong = kasan_check_offset();
	unsigned int failed = 0;

	if (wrong) {
		board_puts("kasan: ");
		board_puts(wrong);
		board_puts("\n");
		return 4;
	}
	board_puts("template: start, in C++\n");
	kasan_report_hook(note);
	for (const bug &planted : bugs) {
		count = 0;
		planted.run();
		if (!as_expected(planted))
			failed++;
		board_puts(as_expected(planted) ? "template: ok " : "template: NOT OK ");
		board_puts(planted.name);
		board_puts("\n");
	}
	board_puts(failed ? "template: done, some failed\n" : "template: done, all as expected\n");
	return failed ? 1 : 0;
}

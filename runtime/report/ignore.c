/* SPDX-License-Identifier: MIT */
/*
 * ignore.c - kasan.ignore=: functions whose reports the user does not want to see.
 *
 * A report is left out if a named function is anywhere in its call trace, so a list can mean "this function has a known
 * bug" or "nothing that this driver does". The program goes on as if reports were suppressed. The first match of each
 * name prints a line, so that no report disappears silently.
 */
#include "../track/track.h"
#include "captured.h"

#if CONFIG_KASAN_IGNORE

/* The longest list, with its NUL, and the most names in it. */
#define TEXT_SIZE 512U
#define NAMES	  16U

struct ignore_list {
	unsigned int count;
	unsigned int said[NAMES]; /* the line was printed */
	uint16_t name[NAMES];	  /* offset in @text */
	char text[TEXT_SIZE];	  /* names, each NUL-terminated; the last byte is always NUL */
};

/* Readers take no lock: a new list is written where the current one is not. */
static struct ignore_list lists[2];
static struct ignore_list *current_list;

/**
 * struct reader - a CPU that looks at the list
 * @busy: a reader that runs into a bug of its own must not look again.
 * @pcs, @symbol, @task: not on the stack, which may have room for a few lines only.
 */
static struct reader {
	bool busy;
	struct kasan_port_task task;
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];
	char symbol[128];
} readers[CONFIG_KASAN_NR_CPUS];

static bool is_name_char(char c, bool first)
{
	const char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || c == '_' || c == '.' || c == '$' ||
	       (!first && c >= '0' && c <= '9');
}

/* Return: the length of one name with an optional '*'; 0 if it is not a name. */
static size_t name_length(const char *text)
{
	size_t n = 0;

	while (is_name_char(text[n], n == 0))
		n++;
	if (n && text[n] == '*')
		n++;
	return text[n] == '\0' || text[n] == ',' ? n : 0;
}

bool kasan_ignore_set(const char *value)
{
	struct ignore_list *list =
		__atomic_load_n(&current_list, __ATOMIC_RELAXED) == lists ? &lists[1] : &lists[0];
	size_t used = 0, length;

	if (!value)
		return false;
	__memset(list, 0, sizeof(*list));
	while (*value) {
		length = name_length(value);
		if (!length || list->count == NAMES || used + length + 1 >= TEXT_SIZE)
			return false;
		list->name[list->count++] = (uint16_t)used;
		__memcpy(list->text + used, value, length);
		used += length + 1;
		value += length;
		if (*value != ',')
			continue;
		value++;
		/* A comma stands between two names. */
		if (!*value)
			return false;
	}
	__atomic_store_n(&current_list, list, __ATOMIC_RELEASE);
	return true;
}

/* Compilers split and clone functions: "name.constprop.0" is "name" too. */
static bool name_matches(const char *pattern, const char *symbol)
{
	while (*pattern && *pattern == *symbol) {
		pattern++;
		symbol++;
	}
	return *pattern == '*' || (!*pattern && (!*symbol || *symbol == '.'));
}

/* Return: the index of the name that ignores a report with this trace, or the number of names. */
static unsigned int find_match(const struct ignore_list *list, struct reader *reader, size_t depth,
			       bool first_is_exact)
{
	struct kasan_symbol sym;
	size_t i;
	unsigned int k;

	kasan_clear(&sym);
	for (i = 0; i < depth; i++) {
		/* A return address stands for the call before it, which may be its function's last instruction. */
		if (!kasan_port_symbol(reader->pcs[i] -
					       !kasan_is_place(reader->pcs, i, first_is_exact),
				       reader->symbol, sizeof(reader->symbol), &sym))
			continue;
		for (k = 0; k < list->count; k++) {
			if (name_matches(list->text + list->name[k], reader->symbol))
				return k;
		}
	}
	return list->count;
}

bool kasan_ignored(const struct kasan_bug *bug)
{
	struct ignore_list *list = __atomic_load_n(&current_list, __ATOMIC_ACQUIRE);
	struct reader *const reader = &readers[kasan_port_cpu()];
	const bool is_fault = bug->how & (KASAN_HOW_FAULT | KASAN_HOW_AT_PC);
	unsigned int match;
	size_t depth;

	if (kasan_likely(!list || !list->count) || reader->busy)
		return false;
	reader->busy = true;
	__memcpy(&reader->task, &bug->task, sizeof(reader->task));
	kasan_clip_stack(&reader->task, bug->sp, bug->fp);
	depth = is_fault ? kasan_stack_walk_fault(&reader->task, bug->ip, bug->fp, reader->pcs,
						  CONFIG_KASAN_STACK_DEPTH)
			 : kasan_stack_walk_in(&reader->task, bug->ip, bug->fp, reader->pcs,
					       CONFIG_KASAN_STACK_DEPTH);
	match = find_match(list, reader, depth, is_fault);
	reader->busy = false;
	/* After the match, because a notice may print waiting reports, which may not return. */
	if (match < list->count && !__atomic_exchange_n(&list->said[match], 1, __ATOMIC_RELAXED) &&
	    !kasan_notice("kasan: reports that have %s in their trace are ignored "
			  "(kasan.ignore), the first: in %pB",
			  list->text + list->name[match], (const void *)bug->ip))
		__atomic_store_n(&list->said[match], 0, __ATOMIC_RELAXED);
	return match < list->count;
}

#endif /* CONFIG_KASAN_IGNORE */

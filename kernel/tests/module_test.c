// SPDX-License-Identifier: MIT
/*
 * module_test.c - the module loader: the contents of modules, their end, and damaged files, which must only
 * give an error that names the fault.
 */
#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/module.h>
#include <kernel/percpu.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/string.h>

#include <kernel/elf.h>
#include <asm/elf.h>

#include "kasan_test.h"
#include "module_sample.h"

struct module_test_counts module_test_counts;
int module_test_init_result, module_test_number = 42;

static size_t sample_size(void)
{
	return (size_t)(module_sample_end - module_sample_start);
}

static int load_sample(unsigned int flags, struct module **module)
{
	return load_module("module_sample.ko", module_sample_start, sample_size(), flags, module,
			   NULL);
}

static int load_user(struct module **module, struct module_error *error)
{
	return load_module("module-user", module_user_start,
			   (size_t)(module_user_end - module_user_start), 0, module, error);
}

/* A function of the module, by name, as the type of its declaration. */
#define FN(module, name) ((__typeof__(&name))module_address(module, #name))

/* --- Life ------------------------------------------------------------------------------------------ */

static void init_and_exit(struct kunit *test)
{
	struct module_test_counts *counts = &module_test_counts;
	unsigned long pages = module_used_pages();
	struct module *m;

	memset(counts, 0, sizeof(*counts));
	KUNIT_ASSERT_EQ(test, load_sample(0, &m), 0);
	KUNIT_EXPECT_STREQ(test, m->name, "module_sample");
	KUNIT_EXPECT_PTR_EQ(test, find_module("module_sample"), m);
	KUNIT_EXPECT_EQ(test, counts->constructors, 1);
	KUNIT_EXPECT_EQ(test, counts->inits, 1);
	KUNIT_EXPECT_EQ(test, counts->exits, 0);
	KUNIT_EXPECT_STREQ(test, module_info(m, "license"), "MIT");
	KUNIT_EXPECT_STREQ(test, module_info(m, "description"), "what the tests load");
	KUNIT_EXPECT_NULL(test, module_info(m, "author"));
	KUNIT_EXPECT_GT(test, module_used_pages(), pages);

	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), 0);
	KUNIT_EXPECT_EQ(test, counts->exits, 1);
	KUNIT_EXPECT_EQ(test, counts->destructors, 1);
	KUNIT_EXPECT_NULL(test, find_module("module_sample"));
	KUNIT_EXPECT_EQ(test, module_used_pages(), pages);
	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), -ENOENT);
}

/* All kinds of references, near the kernel and so far away that branches need veneers. */
static void check_code(struct kunit *test, unsigned int flags)
{
	static const int expected[] = {42, 17, -3, 4711, 4, -42, 12, 0};
	struct module *m;

	KUNIT_ASSERT_EQ(test, load_sample(flags, &m), 0);
	KUNIT_EXPECT_EQ(test, FN(m, sample_through_pointer)(4, 5), 9);
	KUNIT_EXPECT_STREQ(test, FN(m, sample_word)(6), "six");
	KUNIT_EXPECT_STREQ(test, FN(m, sample_word)(0), "zero");
	for (int i = 0; i < (int)ARRAY_SIZE(expected); i++) {
		KUNIT_EXPECT_EQ(test, FN(m, sample_switch)(i), expected[i]);
		KUNIT_EXPECT_EQ(test, FN(m, sample_cold)(i), expected[i] + 1);
	}
	KUNIT_EXPECT_TRUE(test, FN(m, sample_is_clean)());
	KUNIT_EXPECT_PTR_EQ(test, FN(m, sample_self)(), m);
	KUNIT_EXPECT_EQ(test, FN(m, sample_read_array)(9), '9');
	KUNIT_EXPECT_EQ(test, m->veneers > 0,
			flags && KIMAGE_VADDR - MODULES_VADDR >= MODULE_CALL_REACH);
	KUNIT_EXPECT_EQ(test, unload_module(m->name), 0);
}

static void near_code(struct kunit *test)
{
	check_code(test, 0);
}

static void far_code(struct kunit *test)
{
	check_code(test, MODULE_LOAD_FAR);
}

/* A module address without a tag matches all memory; with a tag it does not match unused memory. */
#define TAGGED(va) kasan_set_tag((void *)(va), 0x42)

static void protection(struct kunit *test)
{
	static const bool writable[MODULE_PARTS] = {false, false, true};
	unsigned long base, span, parts[MODULE_PARTS];
	struct module *m;
	bool can_write;

	KUNIT_ASSERT_EQ(test, load_sample(0, &m), 0);
	base = m->base;
	span = m->span;
	for (int i = 0; i < MODULE_PARTS; i++) {
		parts[i] = m->parts[i].start;
		KUNIT_EXPECT_NE(test, kernel_va_to_pa(parts[i], &can_write), 0);
		KUNIT_EXPECT_EQ(test, can_write, writable[i]);
	}
	KUNIT_EXPECT_TRUE(test, is_module_text(parts[MODULE_TEXT]));
	KUNIT_EXPECT_FALSE(test, is_module_text(parts[MODULE_DATA]));
	KUNIT_EXPECT_EQ(test, kernel_va_to_pa(base, NULL), 0);
	KUNIT_EXPECT_EQ(test, kernel_va_to_pa(base + span - PAGE_SIZE, NULL), 0);
#ifdef CONFIG_KASAN
	if (kasan_on()) {
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(TAGGED(base)));
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(TAGGED(base + span - 1)));
		KUNIT_EXPECT_TRUE(test, kasan_byte_accessible((void *)parts[MODULE_TEXT]));
	}
#endif
	KUNIT_EXPECT_EQ(test, unload_module(m->name), 0);
	for (unsigned long va = base; va < base + span; va += PAGE_SIZE) {
		KUNIT_EXPECT_EQ(test, kernel_va_to_pa(va, NULL), 0);
#ifdef CONFIG_KASAN
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(TAGGED(va)));
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(TAGGED(va + PAGE_SIZE - 1)));
#endif
	}
	KUNIT_EXPECT_FALSE(test, is_module_text(parts[MODULE_TEXT]));
}

static void references(struct kunit *test)
{
	struct module_error error;
	struct module *sample, *user;

	KUNIT_EXPECT_EQ(test, load_user(&user, &error), -ENOENT);
	KUNIT_EXPECT_NOT_NULL(test, strstr(error.text, "unknown symbol sample_"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(error.text, "(and 1 more)"));

	KUNIT_ASSERT_EQ(test, load_sample(0, &sample), 0);
	KUNIT_ASSERT_EQ(test, load_user(&user, NULL), 0);
	KUNIT_EXPECT_STREQ(test, user->name, "module_user");
	KUNIT_EXPECT_EQ(test, module_refcount(sample), 1);
	KUNIT_EXPECT_EQ(test, FN(user, user_product)(6, 7), 42);
	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), -EBUSY);
	KUNIT_EXPECT_EQ(test, unload_module("module_user"), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(sample), 0);

	KUNIT_EXPECT_TRUE(test, try_module_get(sample));
	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), -EBUSY);
	module_put(sample);
	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), 0);
	KUNIT_EXPECT_TRUE(test, try_module_get(NULL));
	module_put(NULL);
}

static void init_fails(struct kunit *test)
{
	unsigned long pages = module_used_pages();
	struct module_error error;
	struct module *m;

	memset(&module_test_counts, 0, sizeof(module_test_counts));
	module_test_init_result = -EIO;
	KUNIT_EXPECT_EQ(test,
			load_module("sample", module_sample_start, sample_size(), 0, &m, &error),
			-EIO);
	module_test_init_result = 0;
	KUNIT_EXPECT_NULL(test, m);
	KUNIT_EXPECT_STREQ(test, error.text, "its init function returned -5");
	KUNIT_EXPECT_EQ(test, module_test_counts.exits, 0);
	KUNIT_EXPECT_EQ(test, module_test_counts.destructors, 1);
	KUNIT_EXPECT_NULL(test, find_module("sample"));
	KUNIT_EXPECT_EQ(test, module_used_pages(), pages);
}

static void names(struct kunit *test)
{
	struct module_error error;
	char longer[MODULE_NAME_LEN + 1];
	struct module *m;

	KUNIT_ASSERT_EQ(test, load_sample(0, &m), 0);
	KUNIT_EXPECT_EQ(
		test,
		load_module("a/module-sample", module_sample_start, sample_size(), 0, NULL, &error),
		-EEXIST);
	KUNIT_EXPECT_NOT_NULL(test, strstr(error.text, "of this name"));
	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), 0);
	memset(longer, 'x', MODULE_NAME_LEN);
	longer[MODULE_NAME_LEN] = '\0';
	KUNIT_EXPECT_EQ(test,
			load_module(longer, module_sample_start, sample_size(), 0, NULL, &error),
			-EINVAL);
	KUNIT_EXPECT_EQ(test,
			load_module(".ko", module_sample_start, sample_size(), 0, NULL, &error),
			-EINVAL);
}

/* --- Damaged files --------------------------------------------------------------------------------- */

static int try_image(const void *image, size_t size, struct module_error *error)
{
	struct module *m = NULL;
	int err;

	error->text[0] = '\0';
	err = load_module("damaged", image, size, MODULE_LOAD_NO_RUN, &m, error);
	if (!err)
		err = unload_module("damaged");
	return err;
}

static char *copy_of_sample(struct kunit *test)
{
	char *copy = vmalloc(sample_size());

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, module_sample_start, sample_size());
	return copy;
}

static Elf64_Shdr *find_header(char *image, u32 type, bool loaded)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)image;
	Elf64_Shdr *s = (Elf64_Shdr *)(image + h->e_shoff);

	for (unsigned int i = 1; i < h->e_shnum; i++) {
		const Elf64_Shdr *target = &s[s[i].sh_info < h->e_shnum ? s[i].sh_info : 0];

		if (s[i].sh_type == type && (!loaded || target->sh_flags & SHF_EXECINSTR))
			return &s[i];
	}
	return NULL;
}

/* Change @field, expect -ENOEXEC and @word in the error, change it back. */
#define EXPECT_BAD(field, value, word)                                                       \
	do {                                                                                 \
		__typeof__(field) __old = (field);                                           \
		(field) = (__typeof__(field))(value);                                        \
		KUNIT_EXPECT_EQ(test, try_image(image, sample_size(), &error), -ENOEXEC);    \
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(error.text, word), "%s", error.text); \
		(field) = __old;                                                             \
	} while (0)

static void damaged_fields(struct kunit *test)
{
	char *image = copy_of_sample(test);
	Elf64_Ehdr *h = (Elf64_Ehdr *)image;
	Elf64_Shdr *sections = (Elf64_Shdr *)(image + h->e_shoff);
	Elf64_Shdr *symtab = find_header(image, SHT_SYMTAB, false);
	Elf64_Shdr *relocs = find_header(image, SHT_RELA, true);
	struct module_error error;
	Elf64_Rela *rela;

	KUNIT_ASSERT_NOT_NULL(test, symtab);
	KUNIT_ASSERT_NOT_NULL(test, relocs);
	rela = (Elf64_Rela *)(image + relocs->sh_offset);
	EXPECT_BAD(image[0], 'M', "not an ELF file");
	EXPECT_BAD(image[EI_CLASS], 1, "64-bit");
	EXPECT_BAD(h->e_machine, 62, "machine 62");
	EXPECT_BAD(h->e_type, 2, "ELF type 2");
	EXPECT_BAD(h->e_shentsize, 63, "section headers of 63 bytes");
	EXPECT_BAD(h->e_shoff, ~0ULL - 7, "section headers");
	EXPECT_BAD(h->e_shnum, 0xffff, "section headers");
	EXPECT_BAD(h->e_shstrndx, 0, "section names");
	EXPECT_BAD(sections[1].sh_name, 0x7fffffff, "its name");
	EXPECT_BAD(sections[1].sh_offset, ~0ULL, "not inside the file");
	EXPECT_BAD(symtab->sh_entsize, 1, "no table of symbols");
	EXPECT_BAD(symtab->sh_link, 0, "no string table");
	EXPECT_BAD(relocs->sh_info, 0xffff, "of");
	EXPECT_BAD(relocs->sh_link, 0, "not the symbol table");
	EXPECT_BAD(relocs->sh_type, SHT_REL, "without addends");
	EXPECT_BAD(rela->r_info, (u64)ELF64_R_SYM(rela->r_info) << 32 | 999, "unknown type 999");
	EXPECT_BAD(rela->r_info, 0xffffffff00000000ULL | ELF64_R_TYPE(rela->r_info),
		   "symbol 4294967295");
	EXPECT_BAD(rela->r_offset, ~0ULL, "relocation at 0xffffffffffffffff");
	/* Once restored, the file is a good module again. */
	KUNIT_EXPECT_EQ(test, try_image(image, sample_size(), &error), 0);
	KUNIT_EXPECT_EQ(test, try_image(image, 0, &error), -ENOEXEC);
	vfree(image);
}

static void truncated(struct kunit *test)
{
	unsigned long pages = module_used_pages();
	struct module_error error;
	size_t size, step;

	/* The section headers are at the end, so no part of the file is a module. */
	for (size = 0; size < sample_size(); size += step) {
		step = size < 128 ? 1 : 41;
		KUNIT_EXPECT_EQ(test, try_image(module_sample_start, size, &error), -ENOEXEC);
		KUNIT_EXPECT_GT(test, strlen(error.text), 5);
	}
	KUNIT_EXPECT_EQ(test, module_used_pages(), pages);
}

/* Memory that is free once nothing is kept for later. */
static unsigned long free_memory(void)
{
	module_purge();
	vmalloc_purge();
#ifdef CONFIG_KASAN
	kasan_cache_shrink(NULL);
#endif
	drain_all_pages();
	return nr_free_pages();
}

/* Whatever the file contains, loading it (without running it) ends with an error or a module. */
static void corrupted(struct kunit *test)
{
	u64 state = 0x9e3779b97f4a7c15ULL;
	unsigned long used = module_used_pages(), before = 0;
	char *image = copy_of_sample(test);
	size_t loaded = 0, rounds = 1500;
	struct module_error error;

	for (size_t round = 0; round < rounds; round++) {
		size_t at[4];

		for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			/* Headers and tables are at the ends; one of two goes there. */
			at[i] = (size_t)(state >> 33) % sample_size();
			if (i & 1)
				at[i] = sample_size() - 1 - at[i] % (sample_size() / 4);
			image[at[i]] = (char)(state >> 25);
		}
		if (try_image(image, sample_size(), &error) == 0)
			loaded++;
		else
			KUNIT_EXPECT_GT(test, strlen(error.text), 5);
		for (size_t i = 0; i < ARRAY_SIZE(at); i++)
			image[at[i]] = module_sample_start[at[i]];
		/* Shadow and page tables of the addresses exist by now. */
		if (round == rounds / 2)
			before = free_memory();
	}
	KUNIT_EXPECT_GT(test, loaded, 0);
	KUNIT_EXPECT_LT(test, loaded, rounds);
	KUNIT_EXPECT_EQ(test, module_used_pages(), used);
	/* A damaged size may ask for more address space than any before, and its shadow and tables stay. A leak
	 * in every load would be more than this. */
	KUNIT_EXPECT_GE(test, free_memory() + 256, before);
	KUNIT_EXPECT_EQ(test, try_image(image, sample_size(), &error), 0);
	vfree(image);
}

/* --- Traces and reports ------------------------------------------------------------------------------ */

static void symbols_outlive(struct kunit *test)
{
	char text[KSYM_SYMBOL_LEN];
	unsigned long pc;
	struct module *m;

	KUNIT_ASSERT_EQ(test, load_sample(0, &m), 0);
	pc = module_address(m, "sample_cold") + 4;
	sprint_symbol(text, pc);
	KUNIT_EXPECT_EQ(test, str_has_prefix(text, "sample_cold+0x4/0x"),
			strlen("sample_cold+0x4/0x"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, " [module_sample]"));
	sprint_symbol(text, m->parts[MODULE_DATA].start);
	KUNIT_EXPECT_EQ(test, str_has_prefix(text, "0xffff"), 6);
	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), 0);
	/* Old traces still have names, until the module is forgotten. */
	sprint_symbol(text, pc);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, " [module_sample]"));
	module_purge();
	sprint_symbol(text, pc);
	KUNIT_EXPECT_EQ(test, str_has_prefix(text, "0xffff"), 6);
}

static void again_and_again(struct kunit *test)
{
	unsigned long before = 0;
	struct module *m;

	for (int i = 0; i < 160; i++) {
		if (i == 20)
			before = free_memory();
		KUNIT_ASSERT_EQ(test, load_sample(i & 1 ? MODULE_LOAD_FAR : 0, &m), 0);
		KUNIT_EXPECT_EQ(test, FN(m, sample_sum)(i, i), 2 * i);
		KUNIT_EXPECT_EQ(test, unload_module("module_sample"), 0);
	}
	/* Other threads come and go meanwhile; a page lost in every load would be 140. */
	KUNIT_EXPECT_GE(test, free_memory() + 100, before);
}

/* Real shadow that is not vmalloc space's: modules' and a few pages of RAM's that never change. */
static unsigned long module_shadow(void)
{
	return kasan_shadow_pages() - kasan_vmalloc_shadow_pages();
}

static void shadow_goes_when_forgotten(struct kunit *test)
{
	unsigned long before, loaded;
	struct module *near, *far;

	module_purge();
	before = module_shadow();
	KUNIT_ASSERT_EQ(test,
			load_module("near", module_sample_start, sample_size(), 0, &near, NULL), 0);
	KUNIT_ASSERT_EQ(
		test,
		load_module("far", module_sample_start, sample_size(), MODULE_LOAD_FAR, &far, NULL),
		0);
	loaded = module_shadow();
#ifdef CONFIG_KASAN_SHADOW_OFFSET
	KUNIT_EXPECT_EQ(test, loaded, before + (near->span + far->span) / KASAN_SHADOW_PAGE_SPAN);
#endif
	KUNIT_EXPECT_EQ(test, unload_module("near"), 0);
	KUNIT_EXPECT_EQ(test, unload_module("far"), 0);
	/* Reports of late accesses still name the module. */
	KUNIT_EXPECT_EQ(test, module_shadow(), loaded);
	module_purge();
	KUNIT_EXPECT_EQ(test, module_shadow(), before);
}

static int loading_thread(void *arg)
{
	char name[MODULE_NAME_LEN], text[KSYM_SYMBOL_LEN];
	int errors = 0;

	snprintf(name, sizeof(name), "sample_%lu", (unsigned long)(uintptr_t)arg);
	for (int i = 0; i < 25; i++) {
		struct module *m;

		if (load_module(name, module_sample_start, sample_size(), 0, &m, NULL)) {
			errors++;
			continue;
		}
		errors += FN(m, sample_sum)(i, 1) != i + 1;
		sprint_symbol(text, module_address(m, "sample_sum"));
		errors += !strstr(text, name);
		errors += unload_module(name) != 0;
	}
	return errors;
}

static void on_all_cpus(struct kunit *test)
{
	unsigned int n = num_online_cpus();
	struct task *tasks[NR_CPUS];

	for (unsigned int i = 0; i < n; i++) {
		tasks[i] = kthread_run(loading_thread, (void *)(uintptr_t)i, "module_load");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
}

#ifdef CONFIG_KASAN
static void bugs(struct kunit *test)
{
	char text[KSYM_SYMBOL_LEN], *object;
	struct module *m;

	kunit_needs(test, kasan_on(), "KASAN that is on");
	KUNIT_ASSERT_EQ(test, load_sample(0, &m), 0);
	if (KASAN_TEST_GLOBALS)
		KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 1,
				 FN(m, sample_read_array)(SAMPLE_ARRAY_SIZE));
	if (KASAN_TEST_GLOBALS && kasan_expect_last()->bug_type) {
		sprint_backtrace(text, kasan_expect_last()->ip);
		KUNIT_EXPECT_EQ(test, str_has_prefix(text, "sample_read_array+0x"), 20);
		KUNIT_EXPECT_NOT_NULL(test, strstr(text, " [module_sample]"));
	}
	KUNIT_EXPECT_EQ(test, FN(m, sample_read_copy)(1, SAMPLE_ARRAY_SIZE - 1), 0);
	if (KASAN_TEST_GLOBALS) {
		KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 1,
				 FN(m, sample_read_copy)(1, SAMPLE_ARRAY_SIZE));
		KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 1,
				 FN(m, sample_read_copy)(0, SMP_CACHE_BYTES - 1));
	}
	object = FN(m, sample_alloc)(13);
	KUNIT_ASSERT_NOT_NULL(test, object);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
			 FN(m, sample_read)(object, KASAN_END(13)));
	kfree(object);
	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), 0);
}

/* Allocated by code that has gone: its frames are printed, with names and without. */
static void bugs_after_unloading(struct kunit *test)
{
	struct module *m;
	char *object;
	void *data;

	kunit_needs(test, kasan_on(), "KASAN that is on");
	KUNIT_ASSERT_EQ(test, load_sample(0, &m), 0);
	object = FN(m, sample_alloc)(30);
	data = TAGGED(m->parts[MODULE_DATA].start);
	HIDE_VAR(data);
	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), 0);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
			 READ_ACCESS(object[KASAN_END(30)]));
	KASAN_EXPECT_BUG(test, KASAN_TYPE_UNMAPPED, KASAN_READ, 4, kasan_check_read(data, 4));
	module_purge();
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
			 READ_ACCESS(object[KASAN_END(31)]));
	kfree(object);
}
#endif

static struct kunit_case module_test_cases[] = {
	KUNIT_CASE(init_and_exit),
	KUNIT_CASE(near_code),
	KUNIT_CASE(far_code),
	KUNIT_CASE(protection),
	KUNIT_CASE(references),
	KUNIT_CASE(init_fails),
	KUNIT_CASE(names),
	KUNIT_CASE(damaged_fields),
	KUNIT_CASE(truncated),
	KUNIT_CASE(corrupted),
	KUNIT_CASE(symbols_outlive),
	KUNIT_CASE(again_and_again),
	KUNIT_CASE(shadow_goes_when_forgotten),
	KUNIT_CASE(on_all_cpus),
#ifdef CONFIG_KASAN
	KUNIT_CASE(bugs),
	KUNIT_CASE(bugs_after_unloading),
#endif
	{},
};

KUNIT_SUITE(module, module_test_cases, KASAN_SUITE_INIT);

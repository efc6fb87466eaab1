/* SPDX-License-Identifier: MIT */
/* options.h - all boot parameters of KASAN: the only source of the parser (options.c) and of the table in
 * docs/use/boot-parameters.md. */
#ifndef KASAN_OPTIONS_H
#define KASAN_OPTIONS_H

/* Builds in which a parameter has an effect. Others check its value and say that it has none. */
#define KASAN_IN_GENERIC 1U
#define KASAN_IN_SW_TAGS 2U
#define KASAN_IN_HW_TAGS 4U
#define KASAN_IN_TAGS	 (KASAN_IN_SW_TAGS | KASAN_IN_HW_TAGS)
#define KASAN_IN_ALL	 (KASAN_IN_GENERIC | KASAN_IN_TAGS)

#define KASAN_STRING2(x) #x
#define KASAN_STRING(x)	 KASAN_STRING2(x)

/**
 * KASAN_OPTIONS() - expand @OPTION(name, modes, kind, low, high, target, values, fallback, help) for each
 *
 * modes: KASAN_IN_*. kind: of struct setting in options.c. low, high: bounds of a number, or 0. target: SETS(<name>),
 * the variable kasan_opt_<name>, APPLIES(<name>), a function in options.c, or APPLIES_AND_SETS(<name>), a function that
 * sets the variable. values: the accepted values; several words separated by "|" are accepted as they are. fallback: the
 * value without the parameter.
 */
#ifdef KASAN_DEPOT_IS_SMALL
#define KASAN_DEPOT_VALUES  "a size as in 4K, from 2K to the size that the system was built with"
#define KASAN_DEPOT_DEFAULT "the largest"
#else
#define KASAN_DEPOT_VALUES \
	"a size as in 512K or 16M, from 64K to " KASAN_STRING(KASAN_DEPOT_MAX_MIB) "M"
#define KASAN_DEPOT_DEFAULT "8M"
#endif

#ifdef CONFIG_KASAN_SAMPLE
#define KASAN_IN_SAMPLE	     KASAN_IN_ALL
#define KASAN_SAMPLE_TARGET  SETS(sample_interval)
#define KASAN_SAMPLE_DEFAULT KASAN_STRING(CONFIG_KASAN_SAMPLE_INTERVAL)
#else
#define KASAN_IN_SAMPLE	     0U
#define KASAN_SAMPLE_TARGET  .variable = NULL
#define KASAN_SAMPLE_DEFAULT "0"
#endif

#ifdef CONFIG_KASAN_OVERLAP
#define KASAN_IN_OVERLAP     KASAN_IN_ALL
#define KASAN_OVERLAP_TARGET SETS(overlap)
#else
#define KASAN_IN_OVERLAP     0U
#define KASAN_OVERLAP_TARGET .variable = NULL
#endif

#define KASAN_OPTIONS(OPTION)                                                                      \
	OPTION("kasan", KASAN_IN_ALL, SWITCH, 0, 0, APPLIES(kasan), "on|off", "on",                \
	       "off: nothing is poisoned, tagged, stored or reported, as without KASAN")           \
	OPTION("kasan.fault", KASAN_IN_ALL, WORDS, 0, 0, SETS(fault),                              \
	       "report|panic|panic_on_write", "report",                                            \
	       "what to do after a report; panic_on_write: panic after bad writes and frees only") \
	OPTION("kasan_multi_shot", KASAN_IN_ALL, FLAG, 0, 0, SETS(multi_shot), "on|off", "off",    \
	       "report every bug, not only the first; without a value: on")                        \
	OPTION("kasan.repeat", KASAN_IN_ALL, WORDS, 0, 0, SETS(repeat_full), "brief|full",         \
	       "brief",                                                                            \
	       "with kasan_multi_shot, a place that was reported before: a line for the "          \
	       "2nd, 4th, 8th time and so on, or all again")                                       \
	OPTION("kasan.ignore", KASAN_IN_ALL, LIST, 0, 0, .variable = NULL,                         \
	       "up to 16 names of functions as in f,g or drv_*, nothing for none", "none",         \
	       "leave out reports whose call trace has one of these functions")                    \
	OPTION("kasan.stacktrace", KASAN_IN_ALL, TRACES, 0, 0, APPLIES_AND_SETS(stacktrace),       \
	       "on|off|collect", "on",                                                             \
	       "store the stacks of allocations and frees; collect: make them, and drop them")     \
	OPTION("kasan.sample", KASAN_IN_SAMPLE, NUMBER, 0, INT32_MAX, KASAN_SAMPLE_TARGET,         \
	       "a number of milliseconds, from 0 to 2147483647", KASAN_SAMPLE_DEFAULT,             \
	       "place one allocation in so much time between guard pages; 0: none")                \
	OPTION("kasan.overlap", KASAN_IN_OVERLAP, SWITCH, 0, 0, KASAN_OVERLAP_TARGET, "on|off",    \
	       "on", "report memcpy() and copies of strings whose ranges overlap")                 \
	OPTION("kasan.depot_size", KASAN_IN_ALL, SIZE, KASAN_DEPOT_LEAST, KASAN_DEPOT_MOST,        \
	       APPLIES(depot_size), KASAN_DEPOT_VALUES, KASAN_DEPOT_DEFAULT,                       \
	       "bytes that stack traces may take")                                                 \
	OPTION("kasan.quarantine_size", KASAN_IN_GENERIC, SIZE, 0, SIZE_MAX,                       \
	       APPLIES(quarantine_size), "a size as in 512K or 16M, at most half of memory",       \
	       "1/32 of memory", "bytes of freed objects to hold back; 0: none")                   \
	OPTION("kasan.stack_ring_size", KASAN_IN_TAGS, NUMBER, 16, 4194304, SETS(stack_ring_size), \
	       "a number of entries, from 16 to 4194304", "32768",                                 \
	       "allocations and frees whose stacks are remembered; rounded up to a power of two, " \
	       "and to 128 for each CPU, or 32 if there may be more than 256")                     \
	OPTION("kasan.tag_policy", KASAN_IN_TAGS, WORDS, 0, 0, APPLIES_AND_SETS(tag_policy),       \
	       "adjacent|random", "adjacent",                                                      \
	       "adjacent: neighbours, and an object and its predecessor, never have the same tag") \
	OPTION("kasan.mode", KASAN_IN_HW_TAGS, WORDS, 0, 0, SETS(hw_mode), "sync|async|asymm",     \
	       "sync",                                                                             \
	       "when a bad access is seen: at once, later, or reads at once and writes later")     \
	OPTION("kasan.vmalloc", KASAN_IN_HW_TAGS, SWITCH, 0, 0, SETS(vmalloc), "on|off", "on",     \
	       "tag vmalloc areas")                                                                \
	OPTION("kasan.slack", KASAN_IN_HW_TAGS, WORDS, 0, 0, SETS(slack), "off|check", "off",      \
	       "check: unused bytes of an object's last granule hold a pattern, compared at free") \
	OPTION("kasan.page_alloc.sample", KASAN_IN_HW_TAGS, NUMBER, 1, INT32_MAX, SETS(sample),    \
	       "a number from 1 to 2147483647", "1",                                               \
	       "tag only every Nth page allocation of at least the sampled order; 1: all of them") \
	OPTION("kasan.page_alloc.sample.order", KASAN_IN_HW_TAGS, NUMBER, 0, 64,                   \
	       SETS(sample_order), "a number from 0 to 64", "3",                                   \
	       "smallest order of page allocations that are sampled")                              \
	OPTION("kasan.write_only", KASAN_IN_HW_TAGS, SWITCH, 0, 0, SETS(write_only), "on|off",     \
	       "off", "check writes only, where the CPU can do that (FEAT_MTE_STORE_ONLY)")

#endif /* KASAN_OPTIONS_H */

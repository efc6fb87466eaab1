// SPDX-License-Identifier: MIT
/*
 * tables.c - how full the validator's tables are, and which classes were held longest: for the parameter lock_events.
 */
#include <kernel/arch.h>
#include <kernel/time.h>

#include "internal.h"

/* As many as a reader looks at. */
#define TOP_CLASSES 10U

static u64 in_ns(u64 counts)
{
	return counts * NSEC_PER_SEC / arch_counter_hz();
}

static void print_classes(void)
{
	bool printed[NR_CLASSES] = {false};
	char name[CLASS_NAME_LEN];

	pr_info("lock_events: classes by longest hold:\n");
	for (unsigned int row = 0; row < TOP_CLASSES; row++) {
		unsigned int best = 0;

		for (unsigned int class = 1; class < NR_CLASSES; class ++) {
			if (lock_classes[class].key && !printed[class] &&
			    lock_classes[class].longest > (best ? lock_classes[best].longest : 0))
				best = class;
		}
		if (!best)
			break;
		printed[best] = true;
		pr_info("lock_events:  %s contended %lu longest %lu ns\n", class_name(name, best),
			lock_classes[best].contended,
			(unsigned long)in_ns(lock_classes[best].longest));
	}
}

void lockdep_print_tables(void)
{
	struct lockdep_counts counts;

	lockdep_counts(&counts);
	pr_info("lock_events: %u of %u classes, %u of %u dependencies, %u of %u sequences\n",
		counts.classes, counts.max_classes, counts.deps, counts.max_deps, counts.chains,
		counts.max_chains);
	print_classes();
}

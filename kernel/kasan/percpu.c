// SPDX-License-Identifier: MIT
/*
 * percpu.c - tells reports which per-CPU variable an address is in: one of the image, of a module, or from the heap.
 *
 * Not instrumented, like all of the port. It runs in reports, takes no lock, and reads only what can be read.
 */
#include <kasan/kasan.h>

#if defined(CONFIG_KASAN_PERCPU) && defined(CONFIG_KASAN)

#include <kasan/port.h>
#include <kernel/module.h>
#include <kernel/percpu.h>

static bool find_in(const struct percpu_var *vars, size_t nr, uintptr_t addr,
		    struct kasan_percpu *found)
{
	for (; nr; nr--, vars++) {
		found->first = (uintptr_t)kasan_reset_tag(vars->first);
		if (addr - found->first >= NR_CPUS * vars->stride)
			continue;
		found->size = vars->size;
		found->stride = vars->stride;
		found->copies = NR_CPUS;
		found->name = vars->name;
		return true;
	}
	return false;
}

/* The table of a module goes after its reports have ended. */
static bool find_in_module(uintptr_t addr, struct kasan_percpu *found)
{
	size_t nr = 0;
	const struct percpu_var *vars = module_percpu(addr, &nr);

	return vars && kasan_port_readable(vars, nr * sizeof(*vars)) &&
	       find_in(vars, nr, addr, found);
}

bool kasan_port_find_percpu(uintptr_t addr, struct kasan_percpu *found)
{
	struct kasan_object object = {};
	uintptr_t start;

	if (find_in(__percpu_vars_start, (size_t)(__percpu_vars_end - __percpu_vars_start), addr,
		    found) ||
	    find_in_module(addr, found))
		return true;
	if (!kasan_port_find_object((const void *)addr, &object))
		return false;
	start = (uintptr_t)kasan_reset_tag(object.start);
	return kasan_port_readable(object.start, PERCPU_HEAD) &&
	       percpu_find_object(object.start, found) &&
	       addr - start < PERCPU_HEAD + found->copies * found->stride;
}

#endif

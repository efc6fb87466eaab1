// SPDX-License-Identifier: MIT
/*
 * module.c - fuzzes the module loader, kernel/module/, and the relocations of kernel/arch/arm64/module.c. A file that is
 * accepted is mapped, relocated and unloaded again; none of its code runs. The loader's files are the program's own, with
 * a list of modules of their own.
 */
#include <stddef.h>
#include <stdint.h>

#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int flags = MODULE_LOAD_NO_RUN;
	struct module_error error = {""};
	struct module *module;
	int err;

	if (size && data[size - 1] & 1)
		flags |= MODULE_LOAD_FAR;
	err = load_module("fuzz", data, size, flags, &module, &error);
	BUG_ON((err != 0) != (module == NULL));
	BUG_ON(err && !error.text[0]);
	if (!err) {
		module_info(module, "license");
		module_address(module, "fuzz_init");
		BUG_ON(unload_module("fuzz"));
	}
	module_purge();
	BUG_ON(module_used_pages());
	return 0;
}

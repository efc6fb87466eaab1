/* SPDX-License-Identifier: MIT */
/* abi.c - the fixed-size access callbacks as a table. */
#include "abi.h"

#define ABI_ACCESS(name, size, is_write) {#name, name, size, is_write},
#define ABI_SIZED(name, is_write)
#define ABI_REPORT(name, size, is_write)
#define ABI_REPORT_N(name, is_write)
#define ABI_ACCESS_ABORT(name, size, is_write)
#define ABI_SIZED_ABORT(name, is_write)
#define ABI_REPORT_ABORT(name, size, is_write)
#define ABI_REPORT_N_ABORT(name, is_write)
#define ABI_OTHER(name)

const struct access_fn access_fns[] = {
#include "abi_symbols.def"
	{NULL, NULL, 0, false},
};

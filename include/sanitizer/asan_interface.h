/* SPDX-License-Identifier: MIT */
/* asan_interface.h - for systems without their compilers' headers, under the name that these have. */
#include <kasan/asan_interface.h>
#include "common_interface_defs.h"

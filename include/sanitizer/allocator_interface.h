/* SPDX-License-Identifier: MIT */
/* allocator_interface.h - for systems without their compilers' headers, under the name that these have. */
#include <kasan/asan_interface.h>

/* SPDX-License-Identifier: MIT */
/*
 * kasan_config.h - the runtime's options in U-Boot.
 *
 * The shadow's place is known only at boot, where U-Boot has measured its RAM: there is no offset here, the
 * first window decides (see start.c).
 */
#ifndef UBOOT_KASAN_CONFIG_H
#define UBOOT_KASAN_CONFIG_H

#define CONFIG_KASAN_GENERIC	     1
#define CONFIG_KASAN_SHADOW_WINDOWED 1
#define CONFIG_KASAN_NR_CPUS	     1
#define CONFIG_KASAN_MAX_WINDOWS     2
#define CONFIG_KASAN_DEPOT_SIZE	     (4UL << 20)

#endif /* UBOOT_KASAN_CONFIG_H */

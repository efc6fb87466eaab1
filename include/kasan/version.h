/* SPDX-License-Identifier: MIT */
/*
 * version.h - the version of Redzone, stated here and nowhere else.
 *
 * CMakeLists.txt and ./redzone read the three numbers from this file, the kernel's banner prints the text. Until 1.0.0
 * a change of the hooks or of the porting contract raises the minor number.
 */
#ifndef KASAN_VERSION_H
#define KASAN_VERSION_H

#define REDZONE_VERSION_MAJOR 0
#define REDZONE_VERSION_MINOR 2
#define REDZONE_VERSION_PATCH 0

/* Two macros: the inner one would otherwise make text of the names instead of their numbers. */
#define REDZONE_VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define REDZONE_VERSION_TEXT(major, minor, patch)  REDZONE_VERSION_TEXT_(major, minor, patch)

/* "0.2.0" */
#define REDZONE_VERSION \
	REDZONE_VERSION_TEXT(REDZONE_VERSION_MAJOR, REDZONE_VERSION_MINOR, REDZONE_VERSION_PATCH)

#endif /* KASAN_VERSION_H */

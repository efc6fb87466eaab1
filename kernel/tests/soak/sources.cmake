# SPDX-License-Identifier: MIT
# The soak test, a program for an image of its own; it loads module_soak.c as a module.
set(REDZONE_TESTS_SOAK_SOURCES main.c traffic.c vmem.c deferred.c modules.c bugs.c tag_bugs.c lock_bugs.c
    sample_bugs.c
    soak_blob.S)

/* SPDX-License-Identifier: MIT */
/*
 * slab_cost.h - what an object of each size really costs; docs/slab-cost.md shows the same table.
 *
 * SLAB_COST(size class, then without KASAN: slot, objects, pages; then Generic: slot, objects, pages):
 * bytes from one object to the next, and how many objects a slab of how many pages holds. No include
 * guard: it is included for the table.
 */
SLAB_COST(8, 8, 512, 1, 48, 85, 1)
SLAB_COST(16, 16, 256, 1, 48, 85, 1)
SLAB_COST(32, 32, 128, 1, 64, 63, 1)
SLAB_COST(64, 64, 64, 1, 128, 31, 1)
SLAB_COST(96, 96, 42, 1, 128, 31, 1)
SLAB_COST(128, 128, 32, 1, 256, 15, 1)
SLAB_COST(192, 192, 21, 1, 256, 15, 1)
SLAB_COST(256, 256, 16, 1, 512, 7, 1)
SLAB_COST(512, 512, 8, 1, 1024, 7, 2)
SLAB_COST(1024, 1024, 4, 1, 2048, 7, 4)
SLAB_COST(2048, 2048, 4, 2, 4096, 7, 8)
SLAB_COST(4096, 4096, 4, 4, 8192, 7, 15)
SLAB_COST(8192, 8192, 4, 8, 16384, 7, 30)

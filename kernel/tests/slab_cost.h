/* SPDX-License-Identifier: MIT */
/*
 * slab_cost.h - the cost of an object of each size; bench/slab-cost.md shows the same table.
 *
 * SLAB_COST(size class, then without KASAN: slot, objects, pages; then Generic: slot, objects, pages):
 * bytes from one object to the next, and how many objects a slab of how many pages holds.
 *
 * SLAB_COST_KEPT(object size, then without KASAN: slot, slot with a constructor or SLAB_TYPESAFE_BY_RCU; then
 * Generic: the same two): of caches that are aligned to 8 bytes.
 *
 * No include guard: it is included for the tables.
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

SLAB_COST_KEPT(4, 8, 16, 56, 56)
SLAB_COST_KEPT(8, 8, 16, 48, 56)
SLAB_COST_KEPT(16, 16, 24, 40, 64)
SLAB_COST_KEPT(40, 40, 48, 64, 88)
SLAB_COST_KEPT(64, 64, 72, 88, 112)
SLAB_COST_KEPT(96, 96, 104, 128, 144)
SLAB_COST_KEPT(200, 200, 208, 264, 264)

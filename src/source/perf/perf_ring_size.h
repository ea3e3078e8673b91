/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ring_size: how much memory the rings of one CPU may take.
 *
 * By what the user allows, else by what is sampled and by what this machine
 * lets be locked. Sizes are bytes of one CPU; the source rounds and, where the
 * kernel refuses, halves them. Nothing is held. Any thread. Uses: source.
 */
#ifndef ASSAY_SOURCE_PERF_PERF_RING_SIZE_H
#define ASSAY_SOURCE_PERF_PERF_RING_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All the memory that this machine has, which buffers share with whatever else runs. */
uint64_t perf_ring_size_machine(void);

/* `asked_bytes`: for all CPUs together, 0: by itself; `stacks`: samples hold stack copies. */
size_t perf_ring_size(uint64_t asked_bytes, bool stacks);

/* Of the ring beside one of `ring_bytes` with stack copies, for what tells who runs. */
size_t perf_ring_size_track(size_t ring_bytes);

#endif

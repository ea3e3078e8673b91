/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_ring_size: the memory for the rings of one CPU.
 *
 * The size is given by the user, or else by the type of samples and the limit for locked memory.
 * Sizes are bytes for each CPU; the source rounds them, and halves them if the kernel refuses them.
 * No state. Any thread. Uses: source.
 */
#ifndef ASSAY_SOURCE_PERF_PERF_RING_SIZE_H
#define ASSAY_SOURCE_PERF_PERF_RING_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The machine's memory, which the rings share with all other programs. */
uint64_t perf_ring_size_machine(void);

/* `asked_bytes`: for all CPUs together, 0: automatic; `stacks`: samples contain stack copies. */
size_t perf_ring_size(uint64_t asked_bytes, bool stacks);

/*
 * The size of the second ring, for FORK, COMM and MMAP records, beside a ring of `ring_bytes` with
 * stack copies.
 */
size_t perf_ring_size_track(size_t ring_bytes);

#endif

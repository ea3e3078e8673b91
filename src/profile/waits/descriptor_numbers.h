/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descriptor_numbers: which file the number of an open descriptor refers to at present, for each
 * process.
 *
 * Files are ids: entries of the descriptors of the profile's wait_log. A zeroed struct is empty;
 * descriptor_numbers_done() frees. Nothing fails. One thread: the builder and the counter of a
 * profile have a table each, since the counter is behind. Uses: base.
 */
#ifndef ASSAY_PROFILE_WAITS_DESCRIPTOR_NUMBERS_H
#define ASSAY_PROFILE_WAITS_DESCRIPTOR_NUMBERS_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

#include <stdint.h>

struct descriptor_number {
	uint32_t process, number, descriptor;
};

struct descriptor_numbers {
	struct id_table index;
	VEC(struct descriptor_number) items;
};

/* From now on the number refers to `descriptor`. */
void descriptor_numbers_set(struct descriptor_numbers *n, uint32_t process, uint32_t number,
                            uint32_t descriptor);
/* ID_NONE: not known. `number` may be any argument of a system call. */
uint32_t descriptor_numbers_get(const struct descriptor_numbers *n, uint32_t process,
                                uint64_t number);
void descriptor_numbers_done(struct descriptor_numbers *n);

#endif

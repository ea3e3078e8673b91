/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_addresses: to which file the addresses belong for which threads waited, such as futexes.
 *
 * Maps of processes are dropped after their end, so the mapping of code below an address is kept
 * when the wait is added: data of a program or library follows its code. A view finds the variable
 * with the file's symbols. Memory is bounded by WAIT_ADDRESSES_MAX; later addresses are not added.
 * A zeroed struct is empty; wait_addresses_done() frees. Nothing fails. One thread. Uses: base,
 * process.
 */
#ifndef ASSAY_PROFILE_WAITS_WAIT_ADDRESSES_H
#define ASSAY_PROFILE_WAITS_WAIT_ADDRESSES_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"
#include "process/process.h"

#define WAIT_ADDRESSES_MAX (1u << 20)

struct wait_address {
	uint32_t process;
	uint64_t address;
	struct frame code;     /* the first byte of the mapping of code below the address */
	uint64_t code_address; /* where this byte was mapped; 0: no code is below the address */
	uint32_t region;       /* image of the mapping that contains the address; ID_NONE: the
	                        * recording has no mappings of data (-d) */
	/* If they were looked up already: the variable and the bytes from its start, or the place
	 * in the data of the code's file. NULL, false: not known. */
	const char *variable;
	uint64_t variable_offset, place;
	bool has_place;
};

struct wait_addresses {
	VEC(struct wait_address) items;
	struct id_table index;
};

/* Addresses in the first pages, which are no addresses, are not added. */
void wait_addresses_add(struct wait_addresses *p, struct process_table *processes, uint32_t process,
                        uint64_t address);
/* Adds what another one has, with ids of this one. */
void wait_addresses_put(struct wait_addresses *p, const struct wait_address *address);
/* NULL: the address was not added. */
const struct wait_address *wait_addresses_find(const struct wait_addresses *p, uint32_t process,
                                               uint64_t address);
void wait_addresses_done(struct wait_addresses *p);

#endif

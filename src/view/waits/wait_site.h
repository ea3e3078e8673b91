/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_site: which function waits most for a futex at an address that belongs to no variable: a
 * lock in memory that was allocated is known by its users.
 *
 * The functions of all waits of the log are added up once, when the first one is asked for. A
 * zeroed struct is empty; wait_sites_done() frees. Nothing fails. One thread. Uses: base, profile,
 * view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_SITE_H
#define ASSAY_VIEW_WAITS_WAIT_SITE_H

#include "view/waits/wait_cause.h"

struct wait_site {
	uint32_t process;
	uint64_t address;
	const struct symbol *function; /* NULL: the best of the address */
	const struct symbol *best;     /* of the entry without a function */
	uint64_t ns, best_ns;
};

/* The name of the function that waited longest for it; NULL: none is known. */
const char *wait_site_function(struct wait_causes *c, const struct wait_log *log, uint32_t process,
                               uint64_t address);

#endif

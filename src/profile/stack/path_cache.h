/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_cache: from a sample's call chain to a path of the profile.
 *
 * Walks the chain once, outermost frame first. A direct-mapped cache spares
 * the three look-ups (mapping, frame, path) of each step that was made before
 * with the same maps. Deep stacks come in parts: the path of an outer stack is
 * kept for the maps that it was last asked with, so that a sample costs its
 * inner frames alone, however deep it stands. Chains are bytes from a file:
 * marks alone, marks that nobody knows and endless ones are taken as they
 * come; at most CHAIN_FRAMES innermost frames of a chain are kept, and
 * OUTER_FRAMES of outer stacks. Uses: base, event, process, profile.
 */
#ifndef ASSAY_PROFILE_STACK_PATH_CACHE_H
#define ASSAY_PROFILE_STACK_PATH_CACHE_H

#include "profile/profile.h"

#define CHAIN_FRAMES 8192
#define OUTER_FRAMES 65536

struct path_cache;

/* Of so many steps, a power of two, 32 bytes each; all are touched by a renewal. */
struct path_cache *path_cache_new(struct profile *p, uint32_t slots);
void path_cache_free(struct path_cache *c);

/* What samples with that number of an outer stack stand on, from now on. */
void path_cache_define(struct path_cache *c, const struct event_outer_stack *outer);

/*
 * All paths, frames and maps are others from now on. Outer stacks stay that were defined or
 * asked for since the last time: only those can be met again.
 */
void path_cache_renew(struct path_cache *c);

/* The path of a sample of that process; flat: the sampled address alone. */
uint32_t path_cache_path(struct path_cache *c, uint32_t process, const struct event *e, bool flat);

#endif

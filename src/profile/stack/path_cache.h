/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_cache: maps a sample's call chain to a path of the profile.
 *
 * The chain is walked once, outermost frame first. A direct-mapped cache avoids the three lookups
 * (mapping, frame, path) of steps that were made before with the same mappings. Deep stacks have
 * parts: the path of an outer stack is stored for the mappings with which it was last used, so that
 * the cost of a sample depends only on its inner frames. Chains are untrusted bytes from a file:
 * marks without addresses, unknown marks and too long chains are accepted; at most CHAIN_FRAMES
 * innermost frames of a chain are used, and OUTER_FRAMES of outer stacks. Uses: base, event,
 * process, profile.
 */
#ifndef ASSAY_PROFILE_STACK_PATH_CACHE_H
#define ASSAY_PROFILE_STACK_PATH_CACHE_H

#include "profile/profile.h"

#define CHAIN_FRAMES 8192
#define OUTER_FRAMES 65536

struct path_cache;

/* `slots`: number of cached steps, a power of two, 32 bytes each; a renewal writes all of them. */
struct path_cache *path_cache_new(struct profile *p, uint32_t slots);
void path_cache_free(struct path_cache *c);

/* Defines the outer stack of later samples with that number. */
void path_cache_define(struct path_cache *c, const struct event_outer_stack *outer);

/*
 * Invalidates all paths, frames and mappings. Outer stacks that were defined or used since the last
 * call are kept; only these can be used again.
 */
void path_cache_renew(struct path_cache *c);

/* The path of a sample of that process; flat: only the sampled address. */
uint32_t path_cache_path(struct path_cache *c, uint32_t process, const struct event *e, bool flat);

#endif

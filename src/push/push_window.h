/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_window: from the profile of a window to one symbolized profile for each service and set of
 * labels.
 *
 * Names of functions come from a function of the caller (store_name_fn), as for stores: symbol
 * tables, no lines, no inlined functions. Names are kept from window to window, in bounded memory.
 * Samples of idle CPUs are not included. Samples of the main event only.
 *
 *	w = push_window_new(&options)
 *	push_window_split(w, profile, start_ns, end_ns, fn, ctx, err)
 *	push_window_free(w)	NULL-safe
 *
 * One thread. Times are ns since 1970. Uses: base, profile, store.
 */
#ifndef ASSAY_PUSH_PUSH_WINDOW_H
#define ASSAY_PUSH_PUSH_WINDOW_H

#include "profile/symbolized_profile.h"
#include "push/push_service.h"
#include "store/store.h"

struct push_window;

struct push_window_options {
	store_name_fn *name;
	void *name_ctx;
	const char *service; /* of all processes; NULL: by cgroup */
};

/* Not 0: ends the call with this result. */
typedef int push_window_fn(void *ctx, const struct push_group *group, struct symbolized_profile *n,
                           struct error *err);

struct push_window *push_window_new(const struct push_window_options *o);
int push_window_split(struct push_window *w, const struct profile *p, uint64_t start_ns,
                      uint64_t end_ns, push_window_fn *fn, void *ctx, struct error *err);
/* Processes that were sent without their labels, in all windows. */
uint64_t push_window_unlabelled(const struct push_window *w);
void push_window_free(struct push_window *w);

#endif

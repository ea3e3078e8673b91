/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_paths: the call paths of a profile as paths of a comparison.
 *
 * diff_paths_begin() / diff_paths_done(); the runs and the view must outlive it. Each frame is
 * named once. Nothing fails. One thread. Uses: profile, symbol, view.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_PATHS_H
#define ASSAY_VIEW_DIFF_DIFF_PATHS_H

#include "view/diff/diff_runs.h"
#include "view/view.h"

struct diff_paths {
	struct diff_runs *runs;
	struct view *view;
	uint32_t run;
	/* By node of a path: its path in the runs + 1, or 0. [0] busy time, [1] interrupts. */
	uint32_t *paths[2];
	uint32_t *rows[DIFF_CLASSES]; /* per frame, likewise */
	struct buf text;
};

struct diff_paths diff_paths_begin(struct diff_runs *t, uint32_t run, struct view *v);
void diff_paths_done(struct diff_paths *s);

/* The path of a node, made from its outermost node on. `interrupt`: kernel frames are of an
 * interrupt. */
uint32_t diff_paths_of(struct diff_paths *s, uint32_t node, bool interrupt);

#endif

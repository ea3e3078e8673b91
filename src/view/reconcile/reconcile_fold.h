/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile_fold: finds the counted function to which a sampled call path belongs: the innermost
 * one in the path. Code without hooks, in libraries or inlined, belongs to its caller.
 *
 * The nodes of a tree of call paths are folded one by one, callers first:
 *
 *	struct reconcile_fold f = reconcile_fold_none();
 *	reconcile_fold_step(t, &f, function);	for each function of the node, outermost first
 *
 * Private to view/reconcile. Nothing fails. Uses: base.
 */
#ifndef ASSAY_VIEW_RECONCILE_RECONCILE_FOLD_H
#define ASSAY_VIEW_RECONCILE_RECONCILE_FOLD_H

#include "view/reconcile/reconcile_runs.h"

struct reconcile_fold {
	uint32_t function; /* counted; 0: none */
	bool hook;         /* code of a hook, below `function` */
	bool folded;       /* other code without hooks, below `function` */
};

static inline struct reconcile_fold reconcile_fold_none(void)
{
	return (struct reconcile_fold){0};
}

/* `name`: of the function, for hooks. */
void reconcile_fold_step(struct reconcile_runs *t, struct reconcile_fold *f, uint32_t function,
                         const char *name);

/* Adds time of a folded path to its row. */
void reconcile_fold_add(struct reconcile_runs *t, uint32_t run, const char *process,
                        const struct reconcile_fold *f, double count, double cpu_ns);
/* The row of a folded path. */
uint32_t reconcile_fold_row(struct reconcile_runs *t, const char *process,
                            const struct reconcile_fold *f);

#endif

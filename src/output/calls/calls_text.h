/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_text: the report on call paths as text. The output is plain and stable if there is no
 * terminal; on a terminal it fits the width, with fewer columns if it is narrow. The text is passed
 * on in pieces, so memory does not grow with the number of paths. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_CALLS_CALLS_TEXT_H
#define ASSAY_OUTPUT_CALLS_CALLS_TEXT_H

#include "output/text/table.h"
#include "view/calls/call_report.h"

/* Nodes of the tree below this share are not shown, unless --percent-limit is given. */
#define CALLS_TREE_LIMIT 0.01

/* `write` takes the contents of `out`; its caller then clears `out`. */
struct calls_spill {
	void (*write)(void *ctx, const struct buf *out);
	void *ctx;
};

struct calls_text_options {
	struct text_style style;
	bool wide;                /* errors of all figures, and the account of every thread */
	bool full_paths;          /* paths from the outermost function on */
	struct calls_spill spill; /* write NULL: everything stays in the buf */
};

void calls_text(const struct call_report *r, const struct calls_text_options *o, struct buf *out);

/* Passes on the contents of `out` if there are enough of them. `spill` may be NULL. */
void calls_spill(const struct calls_spill *spill, struct buf *out);

/* The parts of one process (calls_text_books.c, calls_text_tables.c). */
void calls_text_books(const struct call_report *r, const struct call_process *p,
                      const struct calls_text_options *o, struct buf *out);
void calls_text_rows(const struct call_report *r, const struct call_process *p,
                     enum call_rows_kind kind, const struct calls_text_options *o, struct buf *out);
void calls_text_tree(const struct call_report *r, const struct call_process *p,
                     const struct calls_text_options *o, struct buf *out);

/* Appends "12.3 %", with more digits for small shares. */
void calls_text_percent(struct buf *out, double share);

#endif

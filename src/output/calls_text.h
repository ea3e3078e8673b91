/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_text: the report on call paths for people. Plain and stable without a
 * terminal; on one as wide as it is, with fewer columns where it is narrow.
 * What has been written is handed on as it grows, so that a million paths need
 * no more memory than a screenful. Uses: base, view.
 */
#ifndef ASSAY_OUTPUT_CALLS_TEXT_H
#define ASSAY_OUTPUT_CALLS_TEXT_H

#include "output/table.h"
#include "view/call_report.h"

/* Nodes of the tree below this share are not shown unless --percent-limit says otherwise. */
#define CALLS_TREE_LIMIT 0.01

/* Takes what `out` holds; the caller of it then clears it. */
struct calls_spill {
	void (*write)(void *ctx, const struct buf *out);
	void *ctx;
};

struct calls_text_options {
	struct text_style style;
	bool wide;                /* errors of all figures, every thread's books */
	bool full_paths;          /* from the outermost function on */
	struct calls_spill spill; /* write NULL: all stays in the buf */
};

void calls_text(const struct call_report *r, const struct calls_text_options *o, struct buf *out);

/* Hands on what is there, if it is enough to be worth it. `spill` may be NULL. */
void calls_spill(const struct calls_spill *spill, struct buf *out);

/* The parts of one process (calls_text_books.c, calls_text_tables.c). */
void calls_text_books(const struct call_report *r, const struct call_process *p,
                      const struct calls_text_options *o, struct buf *out);
void calls_text_rows(const struct call_report *r, const struct call_process *p,
                     enum call_rows_kind kind, const struct calls_text_options *o, struct buf *out);
void calls_text_tree(const struct call_report *r, const struct call_process *p,
                     const struct calls_text_options *o, struct buf *out);

/* "12.3 ns", "1.234 s"; of NAN nothing. Appended. */
void calls_text_ns(struct buf *out, double ns);
/* "12.3 %", with as many places as small ones need. */
void calls_text_percent(struct buf *out, double share);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_document: a report on waits as a document: a summary, the account, the causes, the call
 * paths with their wakers, and the path that decides.
 *
 * The report must outlive the document. Nothing fails. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_DOCUMENT_H
#define ASSAY_VIEW_WAITS_WAIT_DOCUMENT_H

#include "profile/symbolized_profile.h"
#include "view/document/grid.h"
#include "view/document/document.h"
#include "view/waits/wait_path.h"

void wait_document(struct document *d, struct wait_report *r);

/*
 * The tree of waits as call paths, for graphs: the values blocked, runnable and waits; the owner is
 * the thread that waited. The caller owns `n`, see view/symbolized/symbolized.h.
 */
void named_of_waits(struct symbolized_profile *n, struct wait_report *r);

/* Its parts. */
struct row_set *wait_rows(struct wait_report *r);

/* What a text column of a cause shows. */
enum wait_word {
	WAIT_WORD_KIND,
	WAIT_WORD_NAME,
	WAIT_WORD_DEVICE,
	WAIT_WORD_WAITER,
	WAIT_WORD_BY,
	WAIT_WORD_HOLDER,
	WAIT_WORD_EVIDENCE,
	WAIT_WORD_IN
};

struct cell wait_row_word(const struct wait_report *report, const struct wait_row *r,
                          enum wait_word word);
/* The path must outlive the rows. */
struct row_set *wait_path_rows(struct wait_path *p);
void wait_summary(struct document *d, const struct wait_report *r);
/* "3 threads of the chosen processes, 1.0 s: 5 waits". */
void wait_summary_recorded(const struct wait_report *r, struct buf *out);
/* A row of an account: its name, the time and the share of the whole. */
void wait_term(struct grid *g, enum row_kind kind, const char *name, int64_t ns, uint64_t whole);

#endif

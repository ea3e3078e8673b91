/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings: what a report found, in at most 4 KB, for scripts and for small windows: the largest
 * functions and processes with their shares and intervals, each with the SQL query that gives the
 * same figures, the parts of the time, and the limits of the figures.
 *
 * The caller sets `program` and `file`. summary_write() fills the findings of its reader, if there
 * are any, from the summary, whatever was recorded. findings_document() makes a document of the
 * first `keep` items, in the order functions and processes, limits, parts; what it leaves out is
 * counted in it. A name longer than FINDING_NAME_BYTES is cut, and its query compares the
 * beginning, the end and the length. A zeroed struct is empty; findings_done(). Nothing fails. One
 * thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_SUMMARY_FINDINGS_H
#define ASSAY_VIEW_SUMMARY_FINDINGS_H

#include "view/document/document.h"

#define FINDINGS_SCHEMA "assay-brief/1"
#define FINDINGS_BYTES 4096
#define FINDING_NAME_BYTES 120

struct summary;

struct summary_finding {
	char *process, *image, *function; /* NULL: not known, or all; function NULL: a process */
	double share, low, high;          /* low and high: 95 % interval; NAN: none */
	struct cell value;                /* CELL_NONE: only the share is known */
	char *sql;
};

struct finding_part {
	const char *name;
	double share;
};

struct summary_findings {
	bool program; /* the document is for JSON */
	VEC(struct summary_finding) items;
	VEC(char *) limits;
	VEC(struct finding_part) parts;
	char *recorded, *unit;
	const struct unit *text_unit;
	const char *file; /* the recording, for 'assay sql' */
};

void findings_take(struct summary_findings *f, const struct summary *s);
void findings_done(struct summary_findings *f);

/* The number of items that findings_document() can contain. */
size_t findings_count(const struct summary_findings *f);
void findings_document(const struct summary_findings *f, size_t keep, struct document *d);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary: the beginning of a report, about ten lines: the parts of the time, the largest reasons,
 * the limits of the figures, and commands that show more.
 *
 * An adapter fills a struct summary from its model; summary_write() makes sections of a document of
 * it, for readers and for programs. The functions know no kind of recording.
 *
 *	struct summary s;
 *
 *	summary_init(&s, reader, &unit_time, "ns");
 *	summary_part(&s, "user", "user", cell_int(ns), share);
 *	summary_reason(&s, share)->function = xstrdup("main");
 *	summary_limit(&s, "lost_records", 12, "12 records lost");
 *	summary_next(&s, "report -g", NULL, "the call tree");
 *	summary_write(&s, document);
 *	summary_done(&s);
 *
 * Nothing fails. One thread. Uses: base, view.
 */
#ifndef ASSAY_VIEW_SUMMARY_SUMMARY_H
#define ASSAY_VIEW_SUMMARY_SUMMARY_H

#include "view/document/document.h"

#define SUMMARY_REASONS 3

struct summary_part {
	const char *key, *name;
	struct cell value; /* in the summary's unit */
	double share;      /* of the whole */
};

struct summary_process {
	char *name;
	double share; /* as in the tables */
};

struct summary_reason {
	double share, low, high; /* as in the tables; low and high: 95 % interval; NAN: none */
	struct cell value;       /* in the summary's unit; CELL_NONE: only the share is shown */
	char *process, *image, *function; /* NULL: not known, or the same for all */
};

struct summary_limit {
	const char *key;
	double value;
	char *text; /* a part of a sentence, with the value */
};

struct summary_step {
	char *command, *why;
};

struct summary {
	const struct document_reader *reader;
	const struct unit *unit; /* of all values */
	const char *unit_name;   /* for programs */
	struct buf recorded;     /* readers: the subject and the length of the recording */
	const char *parts_label; /* readers: the label of the parts; NULL: "time" */
	struct cell whole;       /* the base of the parts' shares; CELL_NONE: not known */
	/* Readers: titles of columns of the reasons; NULL: "share" and "value". */
	const char *share_title, *value_title;
	VEC(struct summary_part) parts;
	VEC(struct summary_process) processes; /* the largest processes; empty: there is only one */
	VEC(struct summary_reason) reasons;
	VEC(struct summary_limit) limits;
	VEC(struct summary_step) steps;
};

void summary_init(struct summary *s, const struct document_reader *reader, const struct unit *unit,
                  const char *unit_name);
void summary_done(struct summary *s);

/* `key` and `name` are not copied. Parts too small to be shown are left out for readers. */
void summary_part(struct summary *s, const char *key, const char *name, struct cell value,
                  double share);
void summary_process(struct summary *s, const char *name, double share);
/* The caller sets the other fields; the strings are freed by summary_done(). */
struct summary_reason *summary_reason(struct summary *s, double share);
void summary_limit(struct summary *s, const char *key, double value, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
/* The text is a count: "1,234 records were lost". */
void summary_limit_count(struct summary *s, const char *key, uint64_t count, const char *one,
                         const char *many);
/*
 * Adds the command line "assay " `command` `argument` and the words that name the recording.
 * `argument` is quoted for a shell if necessary; NULL: there is none.
 */
void summary_next(struct summary *s, const char *command, const char *argument, const char *fmt,
                  ...) __attribute__((format(printf, 4, 5)));
/* Adds a command line that does not read the recording. */
void summary_elsewhere(struct summary *s, const char *command, const char *why);

/*
 * The numbers of the rows with the largest values, largest first; only values above 0 count.
 * Returns how many there are, SUMMARY_REASONS at most.
 */
size_t summary_largest(size_t count, double (*value)(const void *model, size_t row),
                       const void *model, size_t largest[SUMMARY_REASONS]);

void summary_write(const struct summary *s, struct document *d);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_report: what functions took in a trace of event tags, as rows, for any output.
 *
 * tag_report_new() of a summary that was finished (trace/tag_summary.h), whose names
 * have their `shown`; both and the recording must outlive it. Plain data; times are
 * ticks of the recording's clock. tag_report_free(). Nothing fails. One thread.
 *
 * Rows are of functions, the same one of a program in all its processes; and one,
 * TAG_ROW_OUTSIDE, of the time in which no function that is known was open. Their
 * net adds up to `run`. The function that switches processes is no row: its time
 * is idle. Inline tags take no time and have a list of their own. Uses: base,
 * trace, symbol.
 */
#ifndef ASSAY_VIEW_TAG_REPORT_H
#define ASSAY_VIEW_TAG_REPORT_H

#include "trace/tag_summary.h"

enum tag_order {
	TAG_BY_NET,
	TAG_BY_ELAPSED,
	TAG_BY_CALLS,
	TAG_BY_MAX,
	TAG_BY_AVG,
	TAG_BY_MIN,
	TAG_BY_NAME,
	TAG_BY_REAL,
};

#define TAG_ORDERS "elapsed,net,calls,max,avg,min,name,real"
#define TAG_ORDERS_MAX 8

bool tag_order_parse(const char *word, enum tag_order *order);

struct tag_report_options {
	/* The first counts, the next among equals; largest first, names from a to z; none: net. */
	enum tag_order orders[TAG_ORDERS_MAX];
	size_t order_count;
	size_t lines; /* rows at most, 0: all */
	double limit; /* rows below this share of `run` go into `rest`; <= 0: none */
};

enum tag_row_kind { TAG_ROW_FUNCTION, TAG_ROW_INLINE, TAG_ROW_OUTSIDE, TAG_ROW_REST };

struct tag_row {
	enum tag_row_kind kind;
	uint32_t id;          /* see tag_report_is_of() */
	uint32_t tag;         /* of the first of them */
	const char *function; /* for people */
	const char *name;     /* as in the names file */
	const char *program;  /* NULL: not known */
	bool several;         /* functions of other programs are called the same */
	uint64_t calls, elapsed, net;
	uint64_t min, max;        /* net of one call */
	bool ranged;              /* min and max are known */
	uint64_t uncertain, open; /* calls */
};

struct tag_report {
	const struct tag_recording *recording;
	const struct tag_summary *summary;
	uint64_t run;             /* elapsed - idle - own */
	uint64_t span;            /* from the first event to the last */
	bool devices;             /* all streams are devices' */
	bool separated;           /* waiting is told apart from running */
	uint64_t switches_lost;   /* but for so many switches */
	VEC(struct tag_row) rows; /* sorted; [0, shown) are to be shown */
	size_t shown;
	struct tag_row rest;         /* the others, summed up; elapsed, min and max mean nothing */
	VEC(struct tag_row) inlines; /* most often first */
	VEC(const char *) switchers; /* the `!` functions that came */
	uint64_t uncertain, open;    /* calls of all functions */
	VEC(char *) texts;
	uint32_t *row_of; /* per function of the summary: the row's id, ID_NONE */
};

struct tag_report *tag_report_new(const struct tag_recording *recording,
                                  const struct tag_summary *summary,
                                  const struct tag_report_options *options);
void tag_report_free(struct tag_report *r);

/* The i-th function of the summary is part of this row. */
bool tag_report_is_of(const struct tag_report *r, size_t i, const struct tag_row *row);

/* Net of a call, cut off; 0 where there was none. */
uint64_t tag_row_average(const struct tag_row *row);

/* part / whole; 0 of nothing. */
double tag_share(uint64_t part, uint64_t whole);
/* Hundredths of a percent, rounded: 9899 is 98.99 %. */
uint64_t tag_hundredths(uint64_t part, uint64_t whole);

/* All names by which a row's function may be meant; tag_callings_done() after it. */
struct tag_callings {
	const char *shown, *name;
	char *plain, *bare; /* without @FILE; without parameters (C++), or NULL */
};
void tag_callings_init(struct tag_callings *c, const struct tag_row *row);
void tag_callings_done(struct tag_callings *c);
/* One of them is `pattern`, or fits it as a shell's pattern (* ? [...]). */
bool tag_callings_fit(const struct tag_callings *c, const char *pattern);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows: the rows of any table, with columns declared as data.
 *
 * An adapter describes its model as a struct row_source: the number of rows, the columns, and one
 * function per column that makes a cell of a row. Rows are ids from 0; the texts of a row are made
 * when it is printed, so a table with a million rows needs little memory. row_set_new() sorts the
 * rows, decides which of them are shown, and sums the others and all. Outputs print a row_set; they
 * do not know what the rows are.
 *
 * A new column is one more entry in the adapter's list of columns: text, JSON, Markdown, sorting,
 * the rest and the total follow from it.
 *
 * Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_ROWS_ROWS_H
#define ASSAY_VIEW_ROWS_ROWS_H

#include "base/memory/vec.h"
#include "view/rows/unit.h"

#include <stddef.h>

struct row_source;
struct column;

/* How the rest and the total of a table are computed in a column. */
enum column_role {
	ROLE_KEY,   /* nothing: names, addresses */
	ROLE_SUM,   /* the sum */
	ROLE_TOTAL, /* no sum: figures that include callees are in several rows */
	ROLE_LEAST, /* the smallest */
	ROLE_MOST,  /* the largest */
	ROLE_RATIO, /* column `of` / (`base`, or column `per`) */
};

enum row_kind {
	ROW_ITEM,
	ROW_WARM,  /* an item that matters: coloured on terminals */
	ROW_HOT,   /* an item that matters more */
	ROW_PART,  /* a part of the row above, or of the whole: dim; programs do not get it */
	ROW_TOTAL, /* bold; programs do not get it */
};

/* The readers of a column or a section. */
enum media { MEDIA_READERS = 1, MEDIA_PROGRAMS = 2, MEDIA_ALL = 3 };

typedef struct cell column_get(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text);

struct column {
	const char *name;  /* identifies the column in one table; --by NAME */
	const char *title; /* for readers; "" allowed */
	const char *key;   /* in JSON; NULL: not in JSON */
	const struct unit *unit;
	enum column_role role;
	enum media media; /* 0: all; a column without title and key is for sorting and sums */
	bool page;       /* pages have its numbers too, for a picture; its table does not show it */
	bool bar;        /* readers also get a bar of this share */
	double bar_full; /* the share that fills the bar; 0: 1 */
	bool blank_zero; /* readers get nothing for 0 */
	bool cut;        /* a row is shown if this share reaches the limit */
	bool path;       /* call paths "a > b > c": cut in the middle if there is too little room */
	uint16_t room;   /* readers get it on terminals at least this wide */
	const char *of;  /* ROLE_RATIO: column with the part */
	const char *per; /* ROLE_RATIO: column with the whole; NULL: `base` */
	struct cell base;  /* ROLE_RATIO: the whole; other roles: the value that `all` of the source
	                      returns */
	uint32_t argument; /* for `get` */
	/* Makes the cell of a row; a text may be put into `text`, which is empty. NULL: a ratio,
	 * from the cells of the other columns. */
	column_get *get;
	/* Writes key and value, for values that are more than one cell; NULL: `key` and the cell.
	 */
	void (*json)(const struct row_source *s, const struct column *c, uint32_t row,
	             struct json *j);
};

struct row_source {
	void *model;
	VEC(struct column) columns;
	uint32_t rows;
	/* If the rows are of a part of a recording: the value of the whole recording in the column
	 * of a sum. NULL: the total is the sum of the rows. */
	struct cell (*all)(const struct row_source *s, const struct column *c);
	/* The value that was removed from the rows in the column of a sum. It has a line of its
	 * own, and is included in the total, but not in the total's ratios. NULL: nothing was
	 * removed. */
	struct cell (*removed)(const struct row_source *s, const struct column *c);
	/* NULL: all rows are items. */
	enum row_kind (*row_kind)(const struct row_source *s, uint32_t row);
	/* Whether a row is worth a line. NULL: a column with `cut` reaches the limit. */
	bool (*worth)(const struct row_source *s, uint32_t row, double limit);
	void (*free)(void *model); /* NULL: the model has another owner */
	/* Appends to the label of the rest; `sums` has a cell per column. NULL: nothing. */
	void (*rest_more)(const struct row_source *s, const struct cell *sums, struct buf *out);
	const char *rest_reason; /* added to the label of the rest: " or one sample"; or NULL */
	bool no_total;           /* the rows are not the parts of a whole */
	bool fixed;              /* the order of the rows has a meaning: they are not sorted */
	bool chart;              /* bars on every output, not only on terminals */
	bool squeezed;           /* wide text columns are cut so that lines fit the terminal */
	bool brief;              /* for `get`: names without directories */
	unsigned width;          /* of the terminal, set by an output; 0: no limit */
};

struct row_source *row_source_new(void *model);
void row_source_columns(struct row_source *s, const struct column *columns, size_t count);
void row_source_free(struct row_source *s);

/* The cell of a row in a column, ratios included. */
struct cell row_cell(const struct row_source *s, const struct column *c, uint32_t row,
                     struct buf *text);
/* The cells of all rows in a column of numbers, to be freed. */
struct cell *row_cells(const struct row_source *s, const struct column *c);
/* NULL: there is no such column. */
const struct column *column_named(const struct row_source *s, const char *name);
/* The same, if rows can be sorted by it: some columns are only written for programs. */
const struct column *column_sorted_by(const struct row_source *s, const char *name);
enum row_kind row_kind_of(const struct row_source *s, uint32_t row);
bool column_is_for(const struct column *c, enum media media);

/*
 * The order of rows by columns: numbers largest first, texts from a to z, then by id. The cells of
 * the first `cached` columns with numbers are kept; the others are made for each comparison, so
 * that large tables need less memory. row_order_compare() is for qsort_r(), with ids (uint32_t).
 */
struct row_order {
	const struct row_source *source;
	size_t count;
	struct row_order_column {
		const struct column *column;
		struct cell *cells; /* NULL: not kept */
		bool is_text;
	} * columns;
};
void row_order_init(struct row_order *o, const struct row_source *s, const char *const *by,
                    size_t count, size_t cached);
int row_order_compare(const void *a, const void *b, void *order);
void row_order_done(struct row_order *o);

struct row_request {
	const char *const *by; /* columns to sort by; numbers: largest first, texts: from a to z */
	size_t by_count;
	double limit;  /* rows below this share go into the rest */
	bool named;    /* a filter named each row: the limit does not apply */
	size_t lines;  /* at most this many rows; 0: all */
	bool relative; /* shares are of the selected rows: no line for the others */
};

struct row_set {
	struct row_source *source;
	VEC(uint32_t) order; /* rows [0, shown) are shown, in this order */
	size_t shown;
	/* The column of numbers by which the rows are sorted; NULL: none. */
	const struct column *by;
	double limit;
	bool by_lines; /* rows were left out by their number */
	/* Per column of the source: sums of the rows left out, of what was not selected, of all. */
	struct cell *rest, *unselected, *total;
	struct cell *removed; /* NULL: the source removes nothing */
	bool has_unselected;
};

/* Takes over the source, which was allocated with row_source_new(). */
struct row_set *row_set_new(struct row_source *source, const struct row_request *q);
void row_set_free(struct row_set *r);
/* Moves rows beyond the first `lines` of the shown ones to the rest. */
void row_set_cut(struct row_set *r, size_t lines);

/* "[<1%: 12 more]". */
void row_set_rest_label(const struct row_set *r, struct buf *out);

#endif

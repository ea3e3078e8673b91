/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit: the value of one cell of a table, and how it is printed.
 *
 * A cell is a whole number, a real number, a text, or nothing. A unit prints the cells of a column
 * for readers and, if programs need another form, as JSON. The units below are constants; a model
 * whose figures need parameters (a clock, a scale) embeds a struct unit at the start of its own
 * struct. Nothing fails. Uses: base.
 */
#ifndef ASSAY_VIEW_ROWS_UNIT_H
#define ASSAY_VIEW_ROWS_UNIT_H

#include "base/memory/buf.h"
#include "base/text/json.h"

#include <stdbool.h>
#include <stdint.h>

enum cell_kind { CELL_NONE, CELL_INT, CELL_REAL, CELL_TEXT };

struct cell {
	enum cell_kind kind;
	union {
		int64_t i;
		double d;
		const char *s; /* valid until the next cell of the same row is made */
	};
};

static inline struct cell cell_int(int64_t i)
{
	return (struct cell){.kind = CELL_INT, .i = i};
}

static inline struct cell cell_real(double d)
{
	return (struct cell){.kind = CELL_REAL, .d = d};
}

static inline struct cell cell_text(const char *s)
{
	return (struct cell){.kind = CELL_TEXT, .s = s};
}

static inline struct cell cell_none(void)
{
	return (struct cell){.kind = CELL_NONE};
}

/* The cell as a real number; NAN: it has no number. */
double cell_number(struct cell cell);
bool cell_is_zero(struct cell cell); /* true for CELL_NONE */
/* a + b. CELL_NONE is neutral; whole numbers stop at the ends of their range. */
struct cell cell_add(struct cell a, struct cell b);
struct cell cell_subtract(struct cell a, struct cell b);
/* a / b; 0 if b is 0. */
double cell_ratio(struct cell a, struct cell b);
/* Compares numbers by size and texts by bytes; CELL_NONE is less than every other cell. */
int cell_compare(struct cell a, struct cell b);

struct unit {
	const char *name; /* "count", "ns" */
	bool left;        /* text is aligned on the left */
	/* Appends a number for readers. Texts are printed as they are, CELL_NONE as nothing. */
	void (*text)(const struct unit *unit, struct cell cell, struct buf *out);
	/* Writes the cell as one JSON value; NULL: number, string, or null, as it is. */
	void (*json)(const struct unit *unit, struct cell cell, struct json *j);
};

extern const struct unit unit_text;      /* names; aligned left */
extern const struct unit unit_number;    /* identifiers: "1234" */
extern const struct unit unit_count;     /* "1,234" */
extern const struct unit unit_time;      /* ns: "1.23 ms" */
extern const struct unit unit_fine_time; /* ns: "12.3 ns" */
extern const struct unit unit_date;      /* ns since 1970: "2024-05-06 07:08:09" */
extern const struct unit unit_bytes;
extern const struct unit unit_share; /* 0 to 1: "12.3 %" */
extern const struct unit unit_rate;  /* "0.0123" */
extern const struct unit unit_hex;   /* "0x1234", in JSON a string */

void unit_text_add(const struct unit *unit, struct cell cell, struct buf *out);
void unit_json_add(const struct unit *unit, struct cell cell, struct json *j);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/rows/unit.h"

#include "base/text/figure.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

double cell_number(struct cell cell)
{
	return cell.kind == CELL_INT ? (double)cell.i : cell.kind == CELL_REAL ? cell.d : NAN;
}

bool cell_is_zero(struct cell cell)
{
	switch (cell.kind) {
	case CELL_INT:
		return !cell.i;
	case CELL_REAL:
		return cell.d == 0;
	case CELL_TEXT:
		return !*cell.s;
	default:
		return true;
	}
}

static int64_t add_whole(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

static int64_t subtract_whole(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

struct cell cell_add(struct cell a, struct cell b)
{
	if (a.kind == CELL_NONE || b.kind == CELL_NONE)
		return a.kind == CELL_NONE ? b : a;
	if (a.kind == CELL_INT && b.kind == CELL_INT)
		return cell_int(add_whole(a.i, b.i));
	return cell_real(cell_number(a) + cell_number(b));
}

struct cell cell_subtract(struct cell a, struct cell b)
{
	if (b.kind == CELL_NONE)
		return a;
	if (a.kind == CELL_INT && b.kind == CELL_INT)
		return cell_int(subtract_whole(a.i, b.i));
	return cell_real((a.kind == CELL_NONE ? 0 : cell_number(a)) - cell_number(b));
}

double cell_ratio(struct cell a, struct cell b)
{
	double whole = cell_number(b);

	if (isnan(whole) || whole == 0)
		return 0;
	return cell_number(a) / whole;
}

int cell_compare(struct cell a, struct cell b)
{
	double x, y;

	if (a.kind == CELL_NONE || b.kind == CELL_NONE)
		return (a.kind != CELL_NONE) - (b.kind != CELL_NONE);
	if (a.kind == CELL_TEXT && b.kind == CELL_TEXT)
		return strcmp(a.s, b.s);
	if (a.kind == CELL_INT && b.kind == CELL_INT)
		return (a.i > b.i) - (a.i < b.i);
	x = cell_number(a);
	y = cell_number(b);
	if (isnan(x) || isnan(y))
		return isnan(y) - isnan(x);
	return (x > y) - (x < y);
}

void unit_text_add(const struct unit *unit, struct cell cell, struct buf *out)
{
	if (cell.kind == CELL_TEXT)
		buf_puts(out, cell.s);
	else if (cell.kind != CELL_NONE)
		unit->text(unit, cell, out);
}

void unit_json_add(const struct unit *unit, struct cell cell, struct json *j)
{
	if (cell.kind == CELL_NONE)
		json_null(j);
	else if (unit->json)
		unit->json(unit, cell, j);
	else if (cell.kind == CELL_INT)
		json_i64(j, cell.i);
	else if (cell.kind == CELL_REAL)
		json_double(j, cell.d);
	else
		json_str(j, cell.s);
}

static uint64_t size_of(struct cell cell)
{
	double d = fabs(cell_number(cell));

	if (cell.kind == CELL_INT)
		return cell.i < 0 ? 0 - (uint64_t)cell.i : (uint64_t)cell.i;
	return d < 1.8e19 ? (uint64_t)llround(d) : UINT64_MAX;
}

static void put_sign(struct cell cell, struct buf *out)
{
	if (cell_number(cell) < 0)
		buf_putc(out, '-');
}

/* Texts are printed by unit_text_add(). */
static void put_text(const struct unit *unit, struct cell cell, struct buf *out)
{
}

static void put_number(const struct unit *unit, struct cell cell, struct buf *out)
{
	buf_addf(out, "%" PRId64, cell.i);
}

static void put_count(const struct unit *unit, struct cell cell, struct buf *out)
{
	put_sign(cell, out);
	text_count(out, size_of(cell));
}

static void put_time(const struct unit *unit, struct cell cell, struct buf *out)
{
	if (cell.kind == CELL_INT)
		text_time(out, cell.i);
	else
		text_fine_time(out, cell.d);
}

static void put_fine_time(const struct unit *unit, struct cell cell, struct buf *out)
{
	text_fine_time(out, cell_number(cell));
}

static void put_date(const struct unit *unit, struct cell cell, struct buf *out)
{
	text_date(out, (uint64_t)cell.i);
}

static void put_bytes(const struct unit *unit, struct cell cell, struct buf *out)
{
	put_sign(cell, out);
	text_bytes(out, size_of(cell));
}

static void put_share(const struct unit *unit, struct cell cell, struct buf *out)
{
	if (!isnan(cell_number(cell)))
		text_share(out, cell_number(cell));
}

static void put_hex(const struct unit *unit, struct cell cell, struct buf *out)
{
	buf_addf(out, "%#" PRIx64, (uint64_t)cell.i);
}

static void hex_json(const struct unit *unit, struct cell cell, struct json *j)
{
	struct buf text = {0};

	buf_addf(&text, "0x%" PRIx64, (uint64_t)cell.i);
	json_str(j, buf_text(&text));
	buf_done(&text);
}

static void put_rate(const struct unit *unit, struct cell cell, struct buf *out)
{
	double q = cell_number(cell);

	buf_addf(out, q < 0.0001 ? "<0.0001" : "%.4f", q);
}

const struct unit unit_text = {.name = "text", .left = true, .text = put_text};
const struct unit unit_number = {.name = "number", .text = put_number};
const struct unit unit_count = {.name = "count", .text = put_count};
const struct unit unit_time = {.name = "ns", .text = put_time};
const struct unit unit_fine_time = {.name = "ns", .text = put_fine_time};
const struct unit unit_date = {.name = "ns", .left = true, .text = put_date};
const struct unit unit_bytes = {.name = "bytes", .text = put_bytes};
const struct unit unit_share = {.name = "share", .text = put_share};
const struct unit unit_rate = {.name = "rate", .text = put_rate};
const struct unit unit_hex = {.name = "address", .text = put_hex, .json = hex_json};

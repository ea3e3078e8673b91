/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_scale.h"

#include "base/text/figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_HZ 1000000000
#define US_HZ 1000000
#define MS_HZ 1000
/* Doubles that are this close to half of a hundredth of a percent are meant to be half of it. */
#define HALF_ERROR 1e-9

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
        [TAG_NS] = {"ns", 1},
        [TAG_US] = {"us", 1000},
        [TAG_MS] = {"ms", 1000000},
};

enum tag_time_unit tag_time_unit_parse(const char *word)
{
	for (enum tag_time_unit unit = TAG_NS; word && unit <= TAG_MS; unit++)
		if (!strcmp(units[unit].name, word))
			return unit;
	return TAG_UNIT_FITTING;
}

uint64_t tag_hundredths(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)(((unsigned __int128)part * 10000 + whole / 2) / whole) : 0;
}

static void put_percent(const struct unit *unit, struct cell cell, struct buf *out)
{
	long long hundredths = llround(cell_number(cell) * 10000 + HALF_ERROR);

	buf_addf(out, "%s%lld.%02lld", hundredths < 0 ? "-" : "", llabs(hundredths) / 100,
	         llabs(hundredths) % 100);
}

const struct unit tag_percent = {.name = "percent", .text = put_percent};

static const struct tag_unit *tag_unit_of(const struct unit *unit)
{
	return (const struct tag_unit *)unit;
}

static uint64_t ns_of(const struct tag_unit *u, struct cell cell)
{
	return tag_clock_ns(u->clock, (uint64_t)cell.i);
}

static void put_number(const struct tag_unit *u, uint64_t number, struct buf *out)
{
	if (u->plain)
		buf_addf(out, "%" PRIu64, number);
	else
		text_count(out, number);
}

static void put_rounded(const struct unit *unit, struct cell cell, struct buf *out)
{
	const struct tag_unit *u = tag_unit_of(unit);

	put_number(u, (ns_of(u, cell) + u->ns / 2) / u->ns, out);
}

/* Averages are rounded down, so min <= avg <= max also holds as printed. */
static void put_floor(const struct unit *unit, struct cell cell, struct buf *out)
{
	const struct tag_unit *u = tag_unit_of(unit);

	put_number(u, ns_of(u, cell) / u->ns, out);
}

static void put_named(const struct unit *unit, struct cell cell, struct buf *out)
{
	put_rounded(unit, cell, out);
	buf_addf(out, " %s", tag_unit_of(unit)->name);
}

/*
 * Bounds of steps range from one tick to hours. The shortest have a decimal if the clock is fine
 * enough, so that no two bounds look equal.
 */
static void put_bound(const struct unit *unit, struct cell cell, struct buf *out)
{
	const struct tag_unit *u = tag_unit_of(unit);
	double ns = (double)cell.i * 1e9 / (double)u->clock->hz;

	if (u->plain)
		put_named(unit, cell, out);
	else if (!cell.i)
		buf_puts(out, "0 ns");
	else if (ns < 10 && u->clock->hz > NS_HZ)
		buf_addf(out, "%.1f ns", ns);
	else
		text_time(out, (int64_t)ns_of(u, cell));
}

static void time_json(const struct unit *unit, struct cell cell, struct json *j)
{
	json_u64(j, ns_of(tag_unit_of(unit), cell));
}

/* The unit is not finer than the clock's tick. */
static enum tag_time_unit fitting_unit(const struct tag_clock *clock, uint64_t ticks)
{
	uint64_t ns = tag_clock_ns(clock, ticks);

	if (ns >= 10 * units[TAG_MS].ns || clock->hz <= MS_HZ)
		return TAG_MS;
	return ns >= 10 * units[TAG_US].ns || clock->hz <= US_HZ ? TAG_US : TAG_NS;
}

struct tag_scale tag_scale_make(const struct tag_clock *clock, bool devices, uint64_t fitting,
                                enum tag_time_unit unit)
{
	static const struct tag_clock ns = {NS_HZ, INT64_MIN};
	bool us = clock->hz == US_HZ && devices;
	struct tag_unit time = {.unit = {.name = "ns", .text = put_rounded, .json = time_json},
	                        .clock = clock};
	struct tag_scale s;

	if (unit == TAG_UNIT_FITTING)
		unit = us ? TAG_US : fitting_unit(clock, fitting);
	time.name = units[unit].name;
	time.ns = units[unit].ns;
	time.plain = us && unit == TAG_US;
	s = (struct tag_scale){time, time, time, time, time, NULL};
	s.floor.unit.text = put_floor;
	s.named.unit.text = put_named;
	s.bound.unit.text = put_bound;
	s.ns.clock = &ns;
	s.number = time.plain ? &unit_number : &unit_count;
	return s;
}

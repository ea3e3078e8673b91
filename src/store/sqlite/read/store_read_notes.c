/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes on a time range of the history: gaps without measurement, merged windows. */
#include "store/sqlite/read/store_reader.h"

#include "base/memory/buf.h"
#include "base/text/plural.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)
#define HOLES_LISTED 4

struct hole {
	uint64_t start_ns, end_ns;
};

struct holes {
	VEC(struct hole) list;
	uint64_t all_ns;
};

#define note(r, ...) vec_push(&(r)->p->recordings.items[0]->account.notes, xasprintf(__VA_ARGS__))

static const char *duration_text(uint64_t ns, char text[STORE_TIME_TEXT])
{
	uint64_t s = (ns + SECOND / 2) / SECOND;

	if (s >= 48 * 3600)
		snprintf(text, STORE_TIME_TEXT, "%" PRIu64 " days", s / 86400);
	else if (s >= 3600)
		snprintf(text, STORE_TIME_TEXT, "%" PRIu64 " h %" PRIu64 " min", s / 3600,
		         s / 60 % 60);
	else if (s >= 120)
		snprintf(text, STORE_TIME_TEXT, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(text, STORE_TIME_TEXT, "%.1f s", (double)ns / (double)SECOND);
	return text;
}

static int by_start(const void *a, const void *b)
{
	const struct store_span *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void add_hole(struct holes *h, uint64_t start_ns, uint64_t end_ns)
{
	if (end_ns < start_ns + STORE_BREAK_NS)
		return;
	vec_push(&h->list, (struct hole){start_ns, end_ns});
	h->all_ns += end_ns - start_ns;
}

/* Sorts the windows of all sessions by time, and finds the gaps between them. */
static void find_holes(struct store_reader *r, struct holes *h)
{
	const struct store_range *range = r->range;
	uint64_t now_ns = (uint64_t)time(NULL) * SECOND;
	uint64_t to_ns = range->to_ns < now_ns ? range->to_ns : now_ns, reached_ns;

	qsort(r->windows.items, r->windows.count, sizeof(*r->windows.items), by_start);
	reached_ns = range->from_ns ? range->from_ns : r->windows.items[0].start_ns;
	vec_each (w, &r->windows) {
		add_hole(h, reached_ns, w->start_ns);
		if (w->end_ns > reached_ns)
			reached_ns = w->end_ns;
	}
	add_hole(h, reached_ns, to_ns);
}

static const char gap_sql[] = "SELECT why FROM gap WHERE host IN " STORE_HOSTS(
        "?1") " AND start_ns < ?3 AND end_ns > ?2"
              " ORDER BY min(end_ns, ?3) - max(start_ns, ?2) DESC LIMIT 1";

static int describe_hole(struct store_reader *r, const struct hole *hole, struct buf *out,
                         struct error *err)
{
	char from[STORE_TIME_TEXT], length[STORE_TIME_TEXT];
	sqlite3_stmt *s;
	int status = database_kept(&r->db, gap_sql, &s, err);

	if (!status)
		status = database_bind(&r->db, s, err, "suu", r->range->host, hole->start_ns,
		                       hole->end_ns);
	if (!status)
		status = database_step(&r->db, s, err);
	if (status < 0)
		return status;
	buf_addf(out, "%s%s from %s on (%s)", out->size ? "; " : "",
	         duration_text(hole->end_ns - hole->start_ns, length),
	         store_time_text(hole->start_ns, from),
	         status == 1 ? store_column_text(s, 0) : STORE_BREAK_WHY);
	sqlite3_reset(s);
	return 0;
}

static int by_length(const void *a, const void *b)
{
	const struct hole *x = a, *y = b;
	uint64_t p = x->end_ns - x->start_ns, q = y->end_ns - y->start_ns;

	if (p != q)
		return p > q ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int note_holes(struct store_reader *r, struct error *err)
{
	char length[STORE_TIME_TEXT];
	struct holes h = {0};
	struct buf text = {0};
	int status = 0;

	find_holes(r, &h);
	if (h.list.count)
		qsort(h.list.items, h.list.count, sizeof(*h.list.items), by_length);
	for (size_t i = 0; !status && i < h.list.count && i < HOLES_LISTED; i++)
		status = describe_hole(r, &h.list.items[i], &text, err);
	if (!status && h.list.count > HOLES_LISTED)
		buf_addf(&text, "; and %zu shorter %s", h.list.count - HOLES_LISTED,
		         plural(h.list.count - HOLES_LISTED, "one", "ones"));
	if (!status && h.list.count)
		note(r,
		     "Nothing was measured in %s of the time: %s. No sum contains this time, not "
		     "even idle time.",
		     duration_text(h.all_ns, length), buf_text(&text));
	vec_done(&h.list);
	buf_done(&text);
	return status;
}

static void note_windows(struct store_reader *r)
{
	const struct store_span *first = &r->windows.items[0];
	uint64_t end_ns = 0, held_ns = 0;
	char from[STORE_TIME_TEXT], to[STORE_TIME_TEXT];

	vec_each (w, &r->windows) {
		end_ns = w->end_ns > end_ns ? w->end_ns : end_ns;
		held_ns += w->unobserved_ns;
	}
	if (first->start_ns + SECOND < r->range->from_ns ||
	    (r->range->to_ns && end_ns > r->range->to_ns + SECOND))
		note(r, "Whole windows are read: this report covers the time from %s to %s.",
		     store_time_text(first->start_ns, from), store_time_text(end_ns, to));
	if (held_ns)
		note(r,
		     "In %s of the time the measurement itself was paused: nothing was recorded.",
		     duration_text(held_ns, from));
}

int store_reader_notes(struct store_reader *r, struct error *err)
{
	int status = note_holes(r, err);
	uint64_t merged = 0;

	if (status)
		return status;
	note_windows(r);
	vec_each (w, &r->windows)
		merged += w->merged > 1;
	if (merged)
		note(r,
		     "%" PRIu64
		     " of %zu %s merged from shorter ones. Merged windows contain functions, but "
		     "no addresses: the samples of a function are shown at one of its addresses.",
		     merged, r->windows.count,
		     plural(r->windows.count, "window is", "windows are"));
	if (r->range->service)
		note(r,
		     "Samples are those of the service '%s'; the account of all time is that of "
		     "the whole machine.",
		     r->range->service);
	if (r->range->version)
		note(r,
		     "Samples are those of programs of version '%s'; the account of all time is "
		     "that of the whole machine.",
		     r->range->version);
	if (r->by_name)
		note(r,
		     "In older windows processes are stored by name alone: %" PRIu64
		     " %s under %" PRIu64 " %s, and each name counts as one process here.",
		     r->by_name, plural(r->by_name, "instance", "instances"), r->names_for_them,
		     plural(r->names_for_them, "name", "names"));
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services, versions and labels of processes that a range selects. On the server they are columns
 * of samples, which have hashes of the texts. The texts are compared here: no statement has one.
 */
#include "store/clickhouse/click_fetch_internal.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <stdlib.h>

struct click_choosing {
	const char *column;
	const char *asked, *what; /* for messages */
	const char *pattern;      /* NULL: range->choice selects */
	bool (*has)(const struct store_range *range, const char *text);
	struct click_map *chosen;
};

static bool has_version(const struct store_range *r, const char *text)
{
	return r->choice ? r->choice->version(r->choice->ctx, text)
	                 : !sqlite3_strglob(r->version, text);
}

static bool has_labels(const struct store_range *r, const char *text)
{
	return r->choice->labels(r->choice->ctx, text);
}

static int take_key(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	if (v[0].number)
		click_map_place(&f->keys, v[0].number, &(bool){false});
	return 0;
}

static int take_text(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	const struct click_choosing *c = f->choosing;
	char *text = xstrndup(v[1].size ? v[1].bytes : "", v[1].size);

	if (c->has(f->range, text))
		click_map_place(c->chosen, v[0].number, &(bool){false});
	if (c->pattern)
		buf_addf(&f->names_seen, "%s%s", f->names_seen.size ? ", " : "", text);
	free(text);
	return 0;
}

static int refuse(struct click_fetch *f, const struct click_choosing *c, struct error *err)
{
	if (f->range->choice)
		return error_set(err, ENODATA, "%s has no samples of %s", f->server->name, c->what);
	return error_set(err, EINVAL, "%s has no samples of %s '%s'; it has: %s", f->server->name,
	                 c->column, c->pattern,
	                 f->names_seen.size ? buf_text(&f->names_seen) : "none");
}

/* Samples without such a text have the hash 0, and no row of a name. */
static int choose(struct click_fetch *f, const struct click_choosing *c, struct error *err)
{
	const struct click_map *set = NULL;
	struct buf sql = {0};
	int status;

	f->choosing = c;
	click_map_done(&f->keys);
	buf_clear(&f->names_seen);
	if (f->waits_alone) {
		buf_addf(&sql, "SELECT DISTINCT %s FROM wait_times", c->column);
		click_fetch_where(f, &sql);
		buf_puts(&sql, " FORMAT RowBinary");
	} else {
		set = click_fetch_distinct(f, c->column, &sql);
	}
	status = click_fetch_rows(f, buf_text(&sql), set, "q", c->asked, take_key, err);
	buf_done(&sql);
	if (!status && f->range->choice && c->has(f->range, ""))
		click_map_place(c->chosen, 0, &(bool){false});
	if (!status)
		status = click_fetch_rows(f,
		                          "SELECT DISTINCT id, text FROM names WHERE id IN keys "
		                          "ORDER BY text FORMAT RowBinary",
		                          &f->keys, "qs", c->asked, take_text, err);
	return status || c->chosen->pairs.count ? status : refuse(f, c, err);
}

int click_fetch_services(struct click_fetch *f, struct error *err)
{
	const struct click_choosing c = {
	        "service",         "services",          "the selected services",
	        f->range->service, store_range_service, &f->chosen_services};

	return f->range->service || f->range->choice ? choose(f, &c, err) : 0;
}

int click_fetch_versions(struct click_fetch *f, struct error *err)
{
	const struct click_choosing c = {"version",         "versions",  "the selected versions",
	                                 f->range->version, has_version, &f->chosen_versions};

	return f->range->version || f->range->choice ? choose(f, &c, err) : 0;
}

bool click_fetch_by_labels(const struct click_fetch *f)
{
	return f->range->choice && f->range->choice->labels;
}

int click_fetch_labels(struct click_fetch *f, struct error *err)
{
	const struct click_choosing c = {"labels", "labels",   "processes with the selected labels",
	                                 NULL,     has_labels, &f->chosen_labels};

	return click_fetch_by_labels(f) ? choose(f, &c, err) : 0;
}

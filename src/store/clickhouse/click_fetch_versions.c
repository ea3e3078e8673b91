/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Versions and labels of processes. On the server they are columns of samples. */
#include "store/clickhouse/click_fetch_internal.h"

#include "base/memory/xalloc.h"
#include "store/clickhouse/click_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int take_key(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	bool added;

	if (v[0].number)
		click_map_place(&f->keys, v[0].number, &added);
	return 0;
}

static bool is_chosen(const struct store_range *range, const char *version)
{
	return range->choice ? range->choice->version(range->choice->ctx, version)
	                     : !sqlite3_strglob(range->version, version);
}

static int take_text(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	char *text = xstrndup(v[1].size ? v[1].bytes : "", v[1].size);
	bool added;

	if (is_chosen(f->range, text))
		click_map_place(&f->chosen_versions, v[0].number, &added);
	buf_addf(&f->names_seen, "%s%s", f->names_seen.size ? ", " : "", text);
	free(text);
	return 0;
}

/* As for services, no statement contains a text. */
int click_fetch_versions(struct click_fetch *f, struct error *err)
{
	const struct click_map *set;
	struct buf sql = {0};
	int status;

	if (!f->range->version && !f->range->choice)
		return 0;
	click_map_done(&f->keys);
	buf_clear(&f->names_seen);
	set = click_fetch_distinct(f, "version", &sql);
	status = click_fetch_rows(f, buf_text(&sql), set, "q", "versions", take_key, err);
	buf_done(&sql);
	/* Samples without a version have the hash 0, and no row of a name. */
	if (!status && f->range->choice && is_chosen(f->range, ""))
		click_map_place(&f->chosen_versions, 0, &(bool){false});
	if (!status)
		status = click_fetch_rows(f,
		                          "SELECT DISTINCT id, text FROM names WHERE id IN keys "
		                          "ORDER BY text FORMAT RowBinary",
		                          &f->keys, "qs", "versions", take_text, err);
	if (!status && !f->chosen_versions.pairs.count && f->range->choice)
		return error_set(err, ENODATA, "%s has no samples of the selected versions",
		                 f->server->name);
	if (!status && !f->chosen_versions.pairs.count)
		status = error_set(err, EINVAL, "%s has no samples of version '%s'; it has: %s",
		                   f->server->name, f->range->version,
		                   f->names_seen.size ? buf_text(&f->names_seen) : "none");
	return status;
}

bool click_fetch_by_labels(const struct click_fetch *f)
{
	return f->range->choice && f->range->choice->labels;
}

static int take_lines(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	const struct store_choice *choice = f->range->choice;
	char *text = xstrndup(v[1].size ? v[1].bytes : "", v[1].size);

	if (choice->labels(choice->ctx, text))
		click_map_place(&f->chosen_labels, v[0].number, &(bool){false});
	free(text);
	return 0;
}

/* Samples without labels have the hash 0, and no row of a name. */
int click_fetch_labels(struct click_fetch *f, struct error *err)
{
	const struct store_choice *choice = f->range->choice;
	const struct click_map *set;
	struct buf sql = {0};
	int status;

	if (!click_fetch_by_labels(f))
		return 0;
	click_map_done(&f->keys);
	set = click_fetch_distinct(f, "labels", &sql);
	status = click_fetch_rows(f, buf_text(&sql), set, "q", "labels", take_key, err);
	buf_done(&sql);
	if (!status && choice->labels(choice->ctx, ""))
		click_map_place(&f->chosen_labels, 0, &(bool){false});
	if (!status)
		status = click_fetch_rows(
		        f, "SELECT DISTINCT id, text FROM names WHERE id IN keys FORMAT RowBinary",
		        &f->keys, "qs", "labels", take_lines, err);
	if (!status && !f->chosen_labels.pairs.count)
		status = error_set(err, ENODATA,
		                   "%s has no samples of processes with the selected labels",
		                   f->server->name);
	return status;
}

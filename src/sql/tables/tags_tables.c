/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_tables: a tag trace as tables. The first query of a table of calls reads the trace once and
 * sums the calls by path. `events` reads the trace at each query.
 */
#include "base/memory/xalloc.h"
#include "format/ctf/ctf.h"
#include "sql/tables/event_tables.h"
#include "sql/tables/pprof_tables.h"
#include "sql/sql.h"
#include "symbol/demangle/demangle.h"
#include "view/tags/tag_paths.h"

#include <errno.h>
#include <stdlib.h>

/* The recording stays open, since `events` reads it. */
struct tags_model {
	struct sql *sql;
	struct tag_recording *recording;
	struct symbolized_profile n;
};

/* Adds lines to `paths` until *stop is set. */
struct adding {
	struct tag_paths *paths;
	const volatile sig_atomic_t *stop;
};

static void free_model(void *ctx)
{
	struct tags_model *m = ctx;

	symbolized_profile_done(&m->n);
	tag_recording_free(m->recording);
	free(m);
}

static int add_line(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	const struct adding *a = of;

	return a->stop && *a->stop ? 1 : tag_paths_line(a->paths, t, line);
}

static int add_up(void *ctx, const volatile sig_atomic_t *stop, struct error *err)
{
	struct tags_model *m = ctx;
	struct adding adding = {tag_paths_new(TAG_PATHS_MAX, false), stop};
	struct tag_trace_options options = {.line = add_line, .of = &adding};
	struct tag_trace_result result;
	int ret = tag_trace_run(m->recording, &options, &result, err);

	if (!ret && stop && *stop)
		ret = error_set(err, EINTR, "interrupted");
	if (!ret)
		tag_paths_finish(adding.paths, m->recording, &m->n);
	tag_paths_free(adding.paths);
	return ret ? ret : sql_add_named(m->sql, &m->n, NULL, NULL, err);
}

int sql_add_tags(struct sql *s, const char *path, struct error *err)
{
	struct tags_model *m = xcalloc(1, sizeof(*m));
	int ret;

	m->sql = s;
	symbolized_profile_init(&m->n);
	ret = ctf_recording_open(&m->recording, path, err);
	if (ret) {
		free_model(m);
		return ret;
	}
	vec_each (names, &m->recording->names)
		tag_names_show(*names, demangle);
	sql_load_later(s, add_up, m, free_model);
	return sql_add_tag_events(s, m->recording, err);
}

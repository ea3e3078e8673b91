/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_tables: a trace of event tags as tables: its calls by path, added up in one reading when
 * it is opened, and its events as they are asked for.
 */
#include "base/xalloc.h"
#include "format/ctf.h"
#include "sql/event_tables.h"
#include "sql/pprof_tables.h"
#include "sql/sql.h"
#include "symbol/demangle.h"
#include "view/tag_paths.h"

#include <stdlib.h>

/* Events come from the recording, so it stays. */
struct tags_model {
	struct tag_recording *recording;
	struct named_paths n;
};

static void free_model(void *ctx)
{
	struct tags_model *m = ctx;

	named_paths_done(&m->n);
	tag_recording_free(m->recording);
	free(m);
}

static int add_up(struct tags_model *m, struct error *err)
{
	struct tag_paths *paths = tag_paths_new(TAG_PATHS_MAX, false);
	struct tag_trace_options options = {.line = tag_paths_line, .of = paths};
	struct tag_trace_result result;
	int ret = tag_trace_run(m->recording, &options, &result, err);

	if (!ret)
		tag_paths_finish(paths, m->recording, &m->n);
	tag_paths_free(paths);
	return ret;
}

int sql_add_tags(struct sql *s, const char *path, struct error *err)
{
	struct tags_model *m = xcalloc(1, sizeof(*m));
	int ret;

	named_paths_init(&m->n);
	ret = ctf_recording_open(&m->recording, path, err);
	if (!ret) {
		vec_each (names, &m->recording->names)
			tag_names_show(*names, demangle);
		ret = add_up(m, err);
	}
	if (ret) {
		free_model(m);
		return ret;
	}
	ret = sql_add_named(s, &m->n, free_model, m, err);
	return ret ? ret : sql_add_tag_events(s, m->recording, err);
}

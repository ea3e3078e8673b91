/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/sql/sql_source.h"

#include "base/memory/xalloc.h"
#include "cmd/load/load_store.h"
#include "format/file_kind.h"
#include "format/profiles/profile_file.h"
#include "store/store.h"
#include "store/store_path.h"
#include "view/symbolized/symbolized.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int load_samples(void *ctx, const volatile sig_atomic_t *stop, struct error *err)
{
	struct sql_source *s = ctx;
	int ret;

	s->options.stop = stop;
	s->options.waits = true;
	ret = load_profile(&s->profile, &s->options, err);
	if (ret)
		return ret;
	s->symbols = load_symbolizer(s->profile, &s->options);
	return sql_add_profile(s->sql, s->profile, s->symbols, err);
}

static int load_call_paths(void *ctx, const volatile sig_atomic_t *stop, struct error *err)
{
	struct sql_source *s = ctx;
	int ret = load_calls(&s->calls, &s->options, err);

	if (ret)
		return ret;
	s->symbols = load_calls_symbolizer(s->calls, &s->options);
	return sql_add_calls(s->sql, s->calls, s->symbols, err);
}

static int load_pprof(void *ctx, const volatile sig_atomic_t *stop, struct error *err)
{
	struct sql_source *s = ctx;
	struct buf left = {0};
	int ret;

	symbolized_profile_init(&s->named);
	s->named.depth_max = NAMED_DEPTH_MAX;
	ret = profile_file_read(&s->named, s->path, &left, err);
	s->has_named = !ret;
	if (ret)
		symbolized_profile_done(&s->named);
	else
		command_remarks(s->path, left.data);
	buf_done(&left);
	return ret ? ret : sql_add_pprof(s->sql, &s->named, err);
}

static int open_recording(struct sql_source *s, struct error *err)
{
	enum load_kind kind;
	int ret = load_kind(&kind, &s->options, err);

	if (ret)
		return ret;
	if (kind == LOAD_TAGS)
		return sql_add_tags(s->sql, s->path, err);
	if (kind == LOAD_SAMPLES) {
		ret = load_check(&s->options, err);
		if (!ret)
			ret = sql_add_recording(s->sql, s->path, err);
	}
	sql_load_later(s->sql,
	               kind == LOAD_PPROF   ? load_pprof
	               : kind == LOAD_CALLS ? load_call_paths
	                                    : load_samples,
	               s, NULL);
	return ret;
}

/* Tables of a file are read where they are; of a store on a server, the chosen part is copied. */
static int open_store(struct sql_source *s, struct error *err)
{
	const struct load_options *o = &s->options;
	struct store_range range;
	int ret = load_store_range(&range, o, err);

	if (!ret && !store_is_remote(s->path) &&
	    (o->from || o->to || o->host || o->service || o->build))
		ret = error_set(
		        err, EINVAL,
		        "%s is a file: --from, --until, --host, --service and --build are for "
		        "stores on a server; select with WHERE (docs/SQL.md)",
		        s->path);
	range.host = range.host ? range.host : "*";
	if (!ret)
		ret = sql_open_store_range(&s->sql, s->path, &range, err);
	if (!ret)
		sql_stop_when(s->sql, NULL);
	return ret;
}

int sql_source_open(struct sql_source *s, const char *path, const struct load_options *options,
                    struct error *err)
{
	enum file_kind kind;
	int ret;

	*s = (struct sql_source){.options = *options, .path = store_path_to_read(path)};
	path = s->path;
	/* Other inputs in the options are not read. */
	s->options.inputs = (struct option_list){0};
	s->options.arguments = &s->path;
	s->options.argument_count = 1;
	s->options.store = NULL;
	if (!s->options.window_ns)
		s->options.window_ns = SQL_SOURCE_WINDOW_NS;
	kind = store_is_remote(path) ? FILE_STORE : file_kind_of(path, NULL);
	if (kind == FILE_STORE)
		return open_store(s, err);
	if (options->from || options->to || options->host || options->service || options->build)
		return error_set(
		        err, EINVAL,
		        "--from, --until, --host, --service and --build are for stores on a "
		        "server (clickhouse://HOST/DATABASE); %s is a recording",
		        path);
	if (kind == FILE_DATABASE)
		return error_set(err, EINVAL,
		                 "%s is a database, but not a store of assay: sqlite3 and other "
		                 "programs read it directly",
		                 path);
	ret = sql_open(&s->sql, err);
	return ret ? ret : open_recording(s, err);
}

void sql_source_close(struct sql_source *s)
{
	sql_close(s->sql);
	symbolizer_free(s->symbols);
	profile_free(s->profile);
	call_paths_free(s->calls);
	if (s->has_named)
		symbolized_profile_done(&s->named);
	free(s->path);
	*s = (struct sql_source){0};
}

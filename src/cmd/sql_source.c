/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/sql_source.h"

#include "base/regular_file.h"
#include "format/pprof_read.h"
#include "store/store.h"
#include "view/named.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int open_samples(struct sql_source *s, const struct load_options *o, struct error *err)
{
	int ret = load_profile(&s->profile, o, err);

	if (ret)
		return ret;
	s->symbols = load_symbolizer(s->profile, o);
	return sql_add_profile(s->sql, s->profile, s->symbols, o->arguments[0], err);
}

static int open_calls(struct sql_source *s, const struct load_options *o, struct error *err)
{
	int ret = load_calls(&s->calls, o, err);

	if (ret)
		return ret;
	s->symbols = load_calls_symbolizer(s->calls, o);
	return sql_add_calls(s->sql, s->calls, s->symbols, err);
}

/* Each line of what the reader left out. */
static void tell_left(const char *path, struct buf *left)
{
	char *rest = left->data, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			command_fail(0, "%s: %s", path, line);
}

static int open_pprof(struct sql_source *s, const char *path, struct error *err)
{
	struct buf left = {0};
	int ret;

	named_paths_init(&s->named);
	s->named.depth_max = NAMED_DEPTH_MAX;
	s->has_named = true;
	ret = pprof_read(&s->named, path, &left, err);
	if (!ret)
		tell_left(path, &left);
	buf_done(&left);
	return ret ? ret : sql_add_pprof(s->sql, &s->named, err);
}

/* What 'assay export --to sqlite' makes, among others. */
static bool is_database(const char *path)
{
	char bytes[16] = "";
	struct stat st;
	int fd = regular_file_open(path, &st);
	bool is;

	if (fd < 0)
		return false;
	is = regular_file_read(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
	     !memcmp(bytes, "SQLite format 3", sizeof(bytes));
	close(fd);
	return is;
}

int sql_source_open(struct sql_source *s, const char *path, const struct load_options *options,
                    struct error *err)
{
	struct load_options one = *options, *o = &one;
	char *arguments[] = {(char *)(uintptr_t)path, NULL};
	enum load_kind kind;
	int ret;

	/* What else was named is not read. */
	one.inputs = (struct option_list){0};
	one.arguments = arguments;
	one.argument_count = 1;
	one.store = NULL;
	if (!one.window_ns)
		one.window_ns = SQL_SOURCE_WINDOW_NS;

	*s = (struct sql_source){0};
	if (store_recognise(path))
		return sql_open_store(&s->sql, path, err);
	if (is_database(path))
		return error_set(err, EINVAL,
		                 "%s is a database, but no store of assay's: sqlite3 and other "
		                 "programs read it as it is",
		                 path);
	ret = sql_open(&s->sql, err);
	if (!ret && pprof_recognise(path))
		return open_pprof(s, path, err);
	if (!ret)
		ret = load_kind(&kind, o, err);
	if (ret)
		return ret;
	return kind == LOAD_TAGS    ? sql_add_tags(s->sql, path, err)
	       : kind == LOAD_CALLS ? open_calls(s, o, err)
	                            : open_samples(s, o, err);
}

void sql_source_close(struct sql_source *s)
{
	sql_close(s->sql);
	symbolizer_free(s->symbols);
	profile_free(s->profile);
	call_paths_free(s->calls);
	if (s->has_named)
		named_paths_done(&s->named);
	*s = (struct sql_source){0};
}

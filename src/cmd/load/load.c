/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/load.h"

#include "base/memory/xalloc.h"
#include "cmd/load/load_kind.h"
#include "cmd/load/load_store.h"
#include "cmd/load/load_time.h"
#include "format/calls/calls_file.h"
#include "format/jit/jit_finder.h"
#include "format/perf/perf_data.h"
#include "format/perf/tracepoint_fields.h"
#include "profile/profile_builder.h"
#include "view/calls/call_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef int load_file_fn(void *ctx, const char *path, const struct perf_data_read_options *ro,
                         struct error *err);

static int each_file(const struct load_options *o, load_file_fn *fn, void *ctx, struct error *err)
{
	const char *path;
	int ret = 0;

	for (size_t n = 0; !ret && (path = load_file(o, n)); n++) {
		struct perf_data_read_options ro = {0};

		ret = load_kind_check_samples(path, err);
		if (!ret)
			ret = load_time_resolve(path, o->time, &ro, err);
		if (!ret)
			ret = fn(ctx, path, &ro, err);
	}
	return ret;
}

int load_check(const struct load_options *o, struct error *err)
{
	const char *path;
	int ret = 0;

	for (size_t n = 0; !ret && (path = load_file(o, n)); n++)
		ret = load_kind_check_samples(path, err);
	return ret;
}

struct profile_reading {
	struct profile *profile;
	const char *root;
	bool time_axis, switches, waits, system_calls;
	enum latency_mode latency;
	uint64_t window_ns;
	struct cache_dir *cache; /* NULL: none, so files are searched at their recorded places */
	const volatile sig_atomic_t *stop;
};

/* Passes events to a sink until *stop is set. */
struct stoppable {
	struct event_sink sink;
	const volatile sig_atomic_t *stop;
};

static int stoppable_begin(void *ctx, const struct recording *r, struct error *err)
{
	const struct stoppable *s = ctx;

	return s->sink.begin ? s->sink.begin(s->sink.ctx, r, err) : 0;
}

static int stoppable_event(void *ctx, const struct event *e, struct error *err)
{
	const struct stoppable *s = ctx;

	return *s->stop ? error_set(err, EINTR, "interrupted") : s->sink.event(s->sink.ctx, e, err);
}

static int stoppable_end(void *ctx, const struct recording *r, struct error *err)
{
	const struct stoppable *s = ctx;

	return s->sink.end ? s->sink.end(s->sink.ctx, r, err) : 0;
}

static int read_profile(void *ctx, const char *path, const struct perf_data_read_options *ro,
                        struct error *err)
{
	const struct profile_reading *reading = ctx;
	struct profile *p = reading->profile;
	struct profile_builder_options bo = {.root = reading->root,
	                                     .cache = reading->cache,
	                                     .window_ns = reading->window_ns,
	                                     .time_axis = reading->time_axis,
	                                     .switches = reading->switches,
	                                     .waits = reading->waits,
	                                     .system_calls = reading->system_calls,
	                                     .fields = p->fields.labels.count ? tracepoint_fields_of
	                                                                      : NULL,
	                                     .latency = reading->latency};
	struct profile_builder *b = profile_builder_new(p, &bo);
	struct stoppable stoppable = {profile_builder_sink(b), reading->stop};
	struct event_sink sink = {&stoppable, stoppable_begin, stoppable_event, stoppable_end};
	struct recording *r = xcalloc(1, sizeof(*r));
	struct jit_finder finder = {r, reading->root, reading->cache};
	struct perf_data_read_options part = *ro;
	int ret;

	recording_init(r);
	part.outside_too = true;
	vec_push(&p->recordings, r);
	process_table_set_jit(p->processes, jit_finder_find, &finder);
	ret = perf_data_read(path, &part, r, reading->stop ? &sink : &stoppable.sink, err);
	process_table_set_jit(p->processes, NULL, NULL);
	profile_builder_free(b);
	return ret;
}

static int read_files(struct profile *p, const struct load_options *o, struct error *err)
{
	struct profile_reading reading = {.profile = p,
	                                  .root = o->root,
	                                  .window_ns = o->window_ns,
	                                  .time_axis = o->time_axis,
	                                  .switches = o->switches,
	                                  .waits = o->waits,
	                                  .system_calls = o->system_calls,
	                                  .latency = o->latency,
	                                  .stop = o->stop};
	int ret;

	for (size_t i = 0; i < o->field_count; i++)
		sample_fields_want(&p->fields, o->fields[i]);
	cache_dir_open(&reading.cache, NULL);
	ret = each_file(o, read_profile, &reading, err);
	cache_dir_close(reading.cache);
	return ret;
}

int load_profile(struct profile **out, const struct load_options *o, struct error *err)
{
	struct profile *p = profile_new();
	char *store;
	int ret;

	ret = load_store_path(&store, o, err);
	if (!ret)
		ret = store ? load_store_read(p, store, o, err) : read_files(p, o, err);
	free(store);
	if (!ret) {
		profile_weigh_idle(p);
		profile_seal(p);
		ret = load_check_kernel(p, o, err);
	}
	if (ret) {
		profile_free(p);
		return ret;
	}
	*out = p;
	return 0;
}

static int read_ticks(void *ctx, const char *path, const struct perf_data_read_options *ro,
                      struct error *err)
{
	struct event_sink sink = ticks_sink(ctx);
	struct recording r;
	int ret;

	recording_init(&r);
	ret = perf_data_read(path, ro, &r, &sink, err);
	recording_done(&r);
	return ret;
}

int load_ticks(struct ticks *t, const struct load_options *o, struct error *err)
{
	char *store;
	int ret;

	ticks_init(t);
	ret = load_store_path(&store, o, err);
	if (!ret && store)
		ret = error_set(err, EINVAL,
		                "%s is a store: it contains sums of windows, but not the time of "
		                "each sample; use a recording ('assay record')",
		                store);
	else if (!ret)
		ret = each_file(o, read_ticks, t, err);
	free(store);
	return ret;
}

int load_calls(struct call_paths **out, const struct load_options *o, struct error *err)
{
	struct call_paths *c = call_paths_new();
	const char *path;
	int ret = 0;

	for (size_t i = 0; !ret && (path = load_file(o, i)); i++)
		ret = calls_file_load(c, strcmp(path, "-") != 0 ? path : "/dev/stdin", err);
	if (!ret) {
		call_paths_close(c);
		ret = load_check_calls_kernel(c, o, err);
	}
	if (ret) {
		call_paths_free(c);
		return ret;
	}
	*out = c;
	return 0;
}

int load_named_calls(struct loaded_calls *l, const struct load_options *o, struct error *err)
{
	int ret = load_calls(&l->paths, o, err);

	if (ret)
		return ret;
	l->symbols = load_calls_symbolizer(l->paths, o);
	l->names = call_names_new(l->paths, l->symbols, o->raw_names);
	return 0;
}

void loaded_calls_done(struct loaded_calls *l)
{
	call_names_free(l->names);
	symbolizer_free(l->symbols);
	call_paths_free(l->paths);
}

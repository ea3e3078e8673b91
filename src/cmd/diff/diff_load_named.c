/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff/diff_load_named.h"

#include "format/ctf/ctf.h"
#include "format/pprof/pprof_read.h"
#include "symbol/demangle/demangle.h"
#include "view/diff/diff_sources.h"
#include "view/symbolized/symbolized.h"
#include "view/symbolized/symbolized_report.h"
#include "view/tags/tag_paths.h"

#include <stdlib.h>
#include <string.h>

static char *as_it_is(const char *name)
{
	return NULL;
}

static int read_calls(struct symbolized_profile *n, const struct load_options *load,
                      struct error *err)
{
	const struct filter all = {0};
	struct call_paths *c;
	struct symbolizer *symbols;
	struct call_names *names;
	int ret = load_calls(&c, load, err);

	if (ret)
		return ret;
	symbols = load_calls_symbolizer(c, load);
	names = call_names_new(c, symbols, load->raw_names);
	ret = named_of_calls(n, c, names, NULL, &all, err);
	call_names_free(names);
	symbolizer_free(symbols);
	call_paths_free(c);
	return ret;
}

static int add_line(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	return tag_paths_line(of, t, line);
}

static int read_tags(struct symbolized_profile *n, const char *path,
                     const struct load_options *load, struct error *err)
{
	struct tag_paths *paths = tag_paths_new(TAG_PATHS_MAX, false);
	struct tag_trace_options options = {.line = add_line, .of = paths};
	struct tag_recording *recording = NULL;
	struct tag_trace_result result;
	int ret = ctf_recording_open(&recording, path, err);

	if (!ret) {
		vec_each (names, &recording->names)
			tag_names_show(*names, load->raw_names ? as_it_is : demangle);
		ret = tag_trace_run(recording, &options, &result, err);
	}
	if (!ret)
		tag_paths_finish(paths, recording, n);
	tag_paths_free(paths);
	tag_recording_free(recording);
	return ret;
}

/* The column with the number of samples; -1: none. */
static int counts_of(const struct symbolized_profile *n)
{
	for (unsigned i = 0; i < n->value_count; i++)
		if (i != n->main_value && !strcmp(n->values[i].unit, "count"))
			return (int)i;
	return -1;
}

static void add_pprof(struct diff_runs *t, uint32_t run, const struct symbolized_profile *n,
                      double *wall_s)
{
	const struct named_value *value = &n->values[n->main_value];
	double ns = named_value_ns(value);
	int counts = ns > 0 ? counts_of(n) : -1;

	*wall_s = (double)n->duration_ns / 1e9;
	t->exact |= counts < 0;
	if (!(ns > 0))
		t->value_unit = !strcmp(value->unit, "bytes") ? "bytes" : "count";
	diff_add_symbolized(t, run, n, n->main_value, counts, ns > 0 ? ns : 1);
}

int diff_load_named(struct diff_runs *t, uint32_t run, enum load_kind kind, const char *path,
                    const struct load_options *load, const char *value, double *wall_s,
                    struct error *err)
{
	char *words[] = {(char *)(uintptr_t)path};
	struct load_options one = *load;
	struct symbolized_profile n;
	int ret;

	one.arguments = words;
	one.argument_count = 1;
	symbolized_profile_init(&n);
	n.depth_max = NAMED_DEPTH_MAX;
	n.wanted = value;
	ret = kind == LOAD_CALLS  ? read_calls(&n, &one, err)
	      : kind == LOAD_TAGS ? read_tags(&n, path, &one, err)
	                          : pprof_read(&n, path, NULL, err);
	if (!ret && kind == LOAD_PPROF) {
		add_pprof(t, run, &n, wall_s);
	} else if (!ret) {
		t->exact = true;
		diff_add_symbolized(t, run, &n, NAMED_NET, NAMED_CALLS, 1);
	}
	symbolized_profile_done(&n);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/load_symbolized.h"

#include "format/ctf/ctf.h"
#include "format/profiles/profile_file.h"
#include "symbol/demangle/demangle.h"
#include "view/symbolized/symbolized.h"
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
	struct loaded_calls calls;
	int ret = load_named_calls(&calls, load, err);

	if (ret)
		return ret;
	ret = named_of_calls(n, calls.paths, calls.names, NULL, &all, err);
	loaded_calls_done(&calls);
	return ret;
}

static int add_line(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	return tag_paths_line(of, t, line);
}

static int read_tags(struct symbolized_profile *n, const struct load_options *load,
                     struct error *err)
{
	struct tag_paths *paths = tag_paths_new(TAG_PATHS_MAX, false);
	struct tag_trace_options options = {.line = add_line, .of = paths};
	struct tag_recording *recording = NULL;
	struct tag_trace_result result;
	int ret = ctf_recording_open(&recording, load_file(load, 0), err);

	if (!ret) {
		vec_each (names, &recording->names)
			tag_names_show(*names, load->raw_names ? as_it_is : demangle);
		ret = tag_trace_run(recording, &options, &result, err);
	}
	if (!ret)
		tag_paths_finish(paths, recording, n);
	if (!ret)
		n->missing_ns = (int64_t)tag_clock_ns(&recording->clock, result.missing);
	tag_paths_free(paths);
	tag_recording_free(recording);
	return ret;
}

int load_symbolized(struct symbolized_profile *n, enum load_kind kind,
                    const struct load_options *load, struct error *err)
{
	if (kind == LOAD_CALLS)
		return read_calls(n, load, err);
	return kind == LOAD_TAGS ? read_tags(n, load, err)
	                         : profile_file_read(n, load_file(load, 0), NULL, err);
}

int load_symbolized_counts(const struct symbolized_profile *n)
{
	for (unsigned i = 0; i < n->value_count; i++)
		if (i != n->main_value && !strcmp(n->values[i].unit, "count"))
			return (int)i;
	return -1;
}

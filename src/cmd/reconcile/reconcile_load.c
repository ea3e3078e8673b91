/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/reconcile/reconcile_load.h"

#include "cmd/load/load_symbolized.h"
#include "view/reconcile/reconcile_sources.h"
#include "view/symbolized/symbolized_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct load_options one_file(const struct load_options *load, char **file)
{
	struct load_options one = *load;

	one.arguments = file;
	one.argument_count = 1;
	return one;
}

static int add_calls(struct reconcile_runs *t, const char *file, const struct load_options *load,
                     struct error *err)
{
	struct loaded_calls calls;
	int ret = load_named_calls(&calls, load, err);

	if (ret)
		return ret;
	reconcile_add_calls(t, file, calls.paths, calls.names);
	loaded_calls_done(&calls);
	return 0;
}

static int add_profile(struct reconcile_runs *t, const char *file,
                       const struct symbolized_profile *n, struct error *err)
{
	double ns = named_value_ns(&n->values[n->main_value]);

	if (!(ns > 0))
		return error_set(err, EINVAL,
		                 "%s: its values are not times, and CPU times are compared", file);
	reconcile_add_profile(t, file, n, n->main_value, ns, load_symbolized_counts(n));
	return 0;
}

static int add_symbolized(struct reconcile_runs *t, const char *file, enum load_kind kind,
                          const struct load_options *load, struct error *err)
{
	struct symbolized_profile n;
	int ret;

	symbolized_profile_init(&n);
	n.depth_max = NAMED_DEPTH_MAX;
	ret = load_symbolized(&n, kind, load, err);
	if (!ret && kind == LOAD_TAGS)
		reconcile_add_tags(t, file, &n);
	else if (!ret)
		ret = add_profile(t, file, &n, err);
	symbolized_profile_done(&n);
	return ret;
}

static int add_samples(struct reconcile_runs *t, const char *file, const struct load_options *load,
                       struct error *err)
{
	const struct filter all = {0};
	struct load_options options = *load;
	struct symbolizer *symbols;
	struct selection s = {0};
	struct profile *p;
	struct view *v;
	int ret;

	options.time_axis = true;
	ret = load_profile(&p, &options, err);
	if (ret)
		return ret;
	symbols = load_symbolizer(p, load);
	v = view_new(p, symbols);
	ret = filter_select(v, &all, profile_clock_event(p), &s, err);
	if (!ret && !s.samples)
		ret = error_set(err, EINVAL, "%s: it has no samples of a clock", file);
	if (!ret)
		reconcile_add_samples(t, file, v, &s);
	selection_done(&s);
	view_free(v);
	symbolizer_free(symbols);
	profile_free(p);
	return ret;
}

static int add_file(struct reconcile_runs *t, char *file, enum load_kind kind,
                    const struct load_options *load, struct error *err)
{
	struct load_options one = one_file(load, &file);

	if (kind == LOAD_SAMPLES)
		return add_samples(t, file, &one, err);
	return kind == LOAD_CALLS ? add_calls(t, file, &one, err)
	                          : add_symbolized(t, file, kind, &one, err);
}

static bool is_counted(enum load_kind kind)
{
	return kind == LOAD_CALLS || kind == LOAD_TAGS;
}

static int check_sides(const enum load_kind *kinds, char *const *files, size_t count,
                       struct error *err)
{
	size_t counted = 0;

	for (size_t i = 0; i < count; i++)
		counted += is_counted(kinds[i]);
	if (counted && counted < count)
		return 0;
	return error_set(err, EINVAL,
	                 "%s %s, and no file has %s: give a recording of 'assay record -g' and one "
	                 "of 'assay calls' or 'assay tags'",
	                 files[0], counted ? "has counted calls" : "has samples",
	                 counted ? "samples" : "counted calls");
}

int reconcile_load(struct reconcile_runs *t, char *const *files, size_t count,
                   const struct load_options *load, struct error *err)
{
	enum load_kind *kinds = calloc(count + 1, sizeof(*kinds));
	int ret = kinds ? 0 : error_set(err, ENOMEM, "out of memory");

	for (size_t i = 0; !ret && i < count; i++) {
		char *file = files[i];
		struct load_options one = one_file(load, &file);

		ret = access(file, R_OK) ? error_set(err, errno, "%s: %s", file, strerror(errno))
		                         : load_kind(&kinds[i], &one, err);
		t->merged |= kinds[i] == LOAD_TAGS || kinds[i] == LOAD_PPROF;
	}
	if (!ret)
		ret = check_sides(kinds, files, count, err);
	for (int counted = 1; counted >= 0; counted--)
		for (size_t i = 0; !ret && i < count; i++)
			if (is_counted(kinds[i]) == (counted == 1))
				ret = add_file(t, files[i], kinds[i], load, err);
	free(kinds);
	return ret;
}

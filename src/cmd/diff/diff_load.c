/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff/diff_load.h"

#include "base/memory/xalloc.h"
#include "cmd/diff/diff_load_named.h"
#include "cmd/load/load_store.h"
#include "view/diff/diff_join.h"
#include "view/diff/diff_sources.h"
#include "view/diff/diff_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a store's range that count as runs. */
#define STORE_PARTS 8

void diff_loading_begin(struct diff_loading *l, struct diff_runs *runs,
                        const struct load_options *load, const char *work)
{
	*l = (struct diff_loading){.runs = runs, .load = load, .work = work};
}

/* The length of all recordings, and whether each is of a whole command. */
static struct diff_amount amount_of(const struct profile *p)
{
	struct diff_amount a = {.is_run = p->recordings.count > 0};

	vec_each (recording, &p->recordings) {
		const struct recording *r = *recording;
		bool measured = r->account.present;

		a.wall_s += (double)recording_elapsed_ns(r) / 1e9;
		if (recording_is_part(r) || (measured && r->account.exit_status < 0) ||
		    (!measured && recording_may_be_machine_wide(r)))
			a.is_run = false;
	}
	return a;
}

/* Resources that the command of a recording used. */
static void add_measures(struct diff_run *run, const struct profile *p)
{
	const struct account_command *c;

	if (p->recordings.count != 1 || recording_is_part(p->recordings.items[0]))
		return;
	c = &p->recordings.items[0]->account.command;
	run->measured = c->wall_ns > 0;
	run->measures[DIFF_WALL] = (double)c->wall_ns;
	run->measures[DIFF_USER_TIME] = (double)c->user_ns;
	run->measures[DIFF_SYSTEM_TIME] = (double)c->system_ns;
	run->measures[DIFF_RSS] = (double)c->rss_bytes;
	run->measures[DIFF_MINOR_FAULTS] = (double)c->minor_faults;
	run->measures[DIFF_MAJOR_FAULTS] = (double)c->major_faults;
	run->measures[DIFF_VOLUNTARY] = (double)c->voluntary_switches;
	run->measures[DIFF_INVOLUNTARY] = (double)c->involuntary_switches;
}

static void add_defects(struct diff_defects *d, const struct profile *p)
{
	vec_each (recording, &p->recordings) {
		const struct recording *r = *recording;

		d->lost_records += recording_lost(r);
		d->cut_short |= r->truncated;
		if (p->recordings.count == 1 && r->account.present)
			d->exit_status = r->account.exit_status;
	}
}

static int count_work(const struct diff_loading *l, const struct profile *p, struct diff_amount *a,
                      struct error *err)
{
	uint8_t event;
	int ret;

	if (!l->work || !strcmp(l->work, "run") || !strcmp(l->work, "wall"))
		return 0;
	ret = profile_find_event(p, l->work, &event, err);
	if (!ret)
		a->events = (double)p->events.items[event].weight;
	return ret;
}

/* Adds the profile as one run, or for a store one run for each part of its time. */
static void add_runs(struct diff_loading *l, enum diff_side side, const char *name, struct view *v,
                     const struct selection *s, struct diff_amount amount, bool store)
{
	double shares[STORE_PARTS] = {1};
	size_t parts = store ? diff_parts(v->profile, STORE_PARTS, shares) : 1;
	uint32_t first = (uint32_t)l->runs->runs.count;

	for (size_t i = 0; i < parts; i++) {
		struct diff_amount part = {amount.events * shares[i], amount.wall_s * shares[i],
		                           amount.is_run};

		diff_runs_add(l->runs, side, name, 1);
		vec_push(&l->amounts, part);
	}
	l->runs->parts |= store;
	if (store) {
		diff_add_parts(l->runs, first, parts, v, s);
		return;
	}
	diff_add_samples(l->runs, first, v, s, l->windows);
	add_measures(&l->runs->runs.items[first], v->profile);
	add_defects(&l->runs->runs.items[first].defects, v->profile);
}

static int add_samples(struct diff_loading *l, enum diff_side side, const char *path,
                       const struct diff_files *files, struct error *err)
{
	struct load_options load = *l->load;
	struct profile *p = NULL;
	struct symbolizer *symbols = NULL;
	struct selection s = {0};
	struct diff_amount amount;
	struct view *v = NULL;
	struct buf name = {0};
	char *words[] = {(char *)(uintptr_t)path}, *store = NULL;
	uint8_t event;
	int ret;

	load.arguments = words;
	load.argument_count = 1;
	load.from = files->from;
	load.to = files->until;
	load.host = files->host;
	load.service = files->service;
	load.build = files->build;
	ret = load_store_path(&store, &load, err);
	load.time_axis = l->windows || store;
	/* Names of threads, numbers and labels are not in sums. */
	if (store && !l->filter.comm.count && !l->filter.pid.count && !l->filter.tid.count &&
	    !l->filter.label.count)
		load.parts = STORE_PARTS;
	if (!ret)
		ret = load_profile(&p, &load, err);
	if (!ret)
		ret = profile_find_event(p, l->event, &event, err);
	if (!ret) {
		symbols = load_symbolizer(p, &load);
		v = view_new(p, symbols);
		ret = filter_select(v, &l->filter, event, &s, err);
	}
	if (!ret) {
		amount = amount_of(p);
		ret = count_work(l, p, &amount, err);
	}
	if (!ret) {
		/* A range of a store is named with its part: both sides may be of one store. */
		load_words(&load, &name);
		add_runs(l, side, store ? buf_text(&name) + 1 : path, v, &s, amount, store != NULL);
	}
	buf_done(&name);
	selection_done(&s);
	view_free(v);
	symbolizer_free(symbols);
	profile_free(p);
	free(store);
	return ret;
}

/* -ENODATA: there are switches, but no samples of them, so the waits have no causes. */
static int check_causes(const struct profile *p, const char *path, struct error *err)
{
	vec_each (event, &p->events)
		if (event->role == ATTR_SWITCH)
			return 0;
	return error_set(err, ENODATA,
	                 "%s has switches of threads without call paths, so its waits have no "
	                 "causes: record it with 'assay record --waits', as root",
	                 path);
}

/* The waits of one recording, as `assay waits` selects them. */
static int add_waits(struct diff_loading *l, enum diff_side side, const char *path,
                     struct error *err)
{
	const struct wait_options o = {.request.filter = l->filter};
	struct load_options load = *l->load;
	struct wait_report *report = NULL;
	struct symbolizer *symbols = NULL;
	struct profile *p = NULL;
	char *words[] = {(char *)(uintptr_t)path};
	struct diff_amount amount = {0};
	struct view *v = NULL;
	int ret;

	load.arguments = words;
	load.argument_count = 1;
	load.waits = true;
	ret = load_profile(&p, &load, err);
	if (!ret)
		ret = check_causes(p, path, err);
	if (!ret) {
		symbols = load_symbolizer(p, &load);
		v = view_new(p, symbols);
		ret = wait_report_new(&report, v, &p->waits, &o, err);
	}
	if (!ret) {
		amount = amount_of(p);
		ret = count_work(l, p, &amount, err);
	}
	if (!ret) {
		uint32_t run = diff_runs_add(l->runs, side, path, 1);

		vec_push(&l->amounts, amount);
		diff_add_waits(l->runs, run, report);
		add_measures(&l->runs->runs.items[run], p);
		add_defects(&l->runs->runs.items[run].defects, p);
	}
	wait_report_free(report);
	view_free(v);
	symbolizer_free(symbols);
	profile_free(p);
	return ret;
}

static int check_waits(const struct diff_loading *l, const char *path,
                       const struct diff_files *files, struct error *err)
{
	struct load_options load = *l->load;
	char *words[] = {(char *)(uintptr_t)path}, *store = NULL;
	int ret;

	if (l->kind != LOAD_SAMPLES)
		return error_set(err, EINVAL,
		                 "%s has no waits: --waits compares recordings of 'assay record "
		                 "--waits'",
		                 path);
	load.arguments = words;
	load.argument_count = 1;
	load.from = files->from;
	load.to = files->until;
	ret = load_store_path(&store, &load, err);
	if (!ret && store)
		ret = error_set(err, EINVAL,
		                "%s is a store, which has sums of windows and no waits: --waits "
		                "compares recordings of 'assay record --waits'",
		                path);
	free(store);
	return ret;
}

static int check_kind(struct diff_loading *l, const char *path, struct error *err)
{
	static const char *const names[] = {[LOAD_SAMPLES] = "samples",
	                                    [LOAD_CALLS] = "counted calls",
	                                    [LOAD_TAGS] = "event tags",
	                                    [LOAD_PPROF] = "a pprof profile"};
	char *words[] = {(char *)(uintptr_t)path};
	struct load_options one = {.arguments = words, .argument_count = 1};
	enum load_kind kind;
	int ret = load_kind(&kind, &one, err);

	if (ret)
		return ret;
	if (l->runs->runs.count && kind != l->kind)
		return error_set(err, EINVAL,
		                 "%s holds %s, and %s holds %s: only recordings of one kind can be "
		                 "compared",
		                 path, names[kind], l->runs->runs.items[0].name, names[l->kind]);
	l->kind = kind;
	return 0;
}

int diff_loading_add(struct diff_loading *l, enum diff_side side, const struct diff_files *files,
                     struct error *err)
{
	for (int i = 0; i < files->count; i++) {
		const char *path = files->files[i];
		struct diff_amount amount = {.is_run = true};
		int ret = check_kind(l, path, err);

		if (!ret && l->waits)
			ret = check_waits(l, path, files, err);
		if (!ret && l->waits)
			ret = add_waits(l, side, path, err);
		else if (!ret && l->kind == LOAD_SAMPLES)
			ret = add_samples(l, side, path, files, err);
		else if (!ret) {
			diff_runs_add(l->runs, side, path, 1);
			ret = diff_load_named(l->runs, (uint32_t)l->runs->runs.count - 1, l->kind,
			                      path, l->load, l->event, &amount.wall_s, err);
			vec_push(&l->amounts, amount);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static double work_of(const struct diff_loading *l, const struct diff_amount *a, bool runs)
{
	if (l->work && strcmp(l->work, "run") != 0 && strcmp(l->work, "wall") != 0)
		return a->events;
	return runs ? 1 : a->wall_s;
}

int diff_loading_end(struct diff_loading *l, struct error *err)
{
	bool by_run = l->work && !strcmp(l->work, "run");
	bool by_wall = l->work && !strcmp(l->work, "wall"), runs = true;
	int ret = 0;

	vec_each (amount, &l->amounts)
		runs &= amount->is_run;
	runs = by_run || (runs && !by_wall);
	l->runs->work_unit = l->work && !by_run && !by_wall ? l->work : runs ? "run" : "s";
	l->runs->wall_assumed = !l->work && !runs;
	for (size_t i = 0; !ret && i < l->amounts.count; i++) {
		struct diff_run *run = &l->runs->runs.items[i];

		run->work = work_of(l, &l->amounts.items[i], runs);
		if (!(run->work > 0))
			ret = error_set(err, EINVAL,
			                "%s contains no %s, so its time cannot be related to its "
			                "work; --work run compares whole runs",
			                run->name, runs || by_wall || !l->work ? "time" : l->work);
	}
	vec_done(&l->amounts);
	if (!ret && !l->waits)
		diff_join_images(l->runs);
	return ret;
}

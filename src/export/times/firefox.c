/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/firefox.h"

#include "export/times/firefox_counters.h"
#include "export/times/firefox_markers.h"
#include "export/times/firefox_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Version of the format from which readers convert; they do not use it here. */
#define GECKO_VERSION 31
#define SAMPLE_BYTES 30u
#define NS_PER_MS 1000000.0

/* One sample of a thread. */
struct firefox_sample {
	double time_ms;
	int64_t weight; /* of the main value, or ns of CPU time */
	uint32_t path;
};

typedef VEC(struct firefox_sample) firefox_samples;

struct firefox {
	const struct symbolized_profile *n;
	struct timed_samples *t; /* NULL: no times */
	struct spill *out;
	struct json j;
	firefox_samples *of; /* by owner */
	uint32_t *stack_of;  /* by path */
	struct firefox_markers markers;
	struct firefox_counters counters;
};

uint64_t firefox_estimate(const struct timed_samples *t)
{
	return t->total * SAMPLE_BYTES +
	       t->moments.profile->switches.absences.count * FIREFOX_MARKER_BYTES;
}

static const char *unit_of(const struct firefox *f)
{
	return f->n->value_count ? f->n->values[f->n->main_value].unit : "";
}

/* The reader has weights in ms and bytes; other units are numbers of samples. */
static const char *weight_type(const struct firefox *f)
{
	if (f->t)
		return "samples";
	if (!strcmp(unit_of(f), "nanoseconds"))
		return "tracing-ms";
	return !strcmp(unit_of(f), "bytes") ? "bytes" : "samples";
}

static void collect_timed(struct firefox *f)
{
	struct sample_moment m;
	uint64_t last_ns = 0;

	while (timed_samples_next(f->t, &m)) {
		const struct named_row *row = &f->n->rows.items[m.row];
		uint64_t time_ns = m.time_ns - f->markers.begin_ns;
		struct firefox_sample sample = {.time_ms = (double)time_ns / NS_PER_MS,
		                                .weight = (int64_t)m.weight,
		                                .path = row->path};

		vec_push(&f->of[row->owner], sample);
		if (f->t->weight_is_ns && m.mode != PROFILE_IDLE)
			firefox_counters_add(&f->counters, f->n->owners.items[row->owner].pid,
			                     time_ns, m.weight);
		last_ns = m.time_ns;
	}
	if (f->t->written < f->t->total)
		f->markers.last_ns = last_ns;
}

/* Without times, the samples of a thread are one after the other. */
static void collect_rows(struct firefox *f)
{
	double scale = !strcmp(weight_type(f), "tracing-ms") ? NS_PER_MS : 1;
	double *at = xcalloc(f->n->owners.count + 1, sizeof(*at));

	vec_each (row, &f->n->rows) {
		int64_t value = row->values[f->n->main_value];
		struct firefox_sample sample = {at[row->owner], value, row->path};

		if (!value)
			continue;
		vec_push(&f->of[row->owner], sample);
		at[row->owner] += (value < 0 ? -(double)value : (double)value) / scale;
	}
	free(at);
}

static void put_ms(struct firefox *f, double ms)
{
	char text[40];

	snprintf(text, sizeof(text), "%.6f", ms);
	json_raw(&f->j, text);
	spill_some(f->out);
}

static void put_weights(struct firefox *f, const firefox_samples *samples)
{
	bool ms = !strcmp(weight_type(f), "tracing-ms");

	json_kstr(&f->j, "weightType", weight_type(f));
	json_key(&f->j, "weight");
	if (f->t) {
		json_null(&f->j);
		return;
	}
	json_array(&f->j);
	vec_each (sample, samples) {
		if (ms)
			put_ms(f, (double)sample->weight / NS_PER_MS);
		else
			json_i64(&f->j, sample->weight);
	}
	json_end_array(&f->j);
}

static void put_samples(struct firefox *f, const firefox_samples *samples)
{
	struct json *j = &f->j;

	json_key(j, "samples");
	json_object(j);
	json_key(j, "stack");
	json_array(j);
	vec_each (sample, samples) {
		if (f->stack_of[sample->path] == NAMED_NONE)
			json_null(j);
		else
			json_u64(j, f->stack_of[sample->path]);
		spill_some(f->out);
	}
	json_end_array(j);
	json_key(j, "time");
	json_array(j);
	vec_each (sample, samples)
		put_ms(f, sample->time_ms);
	json_end_array(j);
	put_weights(f, samples);
	if (f->t && f->t->weight_is_ns) {
		json_key(j, "threadCPUDelta");
		json_array(j);
		vec_each (sample, samples) {
			json_i64(j, sample->weight);
			spill_some(f->out);
		}
		json_end_array(j);
	}
	json_ku64(j, "length", samples->count);
	json_end_object(j);
}

static bool is_main(const struct named_owner *o)
{
	return !o->tid || o->tid == o->pid;
}

static void put_thread(struct firefox *f, uint32_t owner)
{
	const struct named_owner *o = &f->n->owners.items[owner];
	const char *process = intern_text(&f->n->texts, o->process);
	const char *name = intern_text(&f->n->texts, o->thread ? o->thread : o->process);
	struct json *j = &f->j;
	char pid[16];

	snprintf(pid, sizeof(pid), "%" PRId32, o->pid);
	json_object(j);
	json_kstr(j, "processType", "default");
	json_kdouble(j, "processStartupTime", 0);
	json_key(j, "processShutdownTime");
	json_null(j);
	json_kdouble(j, "registerTime", 0);
	json_key(j, "unregisterTime");
	json_null(j);
	json_key(j, "pausedRanges");
	json_raw(j, "[]");
	json_kstr(j, "name", *name ? name : "[unknown]");
	json_kbool(j, "isMainThread", is_main(o));
	json_kbool(j, "showMarkersInTimeline", true);
	json_kstr(j, "processName", process);
	json_kstr(j, "pid", pid);
	json_ki64(j, "tid", o->tid ? o->tid : o->pid);
	put_samples(f, &f->of[owner]);
	json_key(j, "markers");
	firefox_markers_write(&f->markers, owner, j, f->out);
	json_end_object(j);
}

static void put_category(struct firefox *f, const char *name, const char *colour)
{
	json_object(&f->j);
	json_kstr(&f->j, "name", name);
	json_kstr(&f->j, "color", colour);
	json_key(&f->j, "subcategories");
	json_raw(&f->j, "[\"Other\"]");
	json_end_object(&f->j);
}

static void put_meta(struct firefox *f)
{
	struct json *j = &f->j;
	bool period = f->n->period > 0 && f->t && f->t->weight_is_ns;

	json_key(j, "meta");
	json_object(j);
	json_kdouble(j, "interval", period ? (double)f->n->period / NS_PER_MS : 1);
	json_key(j, "startTime");
	put_ms(f, (double)f->n->time_ns / NS_PER_MS);
	json_ku64(j, "processType", 0);
	json_ku64(j, "stackwalk", 1);
	json_ku64(j, "version", GECKO_VERSION);
	json_ku64(j, "preprocessedProfileVersion", FIREFOX_VERSION);
	json_kstr(j, "product", f->n->command ? intern_text(&f->n->texts, f->n->command) : "assay");
	json_kstr(j, "importedFrom", "assay " ASSAY_VERSION);
	json_kbool(j, "symbolicated", true);
	json_kbool(j, "symbolicationNotSupported", true);
	json_kbool(j, "usesOnlyOneStackType", true);
	json_kbool(j, "sourceCodeIsNotOnSearchfox", true);
	json_key(j, "markerSchema");
	firefox_markers_schema(j);
	json_key(j, "categories"); /* in the order of enum firefox_category */
	json_array(j);
	put_category(f, "Other", "grey");
	put_category(f, "User", "yellow");
	put_category(f, "Kernel", "orange");
	json_end_array(j);
	json_key(j, "sampleUnits");
	json_raw(j, "{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}");
	json_end_object(j);
}

static void put_threads(struct firefox *f)
{
	uint32_t index = 0;

	json_key(&f->j, "threads");
	json_array(&f->j);
	for (uint32_t i = 0; i < f->n->owners.count; i++) {
		const struct named_owner *o = &f->n->owners.items[i];

		if (f->of[i].count) {
			put_thread(f, i);
			firefox_counters_thread(&f->counters, o->pid, index++, is_main(o));
		}
		vec_done(&f->of[i]);
	}
	json_end_array(&f->j);
}

void firefox_write(const struct symbolized_profile *n, struct timed_samples *t, struct spill *out)
{
	struct firefox f = {.n = n, .t = t, .out = out};

	f.of = xcalloc(n->owners.count + 1, sizeof(*f.of));
	f.stack_of = xcalloc(n->paths.count, sizeof(*f.stack_of));
	firefox_markers_init(&f.markers, n, t);
	if (t)
		collect_timed(&f);
	else
		collect_rows(&f);
	json_init(&f.j, &out->buf);
	f.j.compact = true;
	json_object(&f.j);
	put_meta(&f);
	firefox_tables_write(n, &f.j, out, f.stack_of);
	put_threads(&f);
	firefox_counters_write(&f.counters, &f.j, out);
	json_end_object(&f.j);
	firefox_counters_done(&f.counters);
	firefox_markers_done(&f.markers);
	free(f.of);
	free(f.stack_of);
}

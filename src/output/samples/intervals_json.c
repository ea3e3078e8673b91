/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/samples/intervals_text.h"

#include <stdio.h>

static void figures(struct json *j, const char *key, const struct intervals_figures *f)
{
	char name[16];

	json_key(j, key);
	if (!f->count) {
		json_null(j);
		return;
	}
	json_object(j);
	json_ku64(j, "count", f->count);
	json_kdouble(j, "mean_ns", f->mean_ns);
	json_kdouble(j, "deviation_ns", f->deviation_ns);
	json_kdouble(j, "min_ns", f->min_ns);
	json_kdouble(j, "max_ns", f->max_ns);
	json_key(j, "percentiles_ns");
	json_object(j);
	for (size_t i = 0; i < INTERVALS_PERCENTILES; i++) {
		snprintf(name, sizeof(name), "%.0f", intervals_percentiles[i]);
		json_kdouble(j, name, f->percentiles_ns[i]);
	}
	json_end_object(j);
	json_key(j, "curve_ns");
	json_array(j);
	for (size_t i = 0; i <= INTERVALS_CURVE; i++)
		json_double(j, f->curve_ns[i]);
	json_end_array(j);
	json_end_object(j);
}

static void expected(struct json *j, const struct intervals *v)
{
	json_key(j, "expected_ns");
	if (v->period_ns)
		json_u64(j, v->period_ns);
	else
		json_null(j);
}

static void cpu(struct json *j, const struct intervals *v, const struct intervals_cpu *c)
{
	json_object(j);
	json_ku64(j, "recording", c->recording);
	json_key(j, "cpu");
	if (c->cpu == EVENT_NO_CPU)
		json_null(j);
	else
		json_u64(j, c->cpu);
	json_ku64(j, "samples", c->samples);
	expected(j, v);
	json_key(j, "missing");
	if (v->period_ns && v->machine_wide)
		json_u64(j, c->missing);
	else
		json_null(j);
	json_ku64(j, "out_of_order", c->backwards);
	figures(j, "intervals", &c->all);
	figures(j, "trimmed", &c->trimmed);
	figures(j, "late", &c->late);
	json_key(j, "histogram");
	json_array(j);
	for (size_t b = 0; c->all.count && b < INTERVALS_BINS; b++) {
		json_object(j);
		json_ku64(j, "from_ns", c->bins[b].from_ns);
		json_ku64(j, "to_ns", c->bins[b].to_ns);
		json_ku64(j, "count", c->bins[b].count);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

void intervals_json(const struct intervals *v, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j);
	json_kstr(&j, "assay", ASSAY_VERSION);
	json_kstr(&j, "kind", "intervals");
	json_kstr(&j, "event", v->event ? v->event : "");
	expected(&j, v);
	json_kbool(&j, "machine_wide", v->machine_wide);
	json_kbool(&j, "cut", v->cut);
	json_key(&j, "cpus");
	json_array(&j);
	vec_each (c, &v->cpus)
		cpu(&j, v, c);
	json_end_array(&j);
	json_end_object(&j);
}

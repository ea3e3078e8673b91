/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page_times.h"

#include "view/symbolized/sample_moments.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 16             /* in the mean distance of two samples, at least */
#define STEP_MOST (1u << 20) /* ns: about 1 ms */
#define NEW_WEIGHT 1u        /* the entry has a weight of its own */

struct page_times {
	struct moment_axis axis;
	uint64_t step_ns, end_ns, usual; /* usual: weight of one sample */
	size_t count;
	struct buf time, row, cpu, samples, weight;
};

struct row_hits {
	uint64_t hits;
	uint32_t row;
};

static int compare_hits(const void *a, const void *b)
{
	const struct row_hits *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits > y->hits ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* The row in the page. */
static uint32_t row_of(const struct page_model *m, const struct sample_moment *moment)
{
	return m->row_of[moment->row] - 1;
}

void page_times_sort(struct page_model *m)
{
	struct row_hits *rows = xcalloc(m->rows.count + 1, sizeof(*rows));
	uint32_t *place = xcalloc(m->rows.count + 1, sizeof(*place));
	struct sample_moments moments;
	struct sample_moment moment;

	for (uint32_t i = 0; i < m->rows.count; i++)
		rows[i].row = i;
	sample_moments_init_mixed(&moments, m->source->times, m->source->row_of);
	while (sample_moments_next(&moments, &moment))
		rows[row_of(m, &moment)].hits++;
	sample_moments_done(&moments);
	qsort(rows, m->rows.count, sizeof(*rows), compare_hits);
	for (uint32_t i = 0; i < m->rows.count; i++)
		place[rows[i].row] = i;
	page_model_sort(m, place);
	free(rows);
	free(place);
}

static uint64_t samples_of(const struct page_model *m)
{
	double samples = 0;

	vec_each (row, &m->rows)
		samples += row->values[0];
	return (uint64_t)samples;
}

/* A power of two times the step of the axis. */
static uint64_t step_of(const struct page_model *m, const struct moment_axis *a)
{
	uint64_t distance = (a->end_ns - a->begin_ns) / (samples_of(m) + 1), step = a->step_ns;

	while (2 * step <= distance / STEPS && 2 * step <= STEP_MOST)
		step *= 2;
	return step;
}

static void add_entry(struct page_times *t, const struct page_model *m,
                      const struct sample_moment *moment, uint64_t *last)
{
	uint64_t since =
	        moment->time_ns > t->axis.begin_ns ? moment->time_ns - t->axis.begin_ns : 0;
	uint64_t tick = since / t->step_ns;
	bool own = moment->weight != moment->samples * t->usual;

	page_varint(&t->time, tick - *last);
	page_varint(&t->row, row_of(m, moment));
	page_varint(&t->cpu, moment->cpu == PROFILE_CPU_UNKNOWN ? 0 : (uint64_t)moment->cpu + 1);
	page_varint(&t->samples, moment->samples << 1 | (own ? NEW_WEIGHT : 0));
	if (own)
		page_varint(&t->weight, moment->weight);
	*last = tick;
	t->count++;
}

/* The weight that most samples have is not stored: the period, or that of the first sample. */
static void collect(struct page_times *t, const struct page_model *m)
{
	struct sample_moments moments;
	struct sample_moment moment;
	uint64_t last = 0;

	t->usual = m->source->n->period > 0 ? (uint64_t)m->source->n->period : 0;
	sample_moments_init_mixed(&moments, m->source->times, m->source->row_of);
	while (sample_moments_next(&moments, &moment)) {
		if (!t->usual)
			t->usual = moment.weight / moment.samples;
		if (!t->count && moment.time_ns < t->axis.begin_ns)
			t->axis.begin_ns = moment.time_ns;
		add_entry(t, m, &moment, &last);
		if (moment.time_ns + t->axis.window_ns > t->end_ns)
			t->end_ns = moment.time_ns + t->axis.window_ns;
	}
	sample_moments_done(&moments);
}

static void write_all(struct page_blob *b, const struct page_times *t, const struct page_model *m)
{
	struct json *j = &b->json;

	json_object(j);
	json_ku64(j, "begin_ns", t->axis.wall_ns);
	json_ku64(j, "duration_ns", t->end_ns - t->axis.begin_ns);
	json_ku64(j, "step_ns", t->step_ns);
	json_ku64(j, "window_ns", t->axis.window_ns);
	json_ku64(j, "recordings", t->axis.recordings);
	json_ku64(j, "count", t->count);
	json_kbool(j, "weight_is_ns", !strcmp(m->source->n->values[1].unit, "nanoseconds"));
	json_ku64(j, "period_ns", t->usual);
	page_blob_varints(b, "time", &t->time);
	page_blob_varints(b, "row", &t->row);
	page_blob_varints(b, "cpu", &t->cpu);
	page_blob_varints(b, "samples", &t->samples);
	page_blob_varints(b, "weight", &t->weight);
	json_end_object(j);
}

void page_times_write(struct page_blob *b, const char *key, const struct page_model *m)
{
	struct page_times t = {0};

	json_key(&b->json, key);
	if (m->source->times)
		t.axis = moment_axis_of(m->source->times);
	if (!t.axis.end_ns) {
		json_null(&b->json);
		return;
	}
	t.step_ns = step_of(m, &t.axis);
	t.end_ns = t.axis.end_ns;
	collect(&t, m);
	write_all(b, &t, m);
	buf_done(&t.time);
	buf_done(&t.row);
	buf_done(&t.cpu);
	buf_done(&t.samples);
	buf_done(&t.weight);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page_times.h"

#include "view/symbolized/sample_moments.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 16             /* in the mean distance of two samples, at least */
#define STEP_MOST (1u << 20) /* ns: about 1 ms */
#define NEW_WEIGHT 1u        /* the entry has a weight of its own */

/* The samples of a row on a CPU at one time. */
struct page_entry {
	uint64_t samples, weight;
	uint32_t row, cpu; /* cpu: + 1; 0: unknown */
};

struct page_times {
	const struct page_model *model;
	struct moment_axis axis;
	uint64_t step_ns, end_ns, usual; /* usual: weight of one sample */
	uint64_t finest_ns;              /* the step that the recording allows */
	bool merged;                     /* entries of one row and step are one entry */
	bool counting, voting;           /* nothing is written; `usual` is determined */
	int64_t votes;
	size_t count;
	uint64_t tick, written;     /* of the entries in `now`; of the last written entry */
	VEC(struct page_entry) now; /* of `tick`, not written yet */
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

static void write_entry(struct page_times *t, const struct page_entry *e)
{
	bool own = e->weight != e->samples * t->usual;

	t->count++;
	if (t->counting)
		return;
	page_varint(&t->time, t->tick - t->written);
	page_varint(&t->row, e->row);
	page_varint(&t->cpu, e->cpu);
	page_varint(&t->samples, e->samples << 1 | (own ? NEW_WEIGHT : 0));
	if (own)
		page_varint(&t->weight, e->weight);
	t->written = t->tick;
}

static int compare_entries(const void *a, const void *b)
{
	const struct page_entry *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/* Writes the entries of a tick; with `merged` one for each row and CPU. */
static void flush(struct page_times *t)
{
	struct page_entry *e = t->now.items;
	size_t count = t->now.count;

	if (t->merged && count)
		qsort(e, count, sizeof(*e), compare_entries);
	for (size_t i = 0; i < count; i++) {
		if (t->merged && i + 1 < count && !compare_entries(&e[i], &e[i + 1])) {
			e[i + 1].samples += e[i].samples;
			e[i + 1].weight += e[i].weight;
		} else {
			write_entry(t, &e[i]);
		}
	}
	t->now.count = 0;
}

static void add_moment(struct page_times *t, const struct sample_moment *moment)
{
	uint64_t begin_ns = t->axis.begin_ns;
	uint64_t since = moment->time_ns > begin_ns ? moment->time_ns - begin_ns : 0;
	struct page_entry e = {moment->samples, moment->weight, row_of(t->model, moment),
	                       moment->cpu == PROFILE_CPU_UNKNOWN ? 0 : moment->cpu + 1u};

	if (since / t->step_ns != t->tick) {
		flush(t);
		t->tick = since / t->step_ns;
	}
	vec_push(&t->now, e);
	if (moment->time_ns + t->axis.window_ns > t->end_ns)
		t->end_ns = moment->time_ns + t->axis.window_ns;
}

/* Finds the weight that most samples have, if more than half have one. */
static void vote(struct page_times *t, uint64_t weight)
{
	if (!t->votes)
		t->usual = weight;
	t->votes += t->usual == weight ? 1 : -1;
}

static void collect(struct page_times *t)
{
	struct sample_moments moments;
	struct sample_moment moment;

	t->count = 0;
	t->tick = t->written = 0;
	sample_moments_init_mixed(&moments, t->model->source->times, t->model->source->row_of);
	while (sample_moments_next(&moments, &moment)) {
		if (t->voting)
			vote(t, moment.weight / moment.samples);
		add_moment(t, &moment);
	}
	flush(t);
	sample_moments_done(&moments);
}

/* Makes the step longer until there are not too many entries. */
static void choose_step(struct page_times *t)
{
	size_t most = t->axis.window_ns ? PAGE_SUMS : PAGE_ENTRIES;

	if (t->model->source->entries)
		most = t->model->source->entries;
	t->step_ns = t->finest_ns = step_of(t->model, &t->axis);
	t->merged = t->axis.window_ns > 0;
	t->counting = t->voting = true;
	collect(t);
	t->voting = false;
	while (t->count > most && t->step_ns < t->axis.end_ns - t->axis.begin_ns) {
		/* Shorter steps contain too few samples of one row; windows have many. */
		t->step_ns *= t->axis.window_ns ? 2 : t->merged ? 4 : STEPS * STEPS;
		t->merged = true;
		collect(t);
	}
	t->counting = false;
}

static void write_all(struct page_blob *b, const struct page_times *t)
{
	const struct symbolized_profile *n = t->model->source->n;
	struct json *j = &b->json;

	json_object(j);
	json_ku64(j, "begin_ns", t->axis.wall_ns);
	json_ku64(j, "duration_ns", t->end_ns - t->axis.begin_ns);
	json_ku64(j, "step_ns", t->step_ns);
	json_ku64(j, "finest_ns", t->finest_ns);
	json_ku64(j, "window_ns", t->axis.window_ns);
	json_ku64(j, "recordings", t->axis.recordings);
	json_ku64(j, "count", t->count);
	json_kbool(j, "weight_is_ns", !strcmp(n->values[1].unit, "nanoseconds"));
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
	struct page_times t = {.model = m};

	json_key(&b->json, key);
	if (m->source->times)
		t.axis = moment_axis_of(m->source->times);
	if (!t.axis.end_ns) {
		json_null(&b->json);
		return;
	}
	t.end_ns = t.axis.end_ns;
	choose_step(&t);
	collect(&t);
	write_all(b, &t);
	vec_done(&t.now);
	buf_done(&t.time);
	buf_done(&t.row);
	buf_done(&t.cpu);
	buf_done(&t.samples);
	buf_done(&t.weight);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/watch/watch_fleet.h"

#include "base/memory/xalloc.h"
#include "cmd/watch/watch_keep.h"
#include "sql/sql.h"
#include "store/store.h"
#include "store/store_path.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_STEP_NS UINT64_C(10000000000)

struct watch_machine {
	char *name;
	size_t first, end; /* its tests in the family */
	struct watch_power power;
	bool searched;
};

struct watch_machines {
	const struct watch_range *range;
	VEC(struct watch_machine) machines;
	uint64_t from_ns, until_ns; /* of the range, then of the data in it */
	uint64_t step_ns;           /* usual length of a window */
	struct watch_family family;
	struct buf *left_out;
};

static void add_machine(struct watch_machines *m, const char *name, uint64_t from_ns,
                        uint64_t until_ns)
{
	if (!until_ns || until_ns <= m->from_ns || (m->until_ns && from_ns >= m->until_ns))
		return;
	vec_push(&m->machines, (struct watch_machine){.name = xstrdup(name)});
}

/* The first and the last time of the machines' data in the range. */
static void widen(uint64_t *first_ns, uint64_t *last_ns, uint64_t from_ns, uint64_t until_ns)
{
	*first_ns = !*first_ns || from_ns < *first_ns ? from_ns : *first_ns;
	*last_ns = until_ns > *last_ns ? until_ns : *last_ns;
}

struct watch_file {
	struct watch_machines *m;
	uint64_t first_ns, last_ns;
};

static int take_host(void *ctx, uint64_t row, const struct sql_value *v, size_t count,
                     struct error *err)
{
	struct watch_file *f = ctx;

	if (!row || !v[0].text || sqlite3_strglob(f->m->range->host, v[0].text))
		return 0;
	add_machine(f->m, v[0].text, (uint64_t)v[1].integer, (uint64_t)v[2].integer);
	widen(&f->first_ns, &f->last_ns, (uint64_t)v[1].integer, (uint64_t)v[2].integer);
	return 0;
}

static int list_file(struct watch_file *f, const char *path, struct error *err)
{
	struct sql *sql = NULL;
	int ret = sql_open_store(&sql, path, err);

	if (!ret)
		ret = sql_run(sql,
		              "SELECT h.name, min(w.start_ns), max(w.end_ns) FROM hosts h JOIN"
		              " sessions s ON s.host = h.id JOIN windows w ON w.session = s.id"
		              " GROUP BY h.name ORDER BY h.name",
		              take_host, f, err);
	sql_close(sql);
	return ret;
}

static int list_server(struct watch_file *f, const char *path, struct error *err)
{
	const struct store_range range = {
	        .from_ns = f->m->from_ns, .to_ns = f->m->until_ns, .host = f->m->range->host};
	struct store_machines read;
	int ret = store_machines_read(path, &range, &read, err);

	if (!ret)
		vec_each (one, &read.machines) {
			add_machine(f->m, intern_text(&read.texts, one->name), one->first_ns,
			            one->end_ns);
			if (one->end_ns)
				widen(&f->first_ns, &f->last_ns, one->first_ns, one->end_ns);
			if (one->last_window_ns > f->m->step_ns)
				f->m->step_ns = one->last_window_ns;
		}
	store_machines_done(&read);
	return ret;
}

static int list_machines(struct watch_machines *m, struct error *err)
{
	char *path = store_path_to_read(m->range->store);
	struct watch_file f = {.m = m};
	int ret = watch_times(m->range, &m->from_ns, &m->until_ns, err);

	m->step_ns = USUAL_STEP_NS;
	if (!ret)
		ret = store_is_remote(path) ? list_server(&f, path, err) : list_file(&f, path, err);
	free(path);
	if (!ret && !m->machines.count)
		ret = error_set(err, ENODATA, "%s has no windows of machines '%s' in this time",
		                m->range->store, m->range->host);
	m->from_ns = m->from_ns > f.first_ns ? m->from_ns : f.first_ns;
	m->until_ns = m->until_ns && m->until_ns < f.last_ns ? m->until_ns : f.last_ns;
	return ret;
}

static void set_sum_points(struct watch *sum, const struct watch_machines *m)
{
	uint64_t length_ns = m->until_ns - m->from_ns;
	uint64_t step_ns = length_ns / WATCH_SUM_POINTS + 1;

	step_ns = step_ns > m->step_ns ? step_ns : m->step_ns;
	watch_points(sum, m->from_ns, step_ns, (size_t)((length_ns + step_ns - 1) / step_ns));
}

/* A machine that cannot be searched does not end the search of the others. */
static bool is_of_machine(int status)
{
	return status == -ENODATA || status == -EFBIG;
}

static void leave_out(struct watch_machines *m, const struct watch_machine *one,
                      const struct error *err)
{
	if (err->code != ENODATA)
		buf_addf(m->left_out, "%s was not searched: %s\n", one->name, err->text);
}

static int test_machine(struct watch_machines *m, struct watch_machine *one, struct watch *sum,
                        const struct watch_options *how, struct error *err)
{
	struct watch_range range = *m->range;
	struct watch w;
	int ret;

	range.host = one->name;
	watch_init(&w);
	ret = watch_load_with(&w, &range, sum, m->range->host, err);
	if (!ret) {
		struct watch_search *search = watch_test(&w, how);

		one->first = m->family.tests.count;
		watch_family_add(&m->family, &w);
		one->end = m->family.tests.count;
		one->power = w.power;
		one->searched = true;
		watch_list(search, NULL);
	}
	watch_done(&w);
	return ret;
}

/* Adds the changes of a machine to those of the sum. */
static void add_changes(struct watch *sum, const struct watch *w, const char *name)
{
	vec_each (c, &w->changes) {
		const struct watch_series *s = &w->series.items[c->series];
		struct watch_change copy = *c;

		copy.series = watch_series(sum, intern_text(&w->texts, s->function),
		                           intern_text(&w->texts, s->image),
		                           intern_text(&w->texts, s->mode));
		copy.host = intern_add(&sum->texts, name);
		vec_push(&sum->changes, copy);
	}
}

static int find_machine(struct watch_machines *m, const struct watch_machine *one,
                        struct watch *sum, bool keep, bool only_new, struct error *err)
{
	struct watch_range range = *m->range;
	struct watch w;
	int ret;

	range.host = one->name;
	watch_init(&w);
	ret = watch_load(&w, &range, err);
	if (!ret) {
		watch_list(watch_test(&w, &sum->how), &m->family);
		watch_know(&w);
		ret = keep ? watch_keep(&w, &range, err) : 0;
		if (only_new)
			watch_only_new(&w);
		add_changes(sum, &w, one->name);
	}
	watch_done(&w);
	return ret;
}

static int by_time(const void *a, const void *b)
{
	const struct watch_change *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->host < y->host ? -1 : x->host > y->host;
}

/* The tests of all machines have one error rate, so changes are listed after all were tested. */
static int find_all(struct watch_machines *m, struct watch *sum, struct watch_search *search,
                    bool keep, bool only_new, struct error *err)
{
	double smallest = NAN;
	int ret = 0;

	/* The sum of one machine is that machine. */
	if (sum->hosts > 1)
		watch_family_add(&m->family, sum);
	watch_family_close(&m->family, sum);
	watch_list(search, sum->hosts > 1 ? &m->family : NULL);
	if (sum->hosts > 1) {
		watch_know(sum);
		ret = keep ? watch_keep(sum, m->range, err) : 0;
		if (only_new)
			watch_only_new(sum);
		smallest = sum->smallest;
	}
	sum->tested = m->family.tests.count;
	vec_each (one, &m->machines) {
		double of_machine = watch_family_smallest(&m->family, &one->power);

		if (!one->searched || ret)
			continue;
		if (watch_family_has(&m->family, one->first, one->end))
			ret = find_machine(m, one, sum, keep, only_new, err);
		/* All machines can show a change of this size. */
		smallest = !(of_machine <= smallest) ? of_machine : smallest;
	}
	sum->smallest = smallest;
	if (sum->changes.count)
		qsort(sum->changes.items, sum->changes.count, sizeof(*sum->changes.items), by_time);
	return ret;
}

int watch_fleet(struct watch *sum, const struct watch_range *range, const struct watch_options *how,
                bool keep, bool only_new, struct buf *left_out, struct error *err)
{
	struct watch_machines m = {.range = range, .left_out = left_out};
	struct error last = {0};
	int ret = list_machines(&m, err);

	if (!ret)
		set_sum_points(sum, &m);
	for (size_t i = 0; !ret && i < m.machines.count; i++) {
		struct watch_machine *one = &m.machines.items[i];

		ret = test_machine(&m, one, sum, how, &last);
		sum->hosts += !ret;
		if (is_of_machine(ret)) {
			leave_out(&m, one, &last);
			ret = 0;
		} else if (ret) {
			error_set(err, last.code, "%s: %s", one->name, last.text);
		}
	}
	if (!ret && !sum->hosts)
		ret = error_set(err, last.code, "%s", last.text);
	if (!ret)
		ret = find_all(&m, sum, watch_test(sum, how), keep, only_new, err);
	vec_each (one, &m.machines)
		free(one->name);
	vec_done(&m.machines);
	watch_family_done(&m.family);
	return ret;
}

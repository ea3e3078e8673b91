/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares a profile that is read from a store with its input: a profile of the same events
 * without windows and without a store.
 */
#include "base/memory/buf.h"
#include "check.h"
#include "image/stored_names.h"
#include "sqlite_fixture.h"
#include "store_fixture.h"
#include "symbol/symbolizer.h"

#include <errno.h>

static char path[64];

static struct mill a_mill(void)
{
	return (struct mill){.period_ns = 10309278,
	                     .window_ns = 10 * SECOND,
	                     .seed = 7,
	                     .run_ns = SECOND / 5,
	                     .rest_ns = SECOND / 10,
	                     .programs = 6,
	                     .functions = 40,
	                     .path = path};
}

/* Names by address, as from a symbol table; none for the first function. */
static void name_frames(void *ctx, const struct profile *p, const uint32_t *frames, size_t count,
                        const char **names)
{
	static char texts[4096][32];

	for (size_t i = 0; i < count; i++) {
		struct frame f = p->frames.items[frames[i]].frame;

		names[i] = NULL;
		if (i >= 4096 || (f.offset & 0xfff00) == 0x1000)
			continue;
		snprintf(texts[i], sizeof(texts[i]), "f_%llx",
		         (unsigned long long)(f.offset >> 8 & 0xfff));
		names[i] = texts[i];
	}
}

/*
 * A row as a text that does not depend on its source. Without weights of idle time: a store divides
 * the idle time of each window over its rows.
 */
static char *row_line(const struct profile *p, const struct profile_row *row, bool with_instances)
{
	const struct thread *t = process_table_thread_at(p->processes, row->thread);
	const struct process *q = process_table_process(p->processes, t->process);
	struct buf b = {0};

	buf_addf(&b, "%s", process_table_name(p->processes, q->name));
	if (with_instances)
		buf_addf(&b, "#%u pid %d tid %d", q->instance, q->pid, t->tid);
	buf_addf(&b, " %s cpu%u mode%u", p->events.items[row->event].name, row->cpu, row->mode);
	for (uint32_t n = row->path; n != PATH_ROOT; n = p->paths.items[n].parent) {
		const struct profile_frame *f = &p->frames.items[p->paths.items[n].frame];
		const struct image *image = &p->images.images.items[f->frame.image];
		uint64_t base = image->kind == IMAGE_KERNEL ? image->base : 0;

		buf_addf(&b, " %s+%llx%s%s", image_path(&p->images, f->frame.image),
		         (unsigned long long)(f->frame.offset - base), f->kernel ? "k" : "",
		         f->caller ? "c" : "");
	}
	buf_addf(&b, " = %llu %llu %llu %llu", (unsigned long long)row->samples,
	         (unsigned long long)(row->mode == PROFILE_IDLE ? 0 : row->weight),
	         (unsigned long long)row->runnable_ns, (unsigned long long)row->blocked_ns);
	return b.data;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All rows as sorted lines. */
static char *all_lines(const struct profile *p)
{
	VEC(char *) lines = {0};
	struct buf b = {0};

	vec_each (row, &p->rows)
		vec_push(&lines, row_line(p, row, true));
	if (lines.count)
		qsort(lines.items, lines.count, sizeof(*lines.items), by_text);
	vec_each (line, &lines) {
		buf_addf(&b, "%s\n", *line);
		free(*line);
	}
	vec_done(&lines);
	return b.data;
}

static struct profile *read_back(const struct store_range *range)
{
	struct profile *p = profile_new();
	struct error err = {0};

	if (store_read(path, range, p, &err))
		printf("# %s\n", err.text);
	CHECK_EQ(err.code, 0);
	return p;
}

static void check_lines(const struct profile *got, const struct profile *want)
{
	char *a = all_lines(got), *b = all_lines(want);

	CHECK_EQ(got->rows.count, want->rows.count);
	CHECK(a && b && !strcmp(a, b));
	free(a);
	free(b);
}

static void sum_ledger(const struct profile *p, struct ledger_cpu *sum)
{
	*sum = (struct ledger_cpu){0};
	vec_each (c, &p->ledger.cpus) {
		sum->wall_ns += c->wall_ns;
		sum->busy_ns += c->busy_ns;
		sum->idle_ns += c->idle_ns;
		sum->unknown_ns += c->unknown_ns;
		sum->switches += c->switches;
		sum->ticks_due_busy += c->ticks_due_busy;
		sum->ticks_due_idle += c->ticks_due_idle;
		sum->ticks_seen_busy += c->ticks_seen_busy;
		sum->ticks_seen_idle += c->ticks_seen_idle;
		sum->weight_busy += c->weight_busy;
		sum->weight_idle += c->weight_idle;
	}
}

static void check_ledger(const struct profile *got, const struct profile *want)
{
	struct ledger_cpu a, b;

	sum_ledger(got, &a);
	sum_ledger(want, &b);
	CHECK_EQ(got->ledger.cpus.count, want->ledger.cpus.count);
	CHECK(got->ledger.machine_wide);
	CHECK_EQ(a.wall_ns, b.wall_ns);
	CHECK_EQ(a.busy_ns, b.busy_ns);
	CHECK_EQ(a.idle_ns, b.idle_ns);
	CHECK_EQ(a.unknown_ns, b.unknown_ns);
	CHECK_EQ(a.switches, b.switches);
	CHECK_EQ(a.weight_busy, b.weight_busy);
	CHECK_EQ(a.weight_idle, b.weight_idle);
	CHECK_EQ(a.ticks_seen_busy, b.ticks_seen_busy);
	CHECK_EQ(a.ticks_seen_idle, b.ticks_seen_idle);
	/* A missing tick at a boundary is due on one of its sides. */
	CHECK_EQ(a.ticks_due_busy + a.ticks_due_idle, b.ticks_due_busy + b.ticks_due_idle);
}

static void a_round_trip_keeps_all_data(void)
{
	struct mill m = a_mill();
	struct store_range all = {0};
	struct profile *got;
	const struct recording *r;
	struct ledger_cpu all_time;
	struct time_sum *sums;
	uint64_t idle_ns = 0;

	m.whole = profile_new();
	m.options.name = name_frames;
	mill_measure(&m, 95 * SECOND);
	got = read_back(&all);
	CHECK(m.whole->rows.count > 1000);
	check_lines(got, m.whole);
	check_ledger(got, m.whole);
	r = got->recordings.items[0];
	CHECK_EQ(got->recordings.count, 1);
	CHECK_EQ(r->samples, m.samples);
	CHECK_EQ(got->events.items[0].samples, m.samples);
	CHECK_STR(r->hostname, "mill");
	CHECK_STR(r->os_release, "6.1.0-mill");
	CHECK_EQ(r->account.end_ns - r->account.start_ns, 95 * SECOND);
	CHECK_EQ(r->account.start_ns, MILL_WALL);
	CHECK_EQ(r->account.notes.count, 0);
	CHECK_EQ(r->account.rates.count, 0);
	CHECK_EQ(r->account.cpus.count, MILL_CPUS);
	CHECK_EQ(r->account.cpus.items[0].ring_used_max, 106);
	sums = xcalloc(got->rows.count, sizeof(*sums));
	time_axis_rows(&got->axis, 0, 0, UINT64_MAX, sums);
	for (size_t i = 0; i < got->rows.count; i++) {
		if (got->rows.items[i].mode == PROFILE_IDLE)
			idle_ns += got->rows.items[i].weight;
		CHECK_EQ(sums[i].samples, got->rows.items[i].samples);
		if (got->rows.items[i].mode != PROFILE_IDLE)
			CHECK_EQ(sums[i].weight, got->rows.items[i].weight);
	}
	sum_ledger(m.whole, &all_time);
	CHECK(idle_ns <= all_time.idle_ns && idle_ns + 1000000 > all_time.idle_ns);
	free(sums);
	profile_free(got);
	profile_free(m.whole);
	store_fixture_remove(path);
}

/* The time axis has the samples of each window at its start. */
static void axis_keeps_to_the_windows(void)
{
	struct mill m = a_mill();
	struct store_range all = {0},
	                   one = {.from_ns = MILL_WALL + 1, .to_ns = MILL_WALL + 10 * SECOND};
	struct profile *first, *both;
	struct time_sum *sums;
	uint64_t end_ns;

	mill_measure(&m, 30 * SECOND);
	first = read_back(&one);
	both = read_back(&all);
	end_ns = first->recordings.items[0]->account.end_ns;
	sums = xcalloc(both->rows.count, sizeof(*sums));
	CHECK_EQ(first->axis.tracks.count, MILL_CPUS);
	CHECK_EQ(time_axis_step_ns(&both->axis), 10 * SECOND);
	/* The first window is read first, so its rows have the same numbers. */
	CHECK(both->rows.count > first->rows.count);
	time_axis_rows(&both->axis, 0, 0, end_ns, sums);
	for (size_t i = 0; i < both->rows.count; i++) {
		bool in_first = i < first->rows.count;

		CHECK_EQ(sums[i].samples, in_first ? first->rows.items[i].samples : 0);
	}
	free(sums);
	profile_free(first);
	profile_free(both);
	store_fixture_remove(path);
}

static void names_are_kept(void)
{
	struct mill m = a_mill();
	struct store_range all = {0};
	struct symbolizer *s;
	struct profile *got;
	size_t named = 0, nameless = 0;

	m.options.name = name_frames;
	mill_measure(&m, 20 * SECOND);
	got = read_back(&all);
	s = symbolizer_new(&got->images, NULL);
	vec_each (f, &got->frames) {
		const struct symbol *symbol = symbolizer_find(s, profile_frame_place(got, f));
		char want[32];

		if (got->images.images.items[f->frame.image].kind == IMAGE_UNKNOWN)
			continue;
		snprintf(want, sizeof(want), "f_%llx",
		         (unsigned long long)(f->frame.offset >> 8 & 0xfff));
		if ((f->frame.offset & 0xfff00) == 0x1000) {
			CHECK(!symbol->named);
			nameless++;
		} else {
			CHECK_STR(symbol->name, want);
			named++;
		}
	}
	CHECK(named > 100 && nameless > 5);
	symbolizer_free(s);
	profile_free(got);
	store_fixture_remove(path);
}

static uint64_t samples_of(const struct profile *p)
{
	uint64_t sum = 0;

	vec_each (row, &p->rows)
		sum += row->samples;
	return sum;
}

static void parts_add_up_to_the_whole(void)
{
	struct mill m = a_mill();
	struct store_range all = {0};
	uint64_t samples = 0, wall = 0;
	struct ledger_cpu sum;
	struct profile *got;

	mill_measure(&m, 60 * SECOND);
	/* Windows start at multiples of ten seconds of the wall clock, so none is read twice. */
	for (uint64_t at = 0; at < 60; at += 20) {
		struct store_range part = {.from_ns = MILL_WALL + at * SECOND,
		                           .to_ns = MILL_WALL + (at + 20) * SECOND};

		got = read_back(&part);
		samples += samples_of(got);
		sum_ledger(got, &sum);
		CHECK_EQ(sum.wall_ns, MILL_CPUS * 20 * SECOND);
		wall += sum.wall_ns;
		CHECK_EQ(got->recordings.items[0]->account.notes.count, 0);
		profile_free(got);
	}
	got = read_back(&all);
	sum_ledger(got, &sum);
	CHECK_EQ(samples, samples_of(got));
	CHECK_EQ(samples, m.samples);
	CHECK_EQ(wall, sum.wall_ns);
	profile_free(got);
	store_fixture_remove(path);
}

static bool has_note(const struct profile *p, const char *part)
{
	vec_each (note, &p->recordings.items[0]->account.notes)
		if (strstr(*note, part))
			return true;
	return false;
}

static void time_without_measurement_is_reported(void)
{
	struct mill m = a_mill(), again;
	struct store_range all = {0},
	                   early = {.from_ns = MILL_WALL - HOUR, .to_ns = MILL_WALL + 25 * SECOND};
	struct ledger_cpu sum;
	struct profile *got;

	mill_measure(&m, 20 * SECOND);
	again = a_mill();
	again.now_ns = m.now_ns + 3 * HOUR;
	mill_begin(&again);
	mill_run(&again, 20 * SECOND);
	/* Killed: there is no recorded end. */
	mill_end(&again, NULL);
	got = read_back(&all);
	sum_ledger(got, &sum);
	CHECK_EQ(got->recordings.count, 2);
	CHECK_EQ(sum.wall_ns, MILL_CPUS * 40 * SECOND);
	CHECK(has_note(got, "Nothing was measured in 3 h 0 min"));
	CHECK(has_note(got, "no measurement ran"));
	CHECK_EQ(samples_of(got), m.samples + again.samples);
	/* The instance numbers of a host continue. */
	CHECK_EQ(got->recordings.items[0]->account.end_ns -
	                 got->recordings.items[0]->account.start_ns,
	         20 * SECOND);
	profile_free(got);
	got = read_back(&early);
	CHECK(has_note(got, "Nothing was measured in 1 h 0 min"));
	CHECK_EQ(got->recordings.count, 1);
	profile_free(got);
	store_fixture_remove(path);
}

static void an_empty_range_is_refused_with_the_existing_one(void)
{
	struct mill m = a_mill();
	struct store_range late = {.from_ns = MILL_WALL + DAY};
	struct profile *p = profile_new();
	struct error err = {0};

	setenv("TZ", "UTC0", 1);
	mill_measure(&m, 20 * SECOND);
	CHECK_EQ(store_read(path, &late, p, &err), -ENODATA);
	CHECK(strstr(err.text, "2026-01-01 00:00:00 to 2026-01-01 00:00:20"));
	CHECK(strstr(err.text, path));
	profile_free(p);
	store_fixture_remove(path);
}

static void several_machines_are_distinguished(void)
{
	struct mill m = a_mill(), other = a_mill();
	struct store_range any = {0}, one = {.host = "saw"}, none = {.host = "lathe"};
	struct profile *p = profile_new(), *got;
	struct error err = {0};

	mill_measure(&m, 20 * SECOND);
	other.hostname = "saw";
	other.seed = 99;
	mill_measure(&other, 30 * SECOND);
	CHECK_EQ(store_read(path, &any, p, &err), -EINVAL);
	CHECK(strstr(err.text, "--host: mill, saw"));
	CHECK_EQ(store_read(path, &none, p, &err), -EINVAL);
	CHECK(strstr(err.text, "'lathe'; it has: mill, saw"));
	got = read_back(&one);
	CHECK_EQ(samples_of(got), other.samples);
	CHECK_STR(got->recordings.items[0]->hostname, "saw");
	profile_free(got);
	profile_free(p);
	store_fixture_remove(path);
}

static void changed_rates_are_reported(void)
{
	struct store_range all = {0};
	struct mill m = a_mill();
	const struct recording *r;
	struct profile *got;

	mill_begin(&m);
	mill_run(&m, 20 * SECOND);
	m.period_ns *= 2;
	mill_run(&m, 20 * SECOND);
	m.rate.slowed_behind_ns = 10 * SECOND;
	mill_run(&m, 10 * SECOND);
	m.rate.slowed_budget_ns = 10 * SECOND;
	mill_run(&m, 10 * SECOND);
	mill_end(&m, "stopped");
	got = read_back(&all);
	r = got->recordings.items[0];
	CHECK_EQ(r->account.rates.count, 3);
	CHECK_EQ(r->account.rates.items[0].period_ns, 2 * 10309278);
	CHECK_EQ(r->account.rates.items[0].time_ns, MILL_WALL + 20 * SECOND);
	CHECK(r->account.rates.items[0].unknown);
	CHECK(!r->account.rates.items[1].unknown && !r->account.rates.items[1].budget);
	CHECK_EQ(r->account.rates.items[1].time_ns, MILL_WALL + 40 * SECOND);
	CHECK_EQ(r->account.rates.items[2].budget, 1);
	CHECK_EQ(samples_of(got), m.samples);
	profile_free(got);
	store_fixture_remove(path);
}

static void check_line(const struct profile *p, uint32_t recording, uint64_t period_ns,
                       bool switches, bool steal, uint64_t wall_ns)
{
	uint32_t found[MILL_CPUS] = {0};

	vec_each (c, &p->ledger.cpus) {
		if (c->recording != recording || c->period_ns != period_ns ||
		    c->has_switches != switches)
			continue;
		CHECK(c->cpu < MILL_CPUS);
		found[c->cpu % MILL_CPUS]++;
		CHECK_EQ(c->has_steal, steal);
		CHECK_EQ(c->wall_ns, wall_ns);
	}
	for (uint32_t i = 0; i < MILL_CPUS; i++)
		CHECK_EQ(found[i], 1);
}

/* Ticks with different periods, and times with and without switches, are separate. */
static void accounts_of_a_cpu_are_separate_for_each_unit(void)
{
	struct mill m = a_mill(), again = a_mill();
	struct store_range all = {0};
	struct profile *got;

	mill_measure(&m, 40 * SECOND);
	again.now_ns = m.now_ns + SECOND;
	mill_measure(&again, 10 * SECOND);
	sqlite_change(path, "UPDATE ledger_cpu SET period_ns = 1000, has_steal = 1;"
	                    "UPDATE ledger_cpu SET period_ns = 2000 WHERE window = 2;"
	                    "UPDATE ledger_cpu SET has_switches = 0 WHERE window = 3;"
	                    "UPDATE ledger_cpu SET has_steal = 0 WHERE window = 4");
	got = read_back(&all);
	CHECK_EQ(got->ledger.cpus.count, 4 * MILL_CPUS);
	check_line(got, 0, 1000, true, false, 20 * SECOND);
	check_line(got, 0, 2000, true, true, 10 * SECOND);
	check_line(got, 0, 1000, false, true, 10 * SECOND);
	check_line(got, 1, 1000, true, true, 10 * SECOND);
	profile_free(got);
	store_fixture_remove(path);
}

static void take_file(struct buf *b)
{
	char bytes[65536];
	FILE *f = fopen(path, "r");
	size_t got;

	while (f && (got = fread(bytes, 1, sizeof(bytes), f)) > 0)
		buf_add(b, bytes, got);
	if (f)
		fclose(f);
}

static void put_file(const struct buf *b)
{
	FILE *f;

	store_fixture_remove(path);
	f = fopen(path, "w");
	CHECK(f && fwrite(b->data, 1, b->size, f) == b->size);
	if (f)
		fclose(f);
}

/* A foreign or truncated file: no reads beyond its end, and no sum is lost. */
static void rows_that_refer_to_nothing_are_read(void)
{
	static const char *const harm[] = {
	        "DELETE FROM thread WHERE id % 3 = 0",
	        "DELETE FROM process WHERE id % 3 = 0",
	        "DELETE FROM stack WHERE id % 5 = 0",
	        "UPDATE OR IGNORE stack SET parent = id",
	        "UPDATE OR IGNORE stack SET parent = id + 1",
	        "DELETE FROM frame WHERE id % 2",
	        "UPDATE OR IGNORE frame SET image = 99999",
	        "DELETE FROM image",
	        "DELETE FROM name WHERE id % 2",
	        "UPDATE sample SET cpu = cpu + 70000",
	        "UPDATE image SET kind = 77, build_id = zeroblob(5000)",
	        "UPDATE image SET kind = 6",
	        "UPDATE image SET kind = 7",
	        "UPDATE ledger_cpu SET wall_ns = -5",
	        "DELETE FROM ledger_cpu",
	        "UPDATE session SET clock = -1, machine_wide = 7",
	        "UPDATE process SET life_ns = -1, start_ns = -1, instance = -4",
	};
	struct mill m = a_mill();
	struct store_range all = {0};
	struct buf whole = {0};

	m.options.name = name_frames;
	mill_measure(&m, 11 * SECOND);
	take_file(&whole);
	for (size_t i = 0; i < sizeof(harm) / sizeof(*harm); i++) {
		struct symbolizer *s;
		struct profile *got;

		put_file(&whole);
		sqlite_change(path, harm[i]);
		got = read_back(&all);
		CHECK_EQ(samples_of(got), m.samples);
		s = symbolizer_new(&got->images, NULL);
		vec_each (f, &got->frames)
			CHECK(symbolizer_find(s, f->frame)->name != NULL);
		symbolizer_free(s);
		profile_free(got);
	}
	buf_done(&whole);
	store_fixture_remove(path);
}

int main(void)
{
	store_fixture_path(path);
	RUN(a_round_trip_keeps_all_data);
	RUN(axis_keeps_to_the_windows);
	RUN(names_are_kept);
	RUN(parts_add_up_to_the_whole);
	RUN(time_without_measurement_is_reported);
	RUN(an_empty_range_is_refused_with_the_existing_one);
	RUN(several_machines_are_distinguished);
	RUN(changed_rates_are_reported);
	RUN(accounts_of_a_cpu_are_separate_for_each_unit);
	RUN(rows_that_refer_to_nothing_are_read);
	store_fixture_end(path);
	return check_end();
}

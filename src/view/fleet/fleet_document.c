/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/fleet/fleet_document.h"

#include "base/text/figure.h"

#include <inttypes.h>
#include <time.h>

#define SECOND_NS UINT64_C(1000000000)
#define SERVICES_SHOWN 3

enum fleet_figure { NAME, SHARE, CPU_TIME, CPUS, SAMPLES };

void fleet_init(struct fleet *f)
{
	*f = (struct fleet){0};
	intern_init(&f->texts);
	f->services.fleet = f->versions.fleet = f->hosts.fleet = f->programs.fleet = f;
}

void fleet_done(struct fleet *f)
{
	intern_done(&f->texts);
	vec_done(&f->services.rows);
	vec_done(&f->versions.rows);
	vec_done(&f->hosts.rows);
	vec_done(&f->programs.rows);
}

static void add_to_row(struct fleet_rows *rows, const char *name, const char *of, uint64_t samples,
                       uint64_t cpu_ns)
{
	uint32_t id = intern_add(&rows->fleet->texts, name),
	         of_id = intern_add(&rows->fleet->texts, of);
	struct fleet_row *to = NULL;

	vec_each (row, &rows->rows)
		if (row->name == id && row->of == of_id)
			to = row;
	if (!to) {
		to = vec_add(&rows->rows);
		*to = (struct fleet_row){.name = id, .of = of_id};
	}
	to->samples += samples;
	to->cpu_ns += cpu_ns;
}

void fleet_add(struct fleet *f, const char *service, const char *version, const char *host,
               uint64_t samples, uint64_t cpu_ns)
{
	add_to_row(&f->services, service, "", samples, cpu_ns);
	add_to_row(&f->versions, version, "", samples, cpu_ns);
	add_to_row(&f->hosts, host, "", samples, cpu_ns);
	add_to_row(&f->programs, version, service, samples, cpu_ns);
}

static bool comes_before(const struct fleet_row *a, const struct fleet_row *b)
{
	return a->cpu_ns != b->cpu_ns ? a->cpu_ns > b->cpu_ns : a->of < b->of;
}

/* The services of a version, those with most time first: a build-id alone says nothing to a reader.
 */
static struct cell services_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                 struct buf *text)
{
	const struct fleet_rows *rows = s->model;
	const struct fleet *f = rows->fleet;
	const struct fleet_row *best, *last = NULL;

	for (unsigned shown = 0;; last = best, shown++) {
		best = NULL;
		vec_each (r, &f->programs.rows)
			if (r->name == rows->rows.items[row].name &&
			    (!last || comes_before(last, r)) && (!best || comes_before(r, best)))
				best = r;
		if (!best)
			return cell_text(buf_text(text));
		buf_puts(text, shown ? ", " : "");
		if (shown == SERVICES_SHOWN) {
			buf_puts(text, "...");
			return cell_text(buf_text(text));
		}
		buf_puts(text, best->of ? intern_text(&f->texts, best->of) : FLEET_NO_SERVICE);
	}
}

static struct cell figure_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct fleet_rows *rows = s->model;
	const struct fleet_row *r = &rows->rows.items[row];
	double length_ns = (double)(rows->fleet->until_ns - rows->fleet->from_ns);

	switch ((enum fleet_figure)c->argument) {
	case CPU_TIME:
		return cell_int((int64_t)r->cpu_ns);
	case CPUS:
		return length_ns > 0 ? cell_real((double)r->cpu_ns / length_ns) : cell_none();
	case SAMPLES:
		return cell_int((int64_t)r->samples);
	case NAME:
	case SHARE:
		break;
	}
	if (r->name)
		return cell_text(intern_text(&rows->fleet->texts, r->name));
	return cell_text(rows == &rows->fleet->versions ? FLEET_NO_VERSION : FLEET_NO_SERVICE);
}

static void put_cpus(const struct unit *unit, struct cell cell, struct buf *out)
{
	buf_addf(out, "%.2f", cell_number(cell));
}

static const struct unit unit_cpus = {.name = "number", .text = put_cpus};

static void add_table(struct document *d, const char *title, const char *key, const char *name,
                      struct fleet_rows *rows)
{
	const struct column columns[] = {
	        {"share", "share", "share", &unit_share, ROLE_RATIO, .bar = true, .of = "time",
	         .base = cell_none()},
	        {"time", "CPU time", "cpu_ns", &unit_time, ROLE_SUM, .argument = CPU_TIME,
	         .get = figure_cell},
	        {"cpus", "CPUs", "cpus", &unit_cpus, ROLE_SUM, .argument = CPUS,
	         .get = figure_cell},
	        {"samples", "samples", "samples", &unit_count, ROLE_SUM, .argument = SAMPLES,
	         .get = figure_cell},
	        {name, name, name, &unit_text, .argument = NAME, .get = figure_cell},
	        {"services", "services", "services", &unit_text, .get = services_cell},
	};
	size_t count = sizeof(columns) / sizeof(*columns) - (rows != &rows->fleet->versions);
	static const char *const by[] = {"time"};
	struct row_source *s = row_source_new(rows);
	struct row_request q = {.by = by, .by_count = 1};
	int64_t all = 0;

	vec_each (row, &rows->rows)
		all += (int64_t)row->cpu_ns;
	s->rows = (uint32_t)rows->rows.count;
	row_source_columns(s, columns, count);
	s->columns.items[0].base = cell_int(all);
	document_table(d, MEDIA_ALL, title, key, row_set_new(s, &q));
}

/* In UTC: a local time may exist twice. */
static void add_time(struct document *d, const char *label, uint64_t ns)
{
	time_t s = (time_t)(ns / SECOND_NS);
	struct tm utc;
	char text[32];

	if (!gmtime_r(&s, &utc))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	document_line(d, label, text);
}

static void add_facts(struct document *d, const struct fleet *f)
{
	struct buf text = {0};

	document_line(d, "store", f->store);
	add_time(d, "from", f->from_ns);
	add_time(d, "until", f->until_ns);
	text_count(&text, f->machines);
	if (f->states && f->states->machines.count) {
		buf_puts(&text, ": ");
		machine_states_summary(f->states, &text);
	}
	document_line(d, "machines", buf_text(&text));
	buf_clear(&text);
	text_count(&text, f->windows);
	document_line(d, "windows", buf_text(&text));
	buf_done(&text);
	if (!f->last_ns)
		return;
	add_time(d, "first data", f->first_ns);
	add_time(d, "last data", f->last_ns);
}

void fleet_document(struct document *d, struct fleet *f)
{
	struct section *notes;

	document_heading(d, "Fleet");
	add_facts(d, f);
	if (f->services.rows.count) {
		add_table(d, "Services", "services", "service", &f->services);
		add_table(d, "Versions", "versions", "version", &f->versions);
		add_table(d, "Machines", "hosts", "host", &f->hosts);
	}
	if (f->states && f->states->machines.count)
		machine_states_table(d, f->states);
	notes = document_notes(d, MEDIA_ALL, NULL, "notes");
	if (!f->last_ns)
		section_note(notes, "The store has no data yet.");
	else if (!f->windows)
		section_note(notes, "The store has no data of this time range.");
	if (f->states)
		machine_states_notes(notes, f->states);
	section_note(notes, "Time in which a CPU was idle is not included. A window that overlaps "
	                    "with the range counts as a whole.");
}

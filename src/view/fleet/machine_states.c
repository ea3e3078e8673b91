/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/fleet/machine_states.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
/* A sender tries again after at most a minute. */
#define AFTER_LEAST_NS (120 * SECOND_NS)
#define AFTER_WINDOWS 5

enum machine_figure {
	STATE,
	NAME,
	LAST,
	AGE,
	BEHIND,
	WINDOWS,
	WAITING,
	DROPPED,
	GAPS,
	LOST,
	CLOCK,
	VERSION,
	ENDED
};

void machine_states_init(struct machine_states *s)
{
	*s = (struct machine_states){0};
	intern_init(&s->texts);
}

void machine_states_done(struct machine_states *s)
{
	intern_done(&s->texts);
	vec_done(&s->machines);
}

const char *machine_state_name(enum machine_state state)
{
	static const char *const names[MACHINE_STATES] = {[MACHINE_SILENT] = "silent",
	                                                  [MACHINE_FAILING] = "failing",
	                                                  [MACHINE_BEHIND] = "behind",
	                                                  [MACHINE_SENDING] = "sending",
	                                                  [MACHINE_ENDED] = "ended"};

	return names[state];
}

/* The time of a machine's clock by the server's clock. */
static uint64_t by_server(const struct machine_row *m, uint64_t ns)
{
	return m->ahead_ns > 0 && ns < (uint64_t)m->ahead_ns ? 0 : ns - (uint64_t)m->ahead_ns;
}

static uint64_t later_by(uint64_t later_ns, uint64_t ns)
{
	return later_ns > ns ? later_ns - ns : 0;
}

static uint64_t limit_of(const struct machine_states *s, const struct machine_row *m)
{
	uint64_t windows_ns = AFTER_WINDOWS * m->last_window_ns;

	if (s->after_ns)
		return s->after_ns;
	return windows_ns > AFTER_LEAST_NS ? windows_ns : AFTER_LEAST_NS;
}

static enum machine_state state_of(const struct machine_states *s, const struct machine_row *m)
{
	uint64_t limit_ns = limit_of(s, m);

	if (m->ended)
		return m->stopped ? MACHINE_ENDED : MACHINE_FAILING;
	if (!m->end_ns || m->age_ns > limit_ns)
		return MACHINE_SILENT;
	if (m->dropped_ns)
		return MACHINE_FAILING;
	return m->behind_ns > limit_ns ? MACHINE_BEHIND : MACHINE_SENDING;
}

static int by_state(const void *a, const void *b, void *states)
{
	const struct machine_states *s = states;
	const struct machine_row *x = a, *y = b;

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return strcmp(intern_text(&s->texts, x->name), intern_text(&s->texts, y->name));
}

void machine_states_judge(struct machine_states *s)
{
	vec_each (m, &s->machines) {
		uint64_t end_ns = by_server(m, m->end_ns);

		m->age_ns = later_by(s->now_ns, m->arrived_ns ? m->arrived_ns : end_ns);
		m->behind_ns = m->arrived_ns ? later_by(m->arrived_ns, end_ns) : 0;
		m->waiting = m->last_window_ns ? m->behind_ns / m->last_window_ns : 0;
		m->state = state_of(s, m);
		s->counts[m->state]++;
	}
	if (s->machines.count)
		qsort_r(s->machines.items, s->machines.count, sizeof(*s->machines.items), by_state,
		        s);
}

void machine_states_summary(const struct machine_states *s, struct buf *out)
{
	size_t first = out->size;

	for (int i = 0; i < MACHINE_STATES; i++)
		if (s->counts[i])
			buf_addf(out, "%s%zu %s", out->size > first ? ", " : "", s->counts[i],
			         machine_state_name(i));
}

static struct cell text_cell(const struct machine_states *s, uint32_t text)
{
	return text ? cell_text(intern_text(&s->texts, text)) : cell_none();
}

/* What a machine that sends nothing has not sent is not known. */
static struct cell delay_cell(const struct machine_row *m, uint64_t value)
{
	return m->state == MACHINE_SILENT || m->state == MACHINE_ENDED || !m->arrived_ns
	               ? cell_none()
	               : cell_int((int64_t)value);
}

static struct cell machine_cell(const struct row_source *source, const struct column *c,
                                uint32_t row, struct buf *text)
{
	const struct machine_states *s = source->model;
	const struct machine_row *m = &s->machines.items[row];

	switch ((enum machine_figure)c->argument) {
	case STATE:
		return cell_text(machine_state_name(m->state));
	case NAME:
		return text_cell(s, m->name);
	case LAST:
		return m->end_ns ? cell_int((int64_t)m->end_ns) : cell_none();
	case AGE:
		return m->end_ns ? cell_int((int64_t)m->age_ns) : cell_none();
	case BEHIND:
		return delay_cell(m, m->behind_ns);
	case WAITING:
		return delay_cell(m, m->waiting);
	case WINDOWS:
		return cell_int((int64_t)m->windows);
	case DROPPED:
		return cell_int((int64_t)m->dropped_ns);
	case GAPS:
		return cell_int((int64_t)m->gaps_ns);
	case LOST:
		return cell_int((int64_t)m->lost_records);
	case CLOCK:
		return m->ahead_ns ? cell_int(m->ahead_ns) : cell_none();
	case VERSION:
		return text_cell(s, m->version);
	case ENDED:
		return text_cell(s, m->ended);
	}
	return cell_none();
}

static enum row_kind machine_row_kind(const struct row_source *source, uint32_t row)
{
	static const enum row_kind kinds[MACHINE_STATES] = {[MACHINE_SILENT] = ROW_HOT,
	                                                    [MACHINE_FAILING] = ROW_HOT,
	                                                    [MACHINE_BEHIND] = ROW_WARM,
	                                                    [MACHINE_SENDING] = ROW_ITEM,
	                                                    [MACHINE_ENDED] = ROW_ITEM};
	const struct machine_states *s = source->model;

	return kinds[s->machines.items[row].state];
}

void machine_states_table(struct document *d, struct machine_states *s)
{
	static const struct column columns[] = {
	        {"state", "state", "state", &unit_text, .argument = STATE, .get = machine_cell},
	        {"last", "last window", "last_ns", &unit_date, .argument = LAST,
	         .get = machine_cell},
	        {"age", "age", "age_ns", &unit_time, .argument = AGE, .get = machine_cell},
	        {"behind", "behind", "behind_ns", &unit_time, .argument = BEHIND,
	         .get = machine_cell},
	        {"windows", "sent", "windows", &unit_count, .argument = WINDOWS,
	         .get = machine_cell},
	        {"waiting", "waiting", "waiting", &unit_count, .argument = WAITING,
	         .blank_zero = true, .get = machine_cell},
	        {"dropped", "dropped", "dropped_ns", &unit_time, .argument = DROPPED,
	         .blank_zero = true, .get = machine_cell},
	        {"gaps", "not measured", "gaps_ns", &unit_time, .argument = GAPS,
	         .blank_zero = true, .room = 120, .get = machine_cell},
	        {"lost", "lost records", "lost_records", &unit_count, .argument = LOST,
	         .blank_zero = true, .room = 120, .get = machine_cell},
	        {"clock", "clock", "clock_ahead_ns", &unit_time, .argument = CLOCK, .room = 110,
	         .get = machine_cell},
	        {"assay", "assay", "assay_version", &unit_text, .argument = VERSION, .room = 110,
	         .get = machine_cell},
	        {"ended", NULL, "ended", &unit_text, .argument = ENDED, .get = machine_cell},
	        {"host", "host", "host", &unit_text, .argument = NAME, .get = machine_cell},
	};
	struct row_source *source = row_source_new(s);
	struct row_request q = {0};

	source->rows = (uint32_t)s->machines.count;
	source->no_total = source->fixed = true;
	source->row_kind = machine_row_kind;
	row_source_columns(source, columns, sizeof(columns) / sizeof(*columns));
	document_table(d, s->machines.count ? MEDIA_ALL : MEDIA_PROGRAMS, "State of the machines",
	               "machines", row_set_new(source, &q));
}

void machine_states_notes(struct section *notes, const struct machine_states *s)
{
	bool clocks = false;

	vec_each (m, &s->machines)
		clocks |= m->ahead_ns != 0;
	if (s->counts[MACHINE_BEHIND] || s->counts[MACHINE_FAILING])
		section_note(notes, "Waiting: windows of the time by which a machine is behind, if "
		                    "all of it was measured.");
	if (clocks)
		section_note(notes, "Clock: how much the clock of a machine is ahead of that of "
		                    "the server, at least. It is corrected in the other columns, "
		                    "but not in the time of the last window.");
}

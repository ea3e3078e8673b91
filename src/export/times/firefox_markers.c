/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/firefox_markers.h"

#include <stdio.h>
#include <stdlib.h>

#define SCHEMA "off-cpu"
#define NS_PER_MS 1000000.0

enum marker_phase { INTERVAL = 1, INTERVAL_START = 2 };

/* The owner of each thread of the profile that has a selected sample; else NAMED_NONE. */
static uint32_t *owners_of_threads(const struct symbolized_profile *n,
                                   const struct timed_samples *t, size_t *count)
{
	const struct profile *p = t->moments.profile;
	uint32_t *owners;

	*count = 0;
	vec_each (row, &p->rows)
		if (row->thread != ID_NONE && row->thread >= *count)
			*count = (size_t)row->thread + 1;
	owners = xmalloc((*count + 1) * sizeof(*owners));
	for (size_t i = 0; i < *count; i++)
		owners[i] = NAMED_NONE;
	for (size_t i = 0; i < p->rows.count; i++) {
		uint32_t row = t->moments.rows[i], owner;

		if (row == NAMED_NONE || p->rows.items[i].thread == ID_NONE)
			continue;
		owner = n->rows.items[row].owner;
		/* Interrupts are no thread, although each interrupted a thread. */
		if (n->owners.items[owner].pid > 0)
			owners[p->rows.items[i].thread] = owner;
	}
	return owners;
}

void firefox_markers_init(struct firefox_markers *m, const struct symbolized_profile *n,
                          const struct timed_samples *t)
{
	uint32_t *owners;
	size_t count;

	*m = (struct firefox_markers){.n = n, .last_ns = UINT64_MAX};
	m->of = xcalloc(n->owners.count + 1, sizeof(*m->of));
	if (!t)
		return;
	m->begin_ns = t->begin_ns;
	m->log = &t->moments.profile->switches;
	owners = owners_of_threads(n, t, &count);
	for (uint32_t i = 0; i < m->log->absences.count; i++) {
		const struct switch_absence *a = &m->log->absences.items[i];

		if (a->thread >= count || owners[a->thread] == NAMED_NONE)
			continue;
		vec_push(&m->of[owners[a->thread]], i);
		m->begin_ns = a->out_ns < m->begin_ns ? a->out_ns : m->begin_ns;
	}
	free(owners);
}

void firefox_markers_done(struct firefox_markers *m)
{
	for (size_t i = 0; i < m->n->owners.count; i++)
		vec_done(&m->of[i]);
	free(m->of);
}

void firefox_markers_schema(struct json *j)
{
	json_raw(j, "[{\"name\":\"" SCHEMA "\",\"tooltipLabel\":\"{marker.name}\","
	            "\"tableLabel\":\"left CPU {marker.data.cpu}\","
	            "\"chartLabel\":\"{marker.name}\","
	            "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	            "\"description\":\"The thread was off the CPU: it waited (blocked), or could "
	            "have continued (preempted).\","
	            "\"fields\":[{\"key\":\"cpu\",\"label\":\"CPU that the thread left\","
	            "\"format\":\"integer\"}],\"isStackBased\":true}]");
}

static void put_ms(const struct firefox_markers *m, struct json *j, uint64_t ns)
{
	char text[40];

	snprintf(text, sizeof(text), "%.6f", (double)(ns - m->begin_ns) / NS_PER_MS);
	json_raw(j, text);
}

static void put_data(struct json *j, const struct switch_absence *a)
{
	json_object(j);
	json_kstr(j, "type", SCHEMA);
	if (a->cpu != PROFILE_CPU_UNKNOWN)
		json_ku64(j, "cpu", a->cpu);
	json_end_object(j);
}

enum marker_column { DATA, NAME, START, END, PHASE, CATEGORY };

static void put_value(const struct firefox_markers *m, struct json *j, enum marker_column column,
                      const struct switch_absence *a)
{
	switch (column) {
	case DATA:
		put_data(j, a);
		break;
	case NAME:
		json_u64(j, m->n->texts.texts.count + a->preempted);
		break;
	case START:
		put_ms(m, j, a->out_ns);
		break;
	case END:
		if (a->in_ns)
			put_ms(m, j, a->in_ns);
		else
			json_null(j);
		break;
	case PHASE:
		json_u64(j, a->in_ns ? INTERVAL : INTERVAL_START);
		break;
	case CATEGORY:
		json_u64(j, 0);
		break;
	}
}

void firefox_markers_write(const struct firefox_markers *m, uint32_t owner, struct json *j,
                           struct spill *out)
{
	static const char *const columns[] = {"data",    "name",  "startTime",
	                                      "endTime", "phase", "category"};
	uint64_t count = 0;

	json_object(j);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		json_key(j, columns[i]);
		json_array(j);
		count = 0;
		vec_each (at, &m->of[owner]) {
			const struct switch_absence *a = &m->log->absences.items[*at];

			if (a->out_ns > m->last_ns)
				continue;
			put_value(m, j, (enum marker_column)i, a);
			spill_some(out);
			count++;
		}
		json_end_array(j);
	}
	json_ku64(j, "length", count);
	json_end_object(j);
}

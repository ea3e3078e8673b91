/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/switch_lanes.h"

#include "base/memory/xalloc.h"
#include "view/symbolized/sample_moments.h"

#include <inttypes.h>
#include <string.h>

#define NO_LANE SIZE_MAX        /* not yet */
#define LEFT_OUT (SIZE_MAX - 1) /* not selected, or idle */

struct switch_lanes {
	struct page_lanes *lanes;
	const struct profile *profile;
	uint64_t begin_ns, end_ns;
	uint32_t on, blocked, preempted; /* names */
	size_t *lane;                    /* by thread, or NO_LANE, LEFT_OUT */
	uint64_t *in_ns;                 /* by thread: on a CPU since then; 0: unknown */
	size_t threads;
};

static void new_lane(struct switch_lanes *l, uint32_t thread)
{
	const struct process_table *t = l->profile->processes;
	const struct thread *of = process_table_thread_at(t, thread);
	const struct process *p = process_table_process(t, of->process);
	struct page_lane *lane = vec_add(&l->lanes->lanes);

	lane->process = xstrdup(process_table_name(t, p->name));
	lane->thread = xasprintf("%s %" PRId32, process_table_name(t, of->name), of->tid);
	l->lane[thread] = l->lanes->lanes.count - 1;
}

static void add(struct switch_lanes *l, uint32_t thread, uint8_t kind, uint32_t name,
                uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = from_ns > l->begin_ns ? from_ns : l->begin_ns;
	uint64_t to = to_ns < l->end_ns ? to_ns : l->end_ns;

	if (to <= from)
		return;
	if (l->lane[thread] == NO_LANE)
		new_lane(l, thread);
	page_lanes_add(l->lanes, l->lane[thread],
	               &(struct page_span){.begin_ns = from - l->begin_ns,
	                                   .length_ns = to - from,
	                                   .name = name,
	                                   .kind = kind});
}

static void add_absence(struct switch_lanes *l, const struct switch_absence *a)
{
	if (a->thread >= l->threads || l->lane[a->thread] == LEFT_OUT)
		return;
	if (l->in_ns[a->thread])
		add(l, a->thread, PAGE_SPAN_CALL, l->on, l->in_ns[a->thread], a->out_ns);
	add(l, a->thread, PAGE_SPAN_OUT, a->preempted ? l->preempted : l->blocked, a->out_ns,
	    a->in_ns ? a->in_ns : UINT64_MAX);
	l->in_ns[a->thread] = a->in_ns;
}

/* The last times on a CPU end with the thread, or with the recording. */
static void end_lanes(struct switch_lanes *l)
{
	for (uint32_t i = 0; i < l->threads; i++) {
		const struct thread *of = process_table_thread_at(l->profile->processes, i);

		if (l->lane[i] != LEFT_OUT && l->in_ns[i])
			add(l, i, PAGE_SPAN_CALL, l->on, l->in_ns[i],
			    of->end_ns ? of->end_ns : UINT64_MAX);
	}
}

static void choose(struct switch_lanes *l, const struct selection *selected)
{
	bool *has = xcalloc(l->threads + 1, sizeof(*has));

	for (int kind = 0; selected && kind < 2; kind++) {
		size_t count = kind ? selected->waits.count : selected->rows.count;
		const uint32_t *rows = kind ? selected->waits.items : selected->rows.items;

		for (size_t i = 0; i < count; i++)
			if (l->profile->rows.items[rows[i]].thread < l->threads)
				has[l->profile->rows.items[rows[i]].thread] = true;
	}
	for (uint32_t i = 0; i < l->threads; i++) {
		const struct thread *of = process_table_thread_at(l->profile->processes, i);

		l->lane[i] = (selected && !has[i]) || !of->tid ? LEFT_OUT : NO_LANE;
	}
	free(has);
}

void switch_lanes_fill(struct page_lanes *lanes, const struct profile *p,
                       const struct selection *selected)
{
	struct moment_axis axis = moment_axis_of(p);
	struct switch_lanes l = {.lanes = lanes,
	                         .profile = p,
	                         .begin_ns = axis.begin_ns,
	                         .end_ns = axis.end_ns,
	                         .threads = process_table_thread_count(p->processes)};

	lanes->switches = true;
	lanes->left += p->switches.beyond;
	l.on = page_lanes_name(lanes, "on a CPU");
	l.blocked = page_lanes_name(lanes, "(blocked)");
	l.preempted = page_lanes_name(lanes, "(preempted)");
	l.lane = xcalloc(l.threads + 1, sizeof(*l.lane));
	l.in_ns = xcalloc(l.threads + 1, sizeof(*l.in_ns));
	choose(&l, selected);
	vec_each (absence, &p->switches.absences)
		add_absence(&l, absence);
	end_lanes(&l);
	free(l.lane);
	free(l.in_ns);
}

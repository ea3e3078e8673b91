/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/wait_lanes.h"

#include "base/memory/xalloc.h"
#include "output/html/page_model.h"
#include "view/groups/group_rules.h"
#include "view/symbolized/sample_moments.h"
#include "view/waits/wait_path.h"
#include "view/waits/wait_steps.h"

#include <stdlib.h>
#include <string.h>

struct wait_lanes {
	struct page_waits *page;
	struct wait_report *report;
	const struct profile *profile;
	struct wait_steps steps;
	struct tree_builder_steps way;
	struct path_tree node_index, function_index;
	uint32_t *lane_of;  /* by thread: + 1; 0: none */
	uint32_t *cause_of; /* by sum: + 1; 0: none yet */
	uint32_t *node_of;  /* by path: + 1; 0: none yet */
	uint32_t *leaf_of;  /* by path: text of the function that ran, + 1; 0: none yet */
};

bool wait_lanes_has(const struct profile *p)
{
	if (!p->waits.waits.count || p->recordings.count != 1)
		return false;
	vec_each (event, &p->events)
		if (event->role == ATTR_SWITCH)
			return true;
	return p->waits.has_wakings;
}

static const struct process_table *table_of(const struct wait_lanes *l)
{
	return l->profile->processes;
}

static uint64_t since_begin(const struct wait_lanes *l, uint64_t ns)
{
	return ns > l->report->log->start_ns ? ns - l->report->log->start_ns : 0;
}

/* A text of the report. */
static uint32_t text_of(struct wait_lanes *l, uint32_t text)
{
	return text ? page_waits_text(l->page, wait_text(l->report, text)) : 0;
}

static void add_lane(struct wait_lanes *l, uint32_t thread)
{
	const struct thread *of = process_table_thread_at(table_of(l), thread);
	const struct process *process = process_table_process(table_of(l), of->process);
	struct page_wait_lane lane = {
	        .process = page_waits_text(l->page, process_table_name(table_of(l), process->name)),
	        .name = page_waits_text(l->page, process_table_name(table_of(l), of->name)),
	        .label = text_of(l, wait_thread_text(l->report, thread)),
	        .pid = process->pid,
	        .tid = of->tid,
	        .process_id = of->process,
	        .flags =
	                (uint8_t)((l->report->selection.selected[thread] ? PAGE_LANE_SELECTED : 0) |
	                          (process->kernel ? PAGE_LANE_KERNEL : 0)),
	        .end_ns = of->end_ns ? since_begin(l, of->end_ns) : UINT64_MAX};

	vec_push(&l->page->lanes, lane);
	l->lane_of[thread] = (uint32_t)l->page->lanes.count;
}

/* Threads with waits or samples, their wakers and parents, and the first threads of processes. */
static void add_lanes(struct wait_lanes *l)
{
	size_t threads = process_table_thread_count(table_of(l));
	const struct wait_log *log = l->report->log;
	uint8_t *wanted = xcalloc(threads + 1, 1);

	vec_each (w, &log->waits)
		wanted[log->sums.items[w->sum].key.thread] = 1;
	vec_each (sum, &log->sums)
		if (sum->key.waker < threads)
			wanted[sum->key.waker] = 1;
	vec_each (row, &l->profile->rows)
		if (row->samples && row->thread < threads)
			wanted[row->thread] = 1;
	vec_each (birth, &log->births)
		if (birth->parent < threads)
			wanted[birth->parent] = 1;
	for (uint32_t i = 0; i < threads; i++) {
		const struct thread *of = process_table_thread_at(table_of(l), i);
		bool first = of->tid == process_table_process(table_of(l), of->process)->pid;

		if (of->tid && (wanted[i] || (first && l->report->selection.selected[i])))
			add_lane(l, i);
	}
	free(wanted);
}

static uint32_t function_of(struct wait_lanes *l, const struct tree_builder_step *step)
{
	const struct profile *p = l->profile;
	const char *image = "";
	uint32_t name = page_waits_text(l->page, wait_step_name(&l->steps, step)), text, next, id;

	if (step->of != ID_NONE)
		image = image_path(&p->images, p->frames.items[step->of].frame.image);
	text = page_waits_text(l->page, image);
	next = (uint32_t)l->page->functions.count;
	id = path_tree_step(&l->function_index, text, name, next);
	if (id == next)
		vec_push(&l->page->functions,
		         (struct page_wait_function){.name = name,
		                                     .image = text,
		                                     .kind = group_image_is_kernel(image)
		                                                     ? PAGE_KERNEL
		                                             : *image ? PAGE_USER
		                                                      : PAGE_OTHER});
	return id;
}

static uint32_t node_of(struct wait_lanes *l, uint32_t path)
{
	uint32_t node = 0;

	if (path == ID_NONE)
		return 0;
	if (l->node_of[path])
		return l->node_of[path] - 1;
	l->way.all.count = 0;
	wait_steps_add(&l->steps, path, &l->way);
	vec_each (step, &l->way.all) {
		uint32_t function = function_of(l, step), next = (uint32_t)l->page->nodes.count;
		uint32_t id = path_tree_step(&l->node_index, node, function, next);

		if (id == next)
			vec_push(&l->page->nodes, (struct page_wait_node){node, function});
		node = id;
	}
	l->node_of[path] = node + 1;
	return node;
}

static uint32_t lane_of(const struct wait_lanes *l, uint32_t thread)
{
	return thread < process_table_thread_count(table_of(l)) ? l->lane_of[thread] : 0;
}

static uint32_t cause_of(struct wait_lanes *l, uint32_t sum)
{
	const struct wait_key *key = &l->report->log->sums.items[sum].key;
	uint32_t releaser;
	struct wait_row row;
	struct wait_cause cause;
	const char *evidence;

	if (l->cause_of[sum])
		return l->cause_of[sum] - 1;
	cause = wait_report_describe(l->report, sum, &row, &releaser);
	evidence = wait_evidence_name(row.evidence);
	vec_push(&l->page->causes,
	         (struct page_wait_cause){
	                 .kind = page_waits_text(l->page, wait_kind_name(row.kind)),
	                 .name = text_of(l, row.name),
	                 .function = text_of(l, wait_function_text(l->report, cause.place)),
	                 .by = text_of(l, row.by),
	                 .holder = text_of(l, row.holder),
	                 .evidence = page_waits_text(l->page, evidence),
	                 .waker = lane_of(l, key->waker),
	                 .node = node_of(l, key->path),
	                 .waker_node = node_of(l, key->waker_path),
	                 .woken = key->woken,
	                 .flags = (uint8_t)((wait_path_follows(l->report, key) ? PAGE_CAUSE_FOLLOWED
	                                                                       : 0) |
	                                    (releaser != ID_NONE ? PAGE_CAUSE_THREAD : 0) |
	                                    (l->report->row_of[sum] != ID_NONE ? PAGE_CAUSE_COUNTED
	                                                                       : 0))});
	l->cause_of[sum] = (uint32_t)l->page->causes.count;
	return l->cause_of[sum] - 1;
}

struct sum_count {
	uint64_t count;
	uint32_t sum;
};

static int by_count(const void *a, const void *b)
{
	const struct sum_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->sum < y->sum ? -1 : x->sum > y->sum;
}

/* Causes of many waits get small numbers. */
static void add_causes(struct wait_lanes *l)
{
	const struct wait_log *log = l->report->log;
	struct sum_count *sums = xcalloc(log->sums.count + 1, sizeof(*sums));

	for (uint32_t i = 0; i < log->sums.count; i++)
		sums[i] = (struct sum_count){log->sums.items[i].count, i};
	qsort(sums, log->sums.count, sizeof(*sums), by_count);
	for (uint32_t i = 0; i < log->sums.count; i++)
		if (lane_of(l, log->sums.items[sums[i].sum].key.thread))
			cause_of(l, sums[i].sum);
	free(sums);
}

static int by_out(const void *a, const void *b)
{
	const struct page_wait *x = a, *y = b;

	return x->out_ns == y->out_ns ? 0 : x->out_ns < y->out_ns ? -1 : 1;
}

static void add_waits(struct wait_lanes *l)
{
	const struct wait_log *log = l->report->log;

	vec_each (w, &log->waits) {
		const struct wait_key *key = &log->sums.items[w->sum].key;
		uint32_t lane = lane_of(l, key->thread);
		uint64_t blocked = wait_log_blocked_ns(log, w);

		if (!lane)
			continue;
		vec_push(&l->page->lanes.items[lane - 1].waits,
		         (struct page_wait){.out_ns = since_begin(l, w->out_ns),
		                            .blocked_ns = blocked,
		                            .runnable_ns = w->in_ns - w->out_ns - blocked,
		                            .cause = cause_of(l, w->sum),
		                            .instead = key->woken == WAIT_PREEMPTED
		                                               ? lane_of(l, w->instead)
		                                               : 0});
	}
	vec_each (lane, &l->page->lanes)
		if (lane->waits.count)
			qsort(lane->waits.items, lane->waits.count, sizeof(*lane->waits.items),
			      by_out);
}

static void add_births(struct wait_lanes *l)
{
	vec_each (b, &l->report->log->births)
		if (lane_of(l, b->thread))
			vec_push(&l->page->births,
			         (struct page_wait_birth){.time_ns = since_begin(l, b->time_ns),
			                                  .lane = lane_of(l, b->thread) - 1,
			                                  .parent = lane_of(l, b->parent),
			                                  .is_exec = b->is_exec});
}

static uint32_t leaf_of(struct wait_lanes *l, uint32_t path)
{
	if (!l->leaf_of[path])
		l->leaf_of[path] =
		        1 +
		        text_of(l, wait_function_text(l->report,
		                                      wait_path_leaf(&l->report->causes, path)));
	return l->leaf_of[path] - 1;
}

static void add_track(struct wait_lanes *l, uint32_t track)
{
	const struct profile *p = l->profile;
	struct time_cursor cursor;
	struct time_entry e;

	time_axis_seek(&cursor, &p->axis, track, 0);
	while (time_axis_next(&cursor, &e)) {
		const struct profile_row *row = &p->rows.items[e.row];

		if (e.time_ns >= l->report->log->start_ns && lane_of(l, row->thread))
			vec_push(&l->page->samples,
			         (struct page_wait_sample){.time_ns = since_begin(l, e.time_ns),
			                                   .samples = e.samples,
			                                   .weight = e.weight,
			                                   .lane = lane_of(l, row->thread) - 1,
			                                   .function = leaf_of(l, row->path)});
	}
}

static int by_time(const void *a, const void *b)
{
	const struct page_wait_sample *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static void add_samples(struct wait_lanes *l)
{
	const struct profile *p = l->profile;
	uint8_t clock = profile_clock_event(p);

	if (clock >= p->events.count || p->events.items[clock].role != ATTR_CLOCK)
		return;
	vec_each (track, &p->axis.tracks)
		if (track->event == clock)
			add_track(l, (uint32_t)(track - p->axis.tracks.items));
	if (l->page->samples.count)
		qsort(l->page->samples.items, l->page->samples.count,
		      sizeof(*l->page->samples.items), by_time);
}

/* The pid of the process whose path the report shows. */
static uint32_t process_of(struct wait_report *r)
{
	struct wait_path path;
	uint32_t pid = 0;

	wait_path_init(&path, r);
	if (path.present) {
		const struct process_table *t = r->view->profile->processes;
		uint32_t process = process_table_thread_at(t, path.path.thread)->process;

		pid = (uint32_t)process_table_process(t, process)->pid;
	}
	wait_path_done(&path);
	return pid;
}

void wait_lanes_fill(struct page_waits *waits, struct wait_report *r)
{
	const struct wait_log *log = r->log;
	const struct profile *p = r->view->profile;
	struct wait_lanes l = {.page = waits, .report = r, .profile = p};

	page_waits_init(waits);
	waits->clock_ns = log->start_ns;
	waits->duration_ns = log->end_ns - log->start_ns;
	waits->axis_ns = (int64_t)(moment_axis_of(p).begin_ns - log->start_ns);
	waits->process = process_of(r);
	waits->beyond = log->beyond;
	wait_steps_begin(&l.steps, r->view);
	l.lane_of = xcalloc(process_table_thread_count(p->processes) + 1, sizeof(*l.lane_of));
	l.cause_of = xcalloc(log->sums.count + 1, sizeof(*l.cause_of));
	l.node_of = xcalloc(p->paths.count + 1, sizeof(*l.node_of));
	l.leaf_of = xcalloc(p->paths.count + 1, sizeof(*l.leaf_of));
	add_lanes(&l);
	add_causes(&l);
	add_waits(&l);
	add_births(&l);
	add_samples(&l);
	page_waits_limit(waits, 0, 0);
	wait_steps_done(&l.steps);
	vec_done(&l.way.all);
	path_tree_done(&l.node_index);
	path_tree_done(&l.function_index);
	free(l.lane_of);
	free(l.cause_of);
	free(l.node_of);
	free(l.leaf_of);
}

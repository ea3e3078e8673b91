/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens before sampling starts: events, output and the running processes. */
#include "base/read/spare_files.h"
#include "base/text/plural.h"
#include "session/rate/calibration.h"
#include "session/rate/system_call_cost.h"
#include "session/session_internal.h"
#include "source/perf/perf_ring_size.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define ENCODE_BYTES (256u << 10)
/* Descriptors for output, cache, /proc and events of the keeper. Without them parts of /proc would
 * be missing without a message.
 */
#define SPARE_FILES 16

struct targets session_targets(const struct session *s)
{
	const struct session_options *o = s->options;

	return (struct targets){.command = session_follows_pids(o) ? 0 : s->child.pid,
	                        .pids = o->pids,
	                        .own = o->machine_wide,
	                        .helper = foreign_pid(s->foreign)};
}

/* The threads come last: the time from here until their events are opened is to be short. */
static void list_tasks(struct session *s)
{
	struct targets targets = session_targets(s);

	s->tasks.count = s->children.count = 0;
	targets_children(&targets, &s->children);
	targets_threads(&targets, &s->tasks);
	s->source_options.tasks = s->tasks.items;
	s->source_options.task_count = s->tasks.count;
}

static int compare_ids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return x < y ? -1 : x > y;
}

/* The number of ids that are not among the old ones. Sorts the old ones. */
static size_t count_new(const proc_ids *ids, proc_ids *old)
{
	size_t count = 0;

	if (old->count)
		qsort(old->items, old->count, sizeof(*old->items), compare_ids);
	vec_each (id, ids)
		count += !old->count ||
		         !bsearch(id, old->items, old->count, sizeof(*old->items), compare_ids);
	return count;
}

/*
 * A thread inherits the events that its creator has at that moment. If it begins while these are
 * opened one after the other, it has some of them on some CPUs: its time would be counted in part.
 */
static bool began_since(void *ctx, bool last)
{
	struct session *s = ctx;
	struct targets targets = session_targets(s);
	proc_ids tasks = {0}, children = {0};

	targets_threads(&targets, &tasks);
	targets_children(&targets, &children);
	s->newcomers = count_new(&tasks, &s->tasks) + count_new(&children, &s->children);
	if (s->newcomers && !last)
		list_tasks(s);
	vec_done(&tasks);
	vec_done(&children);
	return s->newcomers;
}

static int open_source(struct session *s, struct error *err)
{
	struct perf_source_options *so = &s->source_options;
	int status;

	if (!s->plan.machine_wide)
		list_tasks(s);
	if (!s->plan.machine_wide && !s->tasks.count)
		return error_set(err, ESRCH, "none of the processes exists");
	so->events = s->plan.events.items;
	so->event_count = s->plan.events.count;
	/* A command does not run yet. All processes of a user are too many to be listed again. */
	so->began = !s->plan.machine_wide && session_follows_pids(s->options) ? began_since : NULL;
	so->ctx = s;
	so->ring_bytes = perf_ring_size(s->options->memory_bytes, s->plan.unwind);
	so->track_bytes = s->plan.unwind ? perf_ring_size_track(so->ring_bytes) : 0;
	status = perf_source_open(&s->source, so, err);
	if (!status && perf_source_denied(s->source))
		plan_note(&s->plan, "%zu %s of processes that you may not sample %s missing.",
		          perf_source_denied(s->source),
		          plural(perf_source_denied(s->source), "event", "events"),
		          plural(perf_source_denied(s->source), "is", "are"));
	if (!status && s->newcomers)
		plan_note(&s->plan,
		          "%zu %s began while sampling was set up, and more in each new attempt: "
		          "some "
		          "of their time may be missing.",
		          s->newcomers, plural(s->newcomers, "thread", "threads"));
	return status;
}

/* The keeper is optional; if it cannot be opened, a note is added. */
static void open_keeper(struct session *s)
{
	struct image_keeper_options o = {.tasks = s->source_options.tasks,
	                                 .task_count = s->source_options.task_count,
	                                 .sampled = &s->plan.events.items[0].attr,
	                                 .eager = s->plan.unwind,
	                                 .foreign = s->foreign,
	                                 .watches = s->watches};
	struct error err = {0};

	s->jit = o.jit = jit_keeper_new(s->foreign);
	if (image_keeper_open(&s->keeper, &o, &err))
		plan_note(&s->plan, "Programs deleted while recording have no names: %s", err.text);
}

static int open_stream(struct session *s, struct error *err)
{
	const struct session_options *o = s->options;
	struct record_stream_options so = {.plan = &s->plan,
	                                   .recording = &s->recording,
	                                   .source = s->source,
	                                   .sink = s->sink,
	                                   .method = o->method,
	                                   .foreign = s->foreign,
	                                   .keeper = s->keeper,
	                                   .hooks = &s->hooks,
	                                   .session = s,
	                                   .budget = o->budget};
	struct label_keeper_options lo = {s->foreign, o->pod_labels, o->label_file};
	int status = o->labels ? label_keeper_new(&s->labels, &lo, err) : 0;

	if (status)
		return status;
	so.labels = s->labels;

	if (s->plan.waits) {
		s->descriptors = so.descriptors = descriptor_keeper_new(&s->recording);
		s->faults = so.faults = fault_keeper_new(s->foreign);
	}
	if (s->plan.unwind || s->plan.waits || s->sink->ordered || o->budget > 0 || o->labels)
		s->stream = record_stream_new(&so);
	return 0;
}

static int open_sink(struct session *s, struct error *err)
{
	VEC(struct perf_data_attr) attrs = {0};
	int status;

	vec_each (event, &s->plan.events)
		vec_push(&attrs, (struct perf_data_attr){.attr = plan_file_attr(event),
		                                         .name = event->name,
		                                         .ids = event->ids.items,
		                                         .id_count = event->ids.count});
	status = s->sink->ops->open(s->sink, attrs.items, attrs.count, &s->recording, err);
	vec_done(&attrs);
	if (!status && s->sink->grows)
		output_watch_watch(&s->place, s->options->output);
	return status;
}

static int write_event(void *ctx, const struct event *e, struct error *err)
{
	struct session *s = ctx;
	const struct perf_source_event *event = vec_last(&s->plan.events);
	int status = perf_record_encode(&s->encoded, &event->attr, event->ids.items[0], e, err);

	if (s->stream)
		record_stream_event(s->stream, e);
	image_keeper_mapping(s->keeper, e);
	if (!status && s->encoded.size > ENCODE_BYTES)
		status = session_write_encoded(s, err);
	return status;
}

/* Adds notes on mappings that the scan left out or truncated. */
static void note_left_out(struct session *s, const struct proc_scan_counts *counts)
{
	if (counts->cut_paths)
		plan_note(&s->plan,
		          "%" PRIu64 " %s of a file whose path is longer than %d bytes %s recorded "
		          "with the beginning of the path.",
		          counts->cut_paths, plural(counts->cut_paths, "mapping", "mappings"),
		          PATH_MAX - 1, plural(counts->cut_paths, "was", "were"));
	if (counts->dropped_mappings)
		plan_note(&s->plan,
		          "%" PRIu64 " %s left out (%" PRIu64 " %s): those of one process may use "
		          "%zu MB when recording begins. Code in them has no names.",
		          counts->dropped_mappings,
		          plural(counts->dropped_mappings, "mapping was", "mappings were"),
		          counts->dropped_processes,
		          plural(counts->dropped_processes, "process", "processes"),
		          PROC_MAPPINGS_BYTES >> 20);
}

/* Records the running processes. The kernel's tracking is already enabled, so none is missed. */
static int record_running_processes(struct session *s, struct error *err)
{
	struct proc_scan_counts counts = {0};
	struct proc_scan scan = {.deliver = write_event,
	                         .ctx = s,
	                         .data_mappings = s->options->data_addresses,
	                         .cgroups = s->plan.cgroups,
	                         .counts = &counts,
	                         .foreign = s->foreign};
	struct targets targets = session_targets(s);
	bool hidden = false;
	proc_ids pids = {0};
	struct event common;
	int status = 0;

	if (label_keeper_common(s->labels, &common))
		status = write_event(s, &common, err);
	if (!status && s->plan.kernel)
		status = proc_scan_kernel(&scan, &hidden, err);
	if (!status && s->plan.cgroups)
		status = proc_scan_cgroups(&scan, err);
	if (hidden)
		plan_note(&s->plan, "You may not read kernel addresses (/proc/kallsyms, "
		                    "kernel.kptr_restrict): kernel functions have no names.");
	if (!status && s->plan.machine_wide) {
		status = proc_scan_all(&scan, err);
	} else if (!status) {
		targets_processes(&targets, &pids);
		status = proc_scan_pids(&scan, &pids, err);
		vec_done(&pids);
	}
	note_left_out(s, &counts);
	if (!status)
		status = session_write_encoded(s, err);
	return status ? status : session_flush(s, err);
}

/* Called last before sampling, since the budget includes all CPU time so far. */
static void begin_budget(struct session *s)
{
	const struct session_options *o = s->options;
	char *remark = s->stream ? record_stream_ready(s->stream, o->duration_ns) : NULL;

	/* The remark is about seconds, so it is not useful for a store. */
	if (remark && o->remark)
		o->remark(o->ctx, remark);
	else if (remark && !s->sink->names)
		plan_note(&s->plan, "%s", remark);
	free(remark);
}

/* Says beforehand by how much system calls become slower, and records it. */
static void state_system_call_cost(struct session *s)
{
	const struct session_options *o = s->options;
	struct system_call_cost cost;
	char *sentence;
	int status;

	if (!o->system_calls)
		return;
	status = system_call_cost_measure(&s->plan, &cost);
	if (status && status != -EBUSY)
		return;
	sentence =
	        status ? xstrdup("By how much each traced system call takes longer is not "
	                         "known: the machine was too busy to measure it.")
	               : xasprintf("Each system call of the traced processes takes about %.2f us "
	                           "longer: "
	                           "a short one %.2f us without tracing, %.2f us with it (measured "
	                           "before the recording).",
	                           (cost.traced_ns - cost.plain_ns) / 1000, cost.plain_ns / 1000,
	                           cost.traced_ns / 1000);
	if (o->remark)
		o->remark(o->ctx, sentence);
	plan_note(&s->plan, "%s", sentence);
	free(sentence);
}

int session_prepare(struct session *s, struct error *err)
{
	const struct session_options *o = s->options;
	struct targets targets;
	sigset_t held;
	int status;

	session_hold_signals(s, &held);
	status = spare_files_check(SPARE_FILES, err);
	if (status)
		return status;
	session_foreign_open(s);
	proc_threads(getpid(), &s->plan.own);
	if (foreign_pid(s->foreign))
		proc_threads(foreign_pid(s->foreign), &s->plan.own);
	status = plan_make(&s->plan, o, err);
	if (!status)
		state_system_call_cost(s);
	if (!status && o->calibrate)
		calibration_measure(&s->plan, &s->recording.account.calibration);
	if (!status && o->command)
		status = command_child_fork(&s->child, o->command, &s->old_mask, err);
	if (!status)
		status = open_source(s, err);
	if (status)
		return status;
	status = spare_files_check(SPARE_FILES, err);
	if (status)
		return status;
	if (!s->sink->names || s->sink->keeps)
		open_keeper(s);
	targets = session_targets(s);
	account_describe(&s->recording, &s->plan, o, &targets);
	status = open_stream(s, err);
	if (!status)
		status = open_sink(s, err);
	if (!status)
		status = perf_source_enable(s->source, true, err);
	if (!status)
		status = record_running_processes(s, err);
	if (!status)
		begin_budget(s);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session.h"

#include "base/memory/buf.h"
#include "base/clock.h"
#include "base/text/plural.h"
#include "base/read/spare_files.h"
#include "launch/privileges.h"
#include "source/perf/perf_ring_size.h"
#include "session/session_internal.h"
#include "session/targets.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define BUDGET_LOOK_MS 1000
#define ENCODE_BYTES (256u << 10)
/* Descriptors for output, cache, /proc and events of the keeper. Without them parts of /proc would
 * be missing without a message.
 */
#define SPARE_FILES 16

/* Blocks signals that do not end the recording; they are blocked from the start. */
static void hold_signals(struct session *s, sigset_t *mask)
{
	sigemptyset(mask);
	sigaddset(mask, SIGCHLD);
	if (s->hooks.signalled) {
		sigaddset(mask, SIGUSR1);
		sigaddset(mask, SIGUSR2);
	}
	sigprocmask(SIG_BLOCK, mask, s->masked ? NULL : &s->old_mask);
	s->masked = true;
}

/*
 * Before sampling starts there is nothing to save, so the signals that end a recording end the
 * process. From here on they are read by signalfd.
 */
static int open_signals(struct session *s, struct error *err)
{
	sigset_t mask;

	hold_signals(s, &mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return error_set(err, errno, "signalfd: %s", strerror(errno));
	return 0;
}

static struct targets targets_of(const struct session *s)
{
	const struct session_options *o = s->options;

	return (struct targets){.command = session_follows_pids(o) ? 0 : s->child.pid,
	                        .pids = o->pids,
	                        .own = o->machine_wide,
	                        .helper = foreign_pid(s->foreign)};
}

static int open_source(struct session *s, struct error *err)
{
	struct perf_source_options *so = &s->source_options;
	struct targets targets = targets_of(s);
	int status;

	if (!s->plan.machine_wide)
		targets_threads(&targets, &s->tasks);
	if (!s->plan.machine_wide && !s->tasks.count)
		return error_set(err, ESRCH, "none of the processes exists");
	so->events = s->plan.events.items;
	so->event_count = s->plan.events.count;
	so->tasks = s->plan.machine_wide ? NULL : s->tasks.items;
	so->task_count = s->tasks.count;
	so->ring_bytes = perf_ring_size(s->options->memory_bytes, s->plan.unwind);
	so->track_bytes = s->plan.unwind ? perf_ring_size_track(so->ring_bytes) : 0;
	status = perf_source_open(&s->source, so, err);
	if (!status && perf_source_denied(s->source))
		plan_note(&s->plan, "%zu %s of processes that you may not sample %s missing.",
		          perf_source_denied(s->source),
		          plural(perf_source_denied(s->source), "event", "events"),
		          plural(perf_source_denied(s->source), "is", "are"));
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

static void open_stream(struct session *s)
{
	const struct session_options *o = s->options;
	struct record_stream_options so = {.plan = &s->plan,
	                                   .source = s->source,
	                                   .sink = s->sink,
	                                   .tasks = &s->tasks,
	                                   .method = o->method,
	                                   .foreign = s->foreign,
	                                   .keeper = s->keeper,
	                                   .hooks = &s->hooks,
	                                   .session = s,
	                                   .budget = o->budget};

	if (s->plan.unwind || s->sink->ordered || o->budget > 0)
		s->stream = record_stream_new(&so);
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

static int flush_sink(struct session *s, struct error *err)
{
	struct session_status status = {0};
	int ret;

	if (s->sink->flush_ns)
		session_status_take(s, &status);
	session_work_begin(s);
	ret = s->sink->ops->flush(s->sink, &status, err);
	session_work_end(s);
	session_status_done(&status);
	return ret;
}

static int write_encoded(struct session *s, struct error *err)
{
	int status = s->sink->ops->append(s->sink, s->encoded.data, s->encoded.size, err);

	buf_clear(&s->encoded);
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
		status = write_encoded(s, err);
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

/* Reports running processes. The kernel's tracking is already enabled, so none is missed. */
static int tell_what_runs(struct session *s, struct error *err)
{
	struct proc_scan_counts counts = {0};
	struct proc_scan scan = {.deliver = write_event,
	                         .ctx = s,
	                         .data_mappings = s->options->data_addresses,
	                         .cgroups = s->plan.cgroups,
	                         .counts = &counts,
	                         .foreign = s->foreign};
	struct targets targets = targets_of(s);
	bool hidden = false;
	proc_ids pids = {0};
	int status = 0;

	if (s->plan.kernel)
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
		status = write_encoded(s, err);
	return status ? status : flush_sink(s, err);
}

static int write_ring(void *ctx, const void *records, size_t bytes, struct error *err)
{
	struct session *s = ctx;

	image_keeper_scan(s->keeper, records, bytes);
	return s->sink->ops->append(s->sink, records, bytes, err);
}

/* Reports progress, about once a second. */
static void show_progress(const struct session *s)
{
	struct session_progress progress = {.elapsed_ns =
	                                            clock_ns(CLOCK_MONOTONIC) - s->start.time_ns,
	                                    .bytes = s->sink->ops->bytes(s->sink)};

	if (s->options->progress)
		s->options->progress(s->options->ctx, &progress);
}

int session_drain(struct session *s, bool last, struct error *err)
{
	int status;

	wakeup_schedule_drained(&s->pace);
	session_work_begin(s);
	image_keeper_look(s->keeper, true);
	if (s->stream)
		status = record_stream_read(s->stream, last, err);
	else
		status = perf_source_read(s->source, write_ring, s, err);
	image_keeper_drained(s->keeper);
	session_work_end(s);
	if (s->stream && record_stream_deep(s->stream))
		wakeup_schedule_soon(&s->pace);
	if (!status && !s->stream) {
		perf_record_finished_round(&s->encoded);
		status = write_encoded(s, err);
	}
	if (status && err)
		s->failed = *err;
	return status;
}

static void read_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2)
			s->signalled = true;
		else if (info.ssi_signo != SIGCHLD)
			s->stop = s->interrupted = true;
	}
	if (s->child.pid && command_child_ended(&s->child))
		s->stop = true;
}

/* The time until `due_ns`, at most `ms`. due_ns 0: `ms`. */
static int ms_until(uint64_t due_ns, int ms)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), left;

	if (!due_ns)
		return ms;
	left = due_ns > now ? (due_ns - now) / 1000000 + 1 : 0;
	return left < (uint64_t)ms ? (int)left : ms;
}

/* The planned end of sampling; 0: no duration was requested. */
static uint64_t end_due_ns(const struct session *s)
{
	return s->options->duration_ns ? s->start.time_ns + s->options->duration_ns : 0;
}

/* The time to sleep, without regard to the keeper. */
static int patience(const struct session *s, int patience_ms)
{
	int ms = wakeup_schedule_sleep_ms(&s->pace, patience_ms, s->options->progress != NULL);

	return ms_until(end_due_ns(s), ms_until(s->look_due_ns, ms));
}

static void look_at_duration(struct session *s)
{
	uint64_t due_ns = end_due_ns(s);

	if (due_ns && clock_ns(CLOCK_MONOTONIC) >= due_ns)
		s->stop = s->over = true;
}

/*
 * Sleeps until the rings should be read. False: other work was due, and is done. The kernel counts
 * the bytes that it wrote to a ring, not the unread ones, so some wake-ups have no data.
 */
static bool wait_for_work(struct session *s, int *patience_ms)
{
	struct pollfd watched[] = {
	        {.fd = perf_source_fd(s->source), .events = POLLIN},
	        {.fd = s->signals, .events = POLLIN},
	        {.fd = image_keeper_fd(s->keeper), .events = POLLIN},
	        {.fd = s->hooks.fd, .events = POLLIN},
	};
	int ms = s->read_soon ? 0 : patience(s, *patience_ms);
	int rest_ms = image_keeper_rest_ms(s->keeper);
	bool rests = rest_ms >= 0 && rest_ms < ms;
	int woken = poll(watched, 4, rests ? rest_ms : ms);

	if (watched[2].revents || (rests && !woken)) {
		session_work_begin(s);
		image_keeper_look(s->keeper, watched[2].revents);
		session_work_end(s);
	}
	if (watched[3].revents && s->hooks.serve)
		s->hooks.serve(s->hooks.ctx, s);
	if (watched[0].revents)
		perf_source_acknowledge(s->source, patience_ms);
	return watched[1].revents || s->stop || s->read_soon || (!rests && woken <= 0) ||
	       (watched[0].revents && perf_source_half_full(s->source));
}

/* Calls the hooks that are due. */
static void call_hooks(struct session *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (s->hooks.serve)
		s->hooks.serve(s->hooks.ctx, s);
	if (s->signalled && s->hooks.signalled)
		s->hooks.signalled(s->hooks.ctx, s);
	s->signalled = false;
	if (!s->look_due_ns || now < s->look_due_ns)
		return;
	s->look_due_ns = now + s->hooks.look_ms * UINT64_C(1000000);
	s->hooks.look(s->hooks.ctx, s);
}

static int run(struct session *s, struct error *err)
{
	int status = 0;
	int patience_ms = wakeup_schedule_begin(&s->pace, s->plan.unwind, s->sink->flush_ns,
	                                        s->start.time_ns);
	struct targets targets = targets_of(s);
	bool by_pid = !s->plan.machine_wide;

	/* The rate is checked together with the rings. */
	if (s->options->budget > 0 && patience_ms > BUDGET_LOOK_MS)
		patience_ms = BUDGET_LOOK_MS;
	while (!status && !s->stop && !(by_pid && targets_gone(&targets))) {
		if (!wait_for_work(s, &patience_ms))
			continue;
		if (s->failed.code)
			break;
		read_signals(s);
		look_at_duration(s);
		s->recording.account.observer_wakeups++;
		s->read_soon = false;
		status = session_drain(s, false, err);
		/* Full rings wake the recorder too, but the file is flushed only by time. */
		if (!status && wakeup_schedule_flush_due(&s->pace, s->start.time_ns))
			status = flush_sink(s, err);
		if (!status)
			call_hooks(s);
		show_progress(s);
	}
	if (!status && s->failed.code) {
		*err = s->failed;
		status = -s->failed.code;
	}
	return status;
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

static int prepare(struct session *s, struct error *err)
{
	const struct session_options *o = s->options;
	sigset_t held;
	int status;

	hold_signals(s, &held);
	status = spare_files_check(SPARE_FILES, err);
	if (status)
		return status;
	session_foreign_open(s);
	status = plan_make(&s->plan, o, err);
	if (!status && o->command)
		status = command_child_fork(&s->child, o->command, &s->old_mask, err);
	if (!status)
		status = open_source(s, err);
	if (status)
		return status;
	status = spare_files_check(SPARE_FILES, err);
	if (status)
		return status;
	if (!s->sink->names)
		open_keeper(s);
	account_describe(&s->recording, &s->plan, o);
	open_stream(s);
	status = open_sink(s, err);
	if (!status)
		status = perf_source_enable(s->source, true, err);
	if (!status)
		status = tell_what_runs(s, err);
	if (!status)
		begin_budget(s);
	return status;
}

static unsigned privileges_needed(const struct session *s)
{
	bool names = s->sink->names;
	bool writes = s->options->hooked && s->sink->ops->snapshot;

	return (s->plan.unwind || s->keeper || names ? PRIVILEGE_LOOK : 0) |
	       (names ? PRIVILEGE_NAMES : 0) | (writes ? PRIVILEGE_WRITE : 0) |
	       (s->options->budget > 0 ? PRIVILEGE_SAMPLE : 0);
}

static int begin(struct session *s, struct session_result *result, struct error *err)
{
	int status;

	status = open_signals(s, err);
	if (status)
		return status;
	if (s->options->begins)
		s->options->begins(s->options->ctx);
	account_mark_take(&s->start, s->foreign);
	status = perf_source_enable(s->source, false, err);
	if (!status && s->child.pid) {
		status = command_child_start(&s->child, s->options->command[0], err);
		result->command_failed = status != 0;
	}
	if (status)
		return status;
	s->began = true;
	if (s->stream)
		record_stream_begin(s->stream, s->start.time_ns);
	if (s->sink->ops->begun)
		s->sink->ops->begun(s->sink, s->start.time_ns);
	if (s->plan.unwind)
		privileges_hurry();
	privileges_drop(privileges_needed(s));
	if (s->hooks.look && s->hooks.look_ms)
		s->look_due_ns = s->start.time_ns + s->hooks.look_ms * UINT64_C(1000000);
	if (s->hooks.begun)
		s->hooks.begun(s->hooks.ctx, s);
	return 0;
}

static int finish(struct session *s, struct session_status *last, struct error *err)
{
	struct session_sink *sink = s->sink;
	int status;

	perf_source_disable(s->source);
	account_mark_take(&s->end, s->foreign);
	status = session_drain(s, true, err);
	if (status)
		return status;
	image_keeper_finish(s->keeper, &s->plan);
	session_foreign_report(s);
	account_close(&s->recording, &s->plan, s->source, &s->start, &s->end);
	jit_keeper_finish(s->jit, &s->recording);
	session_foreign_account(s, &s->recording.account);
	if (s->stream)
		record_stream_account(s->stream, &s->recording.account);
	s->recording.account.observer_bytes = sink->ops->bytes(sink);
	/* With -p the command was not recorded. */
	s->recording.account.exit_status =
	        s->child.ended && !session_follows_pids(s->options) ? s->child.status : -1;
	session_status_take(s, last);
	s->sink = NULL;
	return sink->ops->close(sink, &s->recording, last, err);
}

static void fill_result(struct session *s, struct session_result *result)
{
	result->elapsed_ns = s->end.time_ns - s->start.time_ns;
	result->bytes = s->recording.account.observer_bytes;
	result->lost_records = recording_lost(&s->recording);
	result->observer_cpu_ns = s->recording.account.observer_cpu_ns;
}

/* COMMAND continues after the recording, unless a signal requested the end. */
static void leave_command(struct session *s, struct session_result *result)
{
	result->duration_over = s->over;
	if (!s->began || s->interrupted || command_child_ended(&s->child))
		return;
	result->command = s->child;
	s->child = (struct command_child){0};
}

static void close_session(struct session *s, struct session_result *result)
{
	leave_command(s, result);
	result->command_goes_on = !command_child_end(&s->child);
	result->exit_status = s->child.pid && s->child.ended ? s->child.status : -1;
	record_stream_free(s->stream);
	image_keeper_close(s->keeper);
	jit_keeper_free(s->jit);
	perf_source_close(s->source);
	if (s->sink)
		s->sink->ops->abandon(s->sink, s->began);
	session_foreign_close(s);
	plan_done(&s->plan);
	recording_done(&s->recording);
	account_mark_done(&s->start);
	account_mark_done(&s->end);
	vec_done(&s->tasks);
	buf_done(&s->encoded);
	if (s->signals >= 0)
		close(s->signals);
	if (s->masked)
		sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}

int session_record(const struct session_options *options, struct session_result *result,
                   struct error *err)
{
	struct session s = {.options = options, .hooks.fd = -1, .signals = -1, .watches = -1};
	int status;

	*result = (struct session_result){.exit_status = -1};
	if (options->hooked)
		s.hooks = options->hooks;
	s.sink = options->sink;
	s.sink->session = &s;
	recording_init(&s.recording);
	status = prepare(&s, err);
	if (!status)
		status = begin(&s, result, err);
	if (!status)
		status = run(&s, err);
	if (!status)
		status = finish(&s, &result->status, err);
	/* A moved or deleted output file is reported instead of any other error. */
	if (s.began && output_watch_is_gone(&s.place))
		status = output_watch_check(&s.place, err);
	/* After an error, the status shows the progress until then. */
	if (status && s.began && !result->status.now_ns)
		session_status_take(&s, &result->status);
	if (!status)
		fill_result(&s, result);
	vec_each (note, &s.plan.notes)
		vec_push(&result->notes, xstrdup(*note));
	close_session(&s, result);
	return status;
}

void session_result_done(struct session_result *result)
{
	vec_each (note, &result->notes)
		free(*note);
	vec_done(&result->notes);
	session_status_done(&result->status);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session.h"

#include "base/buf.h"
#include "base/clock.h"
#include "format/perf_data.h"
#include "session/account.h"
#include "session/command_child.h"
#include "session/jit_keep.h"
#include "session/keeper.h"
#include "session/live_stacks.h"
#include "session/pace.h"
#include "session/plan.h"
#include "session/privileges.h"
#include "session/ring_size.h"
#include "session/targets.h"
#include "source/perf_source.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define ENCODE_BYTES (256u << 10)

struct session {
	const struct session_options *options;
	struct plan plan;
	struct perf_source *source;
	struct perf_data_writer *writer;
	struct live_stacks *live; /* NULL: rings are copied as they are */
	struct keeper *keeper;    /* NULL: the kernel would not let us */
	struct jit_keep *jit;
	struct recording recording;
	struct command_child child;
	struct account_mark start, end;
	struct perf_source_options source_options;
	proc_ids tasks;
	struct buf encoded; /* records of our own, on their way to the writer */
	sigset_t old_mask;
	int signals; /* signalfd */
	struct pace pace;
	bool began; /* something was sampled: the file is worth keeping */
	bool stop, masked;
};

static int open_signals(struct session *s, struct error *err)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, &s->old_mask);
	s->masked = true;
	s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return error_set(err, errno, "signalfd: %s", strerror(errno));
	return 0;
}

static struct targets targets_of(const struct session *s)
{
	return (struct targets){
	        .command = s->child.pid, .pids = s->options->pids, .own = s->options->machine_wide};
}

static int open_source(struct session *s, struct error *err)
{
	struct perf_source_options *so = &s->source_options;
	struct targets targets = targets_of(s);
	int status;

	if (!s->plan.machine_wide)
		targets_threads(&targets, &s->tasks);
	if (!s->plan.machine_wide && !s->tasks.count)
		return error_set(err, ESRCH, "there is no such process to sample");
	so->events = s->plan.events.items;
	so->event_count = s->plan.events.count;
	so->tasks = s->plan.machine_wide ? NULL : s->tasks.items;
	so->task_count = s->tasks.count;
	so->ring_bytes = ring_size(s->options->memory_bytes, s->plan.unwind);
	so->track_bytes = s->plan.unwind ? ring_size_track(so->ring_bytes) : 0;
	status = perf_source_open(&s->source, so, err);
	if (!status && perf_source_denied(s->source))
		plan_note(&s->plan, "%zu events of processes that you may not sample are missing.",
		          perf_source_denied(s->source));
	return status;
}

/* A recording without it is a good one: its want is noted. */
static void open_keeper(struct session *s)
{
	struct keeper_options o = {.tasks = s->source_options.tasks,
	                           .task_count = s->source_options.task_count,
	                           .sampled = &s->plan.events.items[0].attr,
	                           .eager = s->plan.unwind};
	struct error err = {0};

	s->jit = o.jit = jit_keep_new();
	if (keeper_open(&s->keeper, &o, &err))
		plan_note(&s->plan, "Programs deleted while recording have no names: %s", err.text);
}

static int open_writer(struct session *s, struct error *err)
{
	VEC(struct perf_data_attr) attrs = {0};
	int status;

	vec_each (event, &s->plan.events)
		vec_push(&attrs, (struct perf_data_attr){.attr = plan_file_attr(event),
		                                         .name = event->name,
		                                         .ids = event->ids.items,
		                                         .id_count = event->ids.count});
	status = perf_data_writer_open(&s->writer, s->options->output, attrs.items, attrs.count,
	                               err);
	vec_done(&attrs);
	if (!status && s->plan.unwind) {
		s->live = live_stacks_new(&s->plan, s->source, s->writer, &s->tasks,
		                          s->options->method);
		live_stacks_keeper(s->live, s->keeper);
	}
	return status;
}

static int write_encoded(struct session *s, struct error *err)
{
	int status = perf_data_writer_append(s->writer, s->encoded.data, s->encoded.size, err);

	buf_clear(&s->encoded);
	return status;
}

static int write_event(void *ctx, const struct event *e, struct error *err)
{
	struct session *s = ctx;
	const struct perf_source_event *event = vec_last(&s->plan.events);
	int status = perf_record_encode(&s->encoded, &event->attr, event->ids.items[0], e, err);

	if (s->live)
		live_stacks_event(s->live, e);
	keeper_mapping(s->keeper, e);
	if (!status && s->encoded.size > ENCODE_BYTES)
		status = write_encoded(s, err);
	return status;
}

/* What runs already. The kernel's own tracking is on by now, so that nothing falls between. */
static int tell_what_runs(struct session *s, struct error *err)
{
	struct proc_scan scan = {
	        .deliver = write_event, .ctx = s, .data_mappings = s->options->data_addresses};
	struct targets targets = targets_of(s);
	bool hidden = false;
	proc_ids pids = {0};
	int status = 0;

	if (s->plan.kernel)
		status = proc_scan_kernel(&scan, &hidden, err);
	if (hidden)
		plan_note(&s->plan, "Kernel addresses are hidden from you (/proc/kallsyms, "
		                    "kernel.kptr_restrict): kernel functions have no names.");
	if (!status && s->plan.machine_wide) {
		status = proc_scan_all(&scan, err);
	} else if (!status) {
		targets_processes(&targets, &pids);
		status = proc_scan_pids(&scan, &pids, err);
		vec_done(&pids);
	}
	if (!status)
		status = write_encoded(s, err);
	return status ? status : perf_data_writer_flush(s->writer, err);
}

static int write_ring(void *ctx, const void *records, size_t bytes, struct error *err)
{
	struct session *s = ctx;

	keeper_scan(s->keeper, records, bytes);
	return perf_data_writer_append(s->writer, records, bytes, err);
}

/* For somebody who looks on, about once a second. */
static void show_progress(const struct session *s)
{
	struct session_progress progress = {.elapsed_ns =
	                                            clock_ns(CLOCK_MONOTONIC) - s->start.time_ns,
	                                    .bytes = perf_data_writer_bytes(s->writer)};

	if (s->options->progress)
		s->options->progress(s->options->ctx, &progress);
}

static int drain(struct session *s, bool last, struct error *err)
{
	int status;

	pace_drained(&s->pace);
	keeper_look(s->keeper, true);
	if (s->live)
		status = live_stacks_read(s->live, last, err);
	else
		status = perf_source_read(s->source, write_ring, s, err);
	keeper_drained(s->keeper);
	if (s->live && live_stacks_deep(s->live))
		pace_soon(&s->pace);
	if (status || s->live)
		return status;
	perf_record_finished_round(&s->encoded);
	return write_encoded(s, err);
}

static void read_signals(struct session *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			s->stop = true;
	if (s->child.pid && command_child_ended(&s->child))
		s->stop = true;
}

/* Sleeps until there is something to do; false: it was for the keeper, and is done. */
static bool wait_for_work(struct session *s, int patience_ms)
{
	struct pollfd watched[] = {
	        {.fd = perf_source_fd(s->source), .events = POLLIN},
	        {.fd = s->signals, .events = POLLIN},
	        {.fd = keeper_fd(s->keeper), .events = POLLIN},
	};
	int ms = pace_sleep_ms(&s->pace, patience_ms, s->options->progress != NULL);
	int rest_ms = keeper_rest_ms(s->keeper);
	bool rests = rest_ms >= 0 && rest_ms < ms;
	int woken = poll(watched, 3, rests ? rest_ms : ms);

	if (watched[2].revents || (rests && !woken))
		keeper_look(s->keeper, watched[2].revents);
	return watched[0].revents || watched[1].revents || (!rests && woken <= 0);
}

static int run(struct session *s, struct error *err)
{
	int status = 0, patience_ms = pace_begin(&s->pace, s->live != NULL);
	struct targets targets = targets_of(s);
	bool by_pid = !s->plan.machine_wide;

	while (!status && !s->stop && !(by_pid && targets_gone(&targets))) {
		if (!wait_for_work(s, patience_ms))
			continue;
		perf_source_acknowledge(s->source, &patience_ms);
		read_signals(s);
		s->recording.account.observer_wakeups++;
		status = drain(s, false, err);
		/* A full ring wakes us too; the file is made readable by the clock alone. */
		if (!status && pace_flush_due(&s->pace, s->start.time_ns))
			status = perf_data_writer_flush(s->writer, err);
		show_progress(s);
	}
	return status;
}

static int prepare(struct session *s, struct error *err)
{
	const struct session_options *o = s->options;
	int status = plan_make(&s->plan, o, err);

	if (!status)
		status = open_signals(s, err);
	if (!status && o->command)
		status = command_child_fork(&s->child, o->command, &s->old_mask, err);
	if (!status)
		status = open_source(s, err);
	if (!status)
		open_keeper(s);
	if (!status)
		status = open_writer(s, err);
	if (!status)
		account_describe(&s->recording, &s->plan, o);
	if (!status)
		status = perf_source_enable(s->source, true, err);
	return status ? status : tell_what_runs(s, err);
}

static int begin(struct session *s, struct session_result *result, struct error *err)
{
	int status;

	account_mark_take(&s->start);
	status = perf_source_enable(s->source, false, err);
	if (!status && s->child.pid) {
		status = command_child_start(&s->child, s->options->command[0], err);
		result->command_failed = status != 0;
	}
	if (status)
		return status;
	s->began = true;
	if (s->live)
		privileges_hurry();
	privileges_drop(s->live || s->keeper);
	return 0;
}

static int finish(struct session *s, struct error *err)
{
	struct perf_data_writer *writer = s->writer;
	int status;

	perf_source_disable(s->source);
	account_mark_take(&s->end);
	status = drain(s, true, err);
	if (status)
		return status;
	keeper_finish(s->keeper, &s->plan);
	account_close(&s->recording, &s->plan, s->source, &s->start, &s->end);
	jit_keep_finish(s->jit, &s->recording);
	if (s->live)
		live_stacks_account(s->live, &s->recording.account);
	s->recording.account.observer_bytes = perf_data_writer_bytes(writer);
	s->recording.account.exit_status = s->child.ended ? s->child.status : -1;
	s->writer = NULL;
	return perf_data_writer_close(writer, &s->recording, err);
}

static void fill_result(struct session *s, struct session_result *result)
{
	result->elapsed_ns = s->end.time_ns - s->start.time_ns;
	result->bytes = s->recording.account.observer_bytes;
	result->lost_records = s->recording.lost_records;
	result->observer_cpu_ns = s->recording.account.observer_cpu_ns;
	vec_each (note, &s->plan.notes)
		vec_push(&result->notes, xstrdup(*note));
}

static void close_session(struct session *s, struct session_result *result)
{
	result->command_goes_on = !command_child_end(&s->child);
	result->exit_status = s->child.pid && s->child.ended ? s->child.status : -1;
	live_stacks_free(s->live);
	keeper_close(s->keeper);
	jit_keep_free(s->jit);
	perf_source_close(s->source);
	if (s->began)
		perf_data_writer_abandon(s->writer);
	else
		perf_data_writer_discard(s->writer);
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
	struct session s = {.options = options, .signals = -1};
	int status;

	*result = (struct session_result){.exit_status = -1};
	recording_init(&s.recording);
	status = prepare(&s, err);
	if (!status)
		status = begin(&s, result, err);
	if (!status)
		status = run(&s, err);
	if (!status)
		status = finish(&s, err);
	if (!status)
		fill_result(&s, result);
	close_session(&s, result);
	return status;
}

void session_result_done(struct session_result *result)
{
	vec_each (note, &result->notes)
		free(*note);
	vec_done(&result->notes);
}

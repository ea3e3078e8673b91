/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session.h"

#include "base/memory/buf.h"
#include "base/clock.h"
#include "base/process/privileges.h"
#include "session/session_internal.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

void session_hold_signals(struct session *s, sigset_t *mask)
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

	session_hold_signals(s, &mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	s->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return error_set(err, errno, "signalfd: %s", strerror(errno));
	return 0;
}

int session_flush(struct session *s, struct error *err)
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

int session_write_encoded(struct session *s, struct error *err)
{
	int status = s->sink->ops->append(s->sink, s->encoded.data, s->encoded.size, err);

	buf_clear(&s->encoded);
	return status;
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
	if (image_keeper_look(s->keeper, true) && s->descriptors)
		wakeup_schedule_started(&s->pace);
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
		status = session_write_encoded(s, err);
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
	int rest_ms = s->stream ? record_stream_rest_ms(s->stream) : patience_ms;
	int ms = wakeup_schedule_sleep_ms(&s->pace, rest_ms < patience_ms ? rest_ms : patience_ms,
	                                  s->options->progress != NULL);

	return ms_until(end_due_ns(s), ms_until(s->look_due_ns, ms));
}

static void look_at_duration(struct session *s)
{
	uint64_t due_ns = end_due_ns(s);

	if (due_ns && clock_ns(CLOCK_MONOTONIC) >= due_ns)
		s->stop = s->over = true;
}

static void look_at_images(struct session *s, bool now)
{
	session_work_begin(s);
	if (image_keeper_look(s->keeper, now) && s->descriptors)
		wakeup_schedule_started(&s->pace);
	session_work_end(s);
}

/*
 * Sleeps until the rings should be read. False: other work was due, and is done. The kernel counts
 * the bytes that it wrote to a ring, not the unread bytes, so some wake-ups have no data.
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

	if (watched[2].revents || (rests && !woken))
		look_at_images(s, watched[2].revents);
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

/* Full rings wake the recorder too, but the file is flushed only by time. */
static int drain_and_flush(struct session *s, struct error *err)
{
	uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int status = session_drain(s, false, err);

	if (status || !wakeup_schedule_flush_due(&s->pace, s->start.time_ns))
		return status;
	status = session_flush(s, err);
	s->recording.account.flushes++;
	s->recording.account.flush_cpu_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
	return status;
}

/* A fork takes some 0.1 ms, or until the thread runs again if it is preempted. */
static const long fork_ns[] = {1000000, 4000000};
#define FORK_MOST_NS UINT64_C(2000000000)

static bool follows_running_threads(const struct session *s)
{
	return !s->plan.machine_wide && session_follows_pids(s->options);
}

/* Threads that began while their events were enabled. */
static void enable_threads(struct session *s)
{
	for (size_t i = 0; i < sizeof(fork_ns) / sizeof(*fork_ns); i++) {
		struct timespec rest = {.tv_nsec = fork_ns[i]};

		nanosleep(&rest, NULL);
		perf_source_enable_inherited(s->source);
	}
}

static int run(struct session *s, struct error *err)
{
	int status = 0;
	int patience_ms = wakeup_schedule_begin(&s->pace, s->plan.unwind || s->plan.waits,
	                                        s->sink->flush_ns, s->start.time_ns);
	struct targets targets = session_targets(s);

	s->pace.flush_ns = s->options->flush_ns;
	while (!status && !s->stop && !targets_gone(&targets)) {
		if (!wait_for_work(s, &patience_ms))
			continue;
		if (s->failed.code)
			break;
		read_signals(s);
		look_at_duration(s);
		s->recording.account.observer_wakeups++;
		if (follows_running_threads(s) &&
		    clock_ns(CLOCK_MONOTONIC) < s->start.time_ns + FORK_MOST_NS)
			perf_source_enable_inherited(s->source);
		s->read_soon = false;
		status = drain_and_flush(s, err);
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

static unsigned privileges_needed(const struct session *s)
{
	bool names = s->sink->names;
	bool writes = s->options->hooked && s->sink->ops->snapshot;

	return (s->plan.unwind || s->plan.waits || s->keeper || names ? PRIVILEGE_LOOK : 0) |
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
	if (!status && follows_running_threads(s))
		enable_threads(s);
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

static void command_account(const struct command_usage *used, struct account_command *to)
{
	*to = (struct account_command){
	        .wall_ns = used->wall_ns,
	        .user_ns = used->user_ns,
	        .system_ns = used->system_ns,
	        .rss_bytes = used->rss_bytes,
	        .minor_faults = used->minor_faults,
	        .major_faults = used->major_faults,
	        .voluntary_switches = used->voluntary_switches,
	        .involuntary_switches = used->involuntary_switches,
	};
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
	descriptor_keeper_account(s->descriptors, &s->recording.account);
	fault_keeper_account(s->faults, &s->recording.account);
	label_keeper_account(s->labels, &s->recording.account);
	session_foreign_account(s, &s->recording.account);
	if (s->stream)
		record_stream_account(s->stream, &s->recording.account);
	s->recording.account.observer_bytes = sink->ops->bytes(sink);
	s->recording.account.flush_asked_ns = s->options->flush_ns;
	/* With -p the command was not recorded. */
	s->recording.account.exit_status =
	        s->child.ended && !session_follows_pids(s->options) ? s->child.status : -1;
	if (s->recording.account.exit_status >= 0)
		command_account(&s->child.usage, &s->recording.account.command);
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
	result->interrupted = s->interrupted;
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
	descriptor_keeper_free(s->descriptors);
	fault_keeper_free(s->faults);
	label_keeper_free(s->labels);
	perf_source_close(s->source);
	if (s->sink)
		s->sink->ops->abandon(s->sink, s->began);
	session_foreign_close(s);
	plan_done(&s->plan);
	recording_done(&s->recording);
	account_mark_done(&s->start);
	account_mark_done(&s->end);
	vec_done(&s->tasks);
	vec_done(&s->children);
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
	status = session_prepare(&s, err);
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

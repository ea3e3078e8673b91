/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/background.h"

#include "base/clock.h"
#include "base/file/file_in_use.h"
#include "base/memory/xalloc.h"
#include "session/daemon/control.h"
#include "session/sinks/flight_recorder.h"
#include "session/session.h"
#include "session/sink.h"
#include "session/sinks/snapshot_name.h"
#include "session/targets.h"
#include "session/daemon/trigger.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_MAX 100 /* maximum number of notes; further notes are only counted */

struct background {
	const struct background_options *o;
	struct session *session; /* NULL: before the start and after the end */
	struct control *control;
	struct session_account account; /* the last known state */
	struct snapshot_names names;
	VEC(char *) notes; /* of this file; the account also has those of the session */
	uint64_t begun_ns, more_notes;
	uint64_t deleted; /* number of deleted snapshots */
	char *deleted_last;
	struct error failed;            /* an error outside of the session */
	const struct trigger_rule *due; /* the rule that a process event made true */
	bool stop_asked;
	bool snapshot_waits; /* for the end of a read */
};

/* ---- the account --------------------------------------------------------- */

static void add_cpus(struct session_account *a, const struct session_status *s)
{
	a->cpus.count = 0;
	vec_each (c, &s->cpus)
		vec_push(&a->cpus,
		         (struct session_account_cpu){
		                 .cpu = c->cpu,
		                 .ring_bytes = c->ring_bytes,
		                 .ring_used = c->ring_used,
		                 .ring_used_max = c->ring_used_max,
		                 .ring_used_average =
		                         c->ring_reads ? c->ring_used_sum / c->ring_reads : 0,
		                 .lost_records = c->lost,
		         });
}

static void account_update(struct session_account *a, const struct session_status *s)
{
	a->started_wall_ns = s->start_wall_ns;
	a->now_wall_ns = s->now_wall_ns;
	a->elapsed_ns = s->now_ns - s->start_ns;
	a->ticks_known = s->ticks_known;
	a->machine_wide = s->machine_wide;
	a->ticks_user = s->ticks_user;
	a->ticks_system = s->ticks_system;
	a->ticks_idle = s->ticks_idle;
	a->ticks_unobserved = s->ticks_unobserved;
	a->samples = s->samples;
	a->records = s->records;
	a->bytes = s->bytes;
	a->lost_records = s->lost_records;
	a->observer_cpu_ns = s->observer_cpu_ns;
	a->observer_wakeups = s->observer_wakeups;
	a->read_gap_max_ns = s->read_gap_max_ns;
	a->period_ns = s->period_ns;
	a->period_asked_ns = s->period_asked_ns;
	a->sample_cost_ns = s->sample_cost_ns;
	add_cpus(a, s);
}

static void look_at_ring(struct background *b)
{
	struct flight_recorder_state state;

	flight_recorder_state(b->o->session->sink, &state);
	/* Records of earlier processes are older than the first sample. */
	b->account.held_ns = state.last_ns - state.first_ns;
	if (b->account.held_ns > b->account.elapsed_ns)
		b->account.held_ns = b->account.elapsed_ns;
	b->account.held_most = state.bytes_max;
	b->account.left_samples = state.left_samples;
}

static void look_at_rules(struct background *b)
{
	struct session_account *a = &b->account;
	size_t count = b->o->trigger ? trigger_count(b->o->trigger) : 0;

	session_account_rules_done(a);
	for (size_t i = 0; i < count; i++) {
		const struct trigger_rule *r = trigger_at(b->o->trigger, i);

		vec_push(&a->rules,
		         (struct session_account_rule){
		                 .text = xstrdup(r->text),
		                 .known = r->known,
		                 .holds = r->holds,
		                 .value_milli = r->value > 0 ? (uint64_t)(r->value * 1e3) : 0,
		                 .fired = r->fired,
		                 .held_back = r->held_back,
		                 .fired_wall_ns = r->fired_wall_ns,
		         });
	}
}

static bool has_note(const struct session_account *a, const char *text)
{
	vec_each (note, &a->notes)
		if (!strcmp(*note, text))
			return true;
	return false;
}

/* One note for all deleted snapshots. */
static char *deleted_note(const struct background *b)
{
	if (b->deleted == 1)
		return xasprintf(
		        "the snapshot %s was deleted: the newest %u are kept (--snapshots)",
		        b->deleted_last, b->names.most);
	return xasprintf("%" PRIu64 " snapshots were deleted, the last was %s: the newest %u are "
	                 "kept (--snapshots)",
	                 b->deleted, b->deleted_last, b->names.most);
}

/* Collects the notes: those of the session, and those of this file. */
static void tell_notes(struct background *b, char *const *texts, size_t count)
{
	struct session_account *a = &b->account;

	vec_each (text, &a->notes)
		free(*text);
	a->notes.count = 0;
	for (size_t i = 0; i < count; i++)
		if (!has_note(a, texts[i]))
			vec_push(&a->notes, xstrdup(texts[i]));
	vec_each (text, &b->notes)
		vec_push(&a->notes, xstrdup(*text));
	if (b->deleted)
		vec_push(&a->notes, deleted_note(b));
	if (b->more_notes)
		vec_push(&a->notes,
		         xasprintf("%" PRIu64 " earlier notes were discarded.", b->more_notes));
	/* A session with a store ends at its next window. */
	if (b->session && b->o->kind == SESSION_FILE && session_output_is_gone(b->session))
		vec_push(&a->notes,
		         xasprintf(
		                 "%s was moved, deleted or replaced: the recording is no longer at "
		                 "that path; 'assay snapshot -o FILE' saves it",
		                 a->output));
}

static void look_at_session(struct background *b)
{
	struct session_status status = {0};
	char *const *notes;
	size_t count;

	notes = session_notes(b->session, &count);
	tell_notes(b, notes, count);
	session_status_take(b->session, &status);
	account_update(&b->account, &status);
	if (b->o->kind == SESSION_RING)
		look_at_ring(b);
	if (b->o->delivery)
		b->o->delivery(b->o->ctx, &b->account);
	look_at_rules(b);
	session_status_done(&status);
}

/* Adds a note; the oldest notes are discarded, since new problems are more important. */
static void note(struct background *b, char *text)
{
	if (b->notes.count == NOTES_MAX) {
		free(b->notes.items[0]);
		memmove(b->notes.items, b->notes.items + 1,
		        (NOTES_MAX - 1) * sizeof(*b->notes.items));
		b->notes.count--;
		b->more_notes++;
	}
	vec_push(&b->notes, text);
}

/* A deep copy, which the receiver owns. */
static void account_copy(struct session_account *to, const struct session_account *from)
{
	*to = *from;
	to->name = from->name ? xstrdup(from->name) : NULL;
	to->what = from->what ? xstrdup(from->what) : NULL;
	to->output = from->output ? xstrdup(from->output) : NULL;
	to->error = from->error ? xstrdup(from->error) : NULL;
	to->snapshot = from->snapshot ? xstrdup(from->snapshot) : NULL;
	to->unfinished = from->unfinished ? xstrdup(from->unfinished) : NULL;
	to->spool = from->spool ? xstrdup(from->spool) : NULL;
	to->send_error = from->send_error ? xstrdup(from->send_error) : NULL;
	memset(&to->cpus, 0, sizeof(to->cpus));
	memset(&to->rules, 0, sizeof(to->rules));
	memset(&to->notes, 0, sizeof(to->notes));
	vec_each (cpu, &from->cpus)
		vec_push(&to->cpus, *cpu);
	vec_each (rule, &from->rules) {
		vec_push(&to->rules, *rule);
		to->rules.items[to->rules.count - 1].text = xstrdup(rule->text);
	}
	vec_each (text, &from->notes)
		vec_push(&to->notes, xstrdup(*text));
}

/* ---- snapshots ----------------------------------------------------------- */

/* Between two snapshots: announces the snapshot that a flight recorder writes at its end. */
static void rest(const struct background *b)
{
	session_claim_writing(b->o->claim, b->o->kind == SESSION_RING ? b->account.output : NULL);
}

static int write_snapshot(struct background *b, const char *path, struct error *err)
{
	int rc;

	session_claim_writing(b->o->claim, path);
	rc = session_snapshot(b->session, path, err);
	rest(b);
	return rc;
}

static int take_snapshot(struct background *b, const char *path, struct error *err)
{
	int64_t now_s = (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000000);
	char *name = path ? xstrdup(path) : NULL, *gone = NULL;
	int rc = 0;

	if (path && b->o->kind != SESSION_RING && file_in_use_same(path, b->account.output))
		rc = error_set(err, EEXIST, "%s is what the session itself writes; name another",
		               path);
	if (!name)
		rc = snapshot_names_next(&b->names, now_s, &name, err);
	if (!rc)
		rc = write_snapshot(b, name, err);
	if (rc) {
		free(name);
		return rc;
	}
	if (!path)
		snapshot_names_made(&b->names, name, &gone);
	if (gone) {
		b->deleted++;
		free(b->deleted_last);
		b->deleted_last = gone;
	}
	free(b->account.snapshot);
	b->account.snapshot = name;
	b->account.snapshots++;
	return 0;
}

/* No client waits for the result, so a note reports it. */
static void snapshot_unasked(struct background *b, const char *why)
{
	struct error err = {0};

	if (take_snapshot(b, NULL, &err))
		note(b, xasprintf("%s: no snapshot could be written: %s", why, err.text));
	else
		note(b, xasprintf("%s: snapshot %s", why, b->account.snapshot));
}

/* ---- hooks --------------------------------------------------------------- */

static void hook_begun(void *ctx, struct session *s)
{
	struct background *b = ctx;
	struct error err = {0};

	b->session = s;
	b->begun_ns = clock_ns(CLOCK_MONOTONIC);
	b->account.state = SESSION_RUNNING;
	look_at_session(b);
	if (b->o->session->machine_wide && !b->account.machine_wide) {
		free(b->account.what);
		b->account.what = xstrdup(b->o->what_less);
	}
	if (session_claim_tell(b->o->claim, &b->account, &err))
		note(b, xstrdup(err.text));
	rest(b);
	/* The starting process is gone, so no process would know the session. */
	if (b->o->begun && b->o->begun(b->o->ctx, &b->account))
		session_stop(s);
}

static void hook_serve(void *ctx, struct session *s)
{
	control_serve(((struct background *)ctx)->control);
}

static void rule_fires(struct background *b, const struct trigger_rule *rule)
{
	char *why = rule ? xasprintf("%s held", rule->text) : NULL;

	if (why)
		snapshot_unasked(b, why);
	free(why);
}

static void hook_look(void *ctx, struct session *s)
{
	struct background *b = ctx;

	rule_fires(b, b->due);
	b->due = NULL;
	rule_fires(b, trigger_look(b->o->trigger, clock_ns(CLOCK_MONOTONIC),
	                           clock_ns(CLOCK_REALTIME)));
}

/* The rings are being read. A snapshot reads them too, so it waits for the next check. */
static void hook_task(void *ctx, struct session *s, const struct event *e)
{
	struct background *b = ctx;
	const struct trigger_rule *rule =
	        trigger_task(b->o->trigger, e, clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME));

	if (rule)
		b->due = rule;
}

static void hook_signalled(void *ctx, struct session *s)
{
	snapshot_unasked(ctx, "a signal came");
}

/* ---- requests ------------------------------------------------------------ */

/*
 * The status of an idle session has counts of now: the rings are read first. If the read takes
 * long, the request is repeated in a pause of the read and answered with the counts so far.
 * Requests that change the session wait for the end of the read.
 */
static bool is_early(const struct background *b, const struct control_request *request)
{
	if (session_is_busy(b->session))
		return request->verb != CONTROL_STATUS;
	return request->verb == CONTROL_STATUS && !request->again;
}

static enum control_answer hear(void *ctx, const struct control_request *request,
                                struct control_reply *reply)
{
	struct background *b = ctx;
	struct error err = {0};
	int rc = 0;

	/* Before the start and after the end, requests are answered with the last account. */
	if (!b->session)
		return CONTROL_AT_END;
	if (request->verb == CONTROL_STOP) {
		/* A snapshot that was requested before comes first. */
		if (b->snapshot_waits && session_is_busy(b->session))
			return CONTROL_LATER;
		b->stop_asked = true;
		session_stop(b->session);
		return CONTROL_AT_END;
	}
	if (is_early(b, request)) {
		session_read_soon(b->session);
		b->snapshot_waits |= request->verb == CONTROL_SNAPSHOT;
		return CONTROL_LATER;
	}
	if (request->verb == CONTROL_RELEASE)
		session_release_files(b->session);
	if (request->verb == CONTROL_SNAPSHOT) {
		b->snapshot_waits = false;
		rc = take_snapshot(b, request->output, &err);
	}
	look_at_session(b);
	reply->code = (uint64_t)-rc;
	reply->error = rc ? xstrdup(err.text) : NULL;
	account_copy(&reply->account, &b->account);
	return CONTROL_NOW;
}

/* ---- course -------------------------------------------------------------- */

static void begin_account(struct background *b)
{
	const struct background_options *o = b->o;

	b->account = (struct session_account){
	        .name = xstrdup(o->claim->name),
	        .what = xstrdup(o->what),
	        .output = xstrdup(o->session->output),
	        .kind = o->kind,
	        .pid = (uint64_t)getpid(),
	        .started_wall_ns = clock_ns(CLOCK_REALTIME),
	};
}

static enum session_end why_ended(const struct background *b, int status,
                                  const struct session_result *result)
{
	const struct targets targets = {.pids = b->o->session->pids};

	if (status)
		return SESSION_END_ERROR;
	if (b->stop_asked)
		return SESSION_END_STOPPED;
	if (result->duration_over)
		return SESSION_END_DURATION;
	if (!b->o->session->machine_wide && targets_gone(&targets))
		return SESSION_END_TARGETS;
	return SESSION_END_SIGNAL;
}

static void end_account(struct background *b, int status, const struct session_result *result,
                        const struct error *err)
{
	struct session_account *a = &b->account;
	struct stat file;

	if (result->status.start_ns)
		account_update(a, &result->status);
	look_at_rules(b);
	a->held_ns = a->held_most = a->left_samples = 0;
	a->state = SESSION_ENDED;
	a->end = why_ended(b, status, result);
	a->now_wall_ns = clock_ns(CLOCK_REALTIME);
	a->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - b->begun_ns;
	if (status) {
		a->error = xstrdup(err->text);
		/*
		 * The contents of a flight recorder are in its file only if the file was written
		 * since the start.
		 */
		if (stat(a->output, &file) ||
		    (a->kind == SESSION_RING &&
		     (err->code == EBUSY || err->code == EEXIST || /* a file of another process */
		      (uint64_t)file.st_mtime < a->started_wall_ns / 1000000000)))
			a->bytes = 0;
	} else {
		a->elapsed_ns = result->elapsed_ns;
		a->bytes = result->bytes;
		/* After closing, the size does not include the WAL. */
		if (a->kind == SESSION_STORE && !stat(a->output, &file))
			a->bytes = (uint64_t)file.st_size;
		a->lost_records = result->lost_records;
		a->observer_cpu_ns = result->observer_cpu_ns;
	}
	tell_notes(b, result->notes.items, result->notes.count);
	if (b->o->delivery)
		b->o->delivery(b->o->ctx, a);
}

/*
 * The last account is written to a file before the reply is sent. A client that receives the reply
 * deletes the file; otherwise the next command reads it. The name is free before connections end.
 */
static void tell_end(struct background *b)
{
	struct control_reply last = {.account = b->account}; /* borrowed */
	bool quiet = b->o->watched && b->account.end != SESSION_END_ERROR;
	bool awaited = control_is_awaited(b->control), left = true;
	struct error err = {0};

	if (!quiet || awaited)
		left = !session_claim_leave(b->o->claim, &b->account, &err);
	control_end(b->control, &last);
	/*
	 * Without a written account and without a client, the session is reported as killed rather
	 * than forgotten.
	 */
	if (!left && !awaited)
		session_claim_pass(b->o->claim);
	else
		session_claim_release(b->o->claim);
}

static int record(struct background *b, struct error *err)
{
	struct session_options options = *b->o->session;
	struct session_result result = {0};
	int status;

	options.hooked = true;
	options.hooks = (struct session_hooks){
	        .ctx = b,
	        .begun = hook_begun,
	        .fd = control_fd(b->control),
	        .serve = hook_serve,
	        .task = b->o->trigger ? hook_task : NULL,
	        .look = b->o->trigger ? hook_look : NULL,
	        .look_ms = b->o->trigger ? TRIGGER_LOOK_MS : 0,
	        .signalled = hook_signalled,
	};
	status = session_record(&options, &result, err);
	b->session = NULL;
	if (b->begun_ns) {
		end_account(b, status, &result, err);
		tell_end(b);
	}
	session_result_done(&result);
	return status;
}

int background_run(const struct background_options *o, struct error *err)
{
	struct background b = {.o = o};
	int status;

	begin_account(&b);
	snapshot_names_init(&b.names, o->session->output, o->snapshots_max);
	status = control_open(&b.control, o->claim->place, o->claim->name, hear, &b, err);
	if (status)
		o->session->sink->ops->abandon(o->session->sink, false);
	if (!status)
		status = record(&b, err);
	control_close(b.control);
	session_claim_release(o->claim);
	snapshot_names_done(&b.names);
	vec_each (text, &b.notes)
		free(*text);
	vec_done(&b.notes);
	free(b.deleted_last);
	session_account_done(&b.account);
	return status;
}

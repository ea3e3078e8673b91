/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/start_session.h"

#include "base/file/file_in_use.h"
#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "cmd/session/session_command.h"
#include "store/store.h"
#include "session/daemon/background.h"
#include "cmd/cli/output_file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static int is_running(const struct start *s, const struct session_account *a)
{
	const char *name = s->name;
	bool other = strcmp(name, SESSION_NAME_DEFAULT) != 0;
	struct buf since = {0};
	int status;

	if (!a->pid)
		return command_fail(1, "%s: a session '%s' is just starting", s->command, name);
	text_date(&since, a->started_wall_ns);
	status = command_fail(1,
	                      "%s: a session '%s' is running since %s, as process %" PRIu64
	                      ", into %s; end it with 'assay stop%s%s', or choose another "
	                      "name with --name",
	                      s->command, name, buf_text(&since), a->pid,
	                      a->output ? a->output : "?", other ? " --name " : "",
	                      other ? name : "");
	buf_done(&since);
	return status;
}

/* True if the recording that was just reported will be renamed. */
static bool will_move(const struct start *s, const struct session_account *earlier)
{
	return s->sink.kind == SESSION_FILE && earlier->output &&
	       !strcmp(earlier->output, s->sink.output) && !access(earlier->output, F_OK);
}

/* Reports an earlier session of that name, and removes its files. */
static int look_for_earlier(struct start *s)
{
	enum session_presence presence = SESSION_IS_NOT;
	struct session_account a;
	struct error err = {0};
	int status = 0;

	if (session_registry_look(&s->place, s->name, &presence, &a, &err))
		status = command_fail(1, "%s: %s", s->command, err.text);
	else if (presence == SESSION_RUNS)
		status = is_running(s, &a);
	else if (presence == SESSION_WAS_KILLED)
		session_command_tell_killed(&a);
	else if (presence == SESSION_HAS_ENDED) {
		session_command_tell_ended(&a);
		session_registry_forget(&s->place, &a);
	}
	s->moves_earlier = !status && presence != SESSION_IS_NOT && will_move(s, &a);
	session_account_done(&a);
	return status;
}

static int look_at_other(struct start *s, const char *name)
{
	enum session_presence presence = SESSION_IS_NOT;
	struct session_account a;
	int status = 0;

	if (session_registry_look(&s->place, name, &presence, &a, NULL))
		presence = SESSION_IS_NOT; /* the next request reports it */
	if (presence == SESSION_WAS_KILLED)
		session_command_tell_killed(&a);
	else if (presence == SESSION_RUNS && a.output && file_in_use_same(a.output, s->sink.output))
		status = command_fail(
		        1, "%s: the session '%s' writes %s; name another file with %s", s->command,
		        name, a.output, s->sink.kind == SESSION_STORE ? "--store" : "-o");
	session_account_done(&a);
	return status;
}

/* Checks that no other session writes the same file. */
static int look_at_others(struct start *s)
{
	session_names names = {0};
	struct error err = {0};
	int status = 0;

	if (session_registry_names(&s->place, &names, &err))
		status = command_fail(1, "%s: %s", s->command, err.text);
	vec_each (name, &names) {
		if (!status && strcmp(*name, s->name) != 0)
			status = look_at_other(s, *name);
		free(*name);
	}
	vec_done(&names);
	return status;
}

int start_prepare(struct start *s)
{
	const struct start_options *o = s->o;
	struct session_options less;
	struct error err = {0};
	int status = session_command_name(s->command, &o->name, &s->name);

	if (!status)
		status = record_options_use(&o->record, s->command, NULL, &s->session, &s->pids);
	if (!status)
		status = start_sink_plan(&o->sink, &s->sink);
	if (!status && o->record.flush && s->sink.kind != SESSION_FILE)
		status = command_fail(2,
		                      "%s: --flush is for a file, not for --ring, --store and --to",
		                      s->command);
	if (status)
		return status;
	s->session.output = s->sink.output;
	if (s->sink.kind == SESSION_STORE || s->sink.kind == SESSION_PUSH) {
		s->session.all_cgroups = true;
		s->session.labels = !o->record.no_labels;
		if (!s->session.frequency_asked && !s->session.period)
			s->session.frequency_hz = START_STORE_HZ;
	}
	record_options_tell(&s->session, &s->what);
	less = s->session;
	less.machine_wide = false;
	record_options_tell(&less, &s->what_less);
	if (session_registry_open(&s->place, true, &err))
		return command_fail(1, "%s: %s", s->command, err.text);
	status = look_for_earlier(s);
	if (!status)
		status = look_at_others(s);
	/* An unusable output is reported now rather than at the end. */
	if (!status && s->sink.kind != SESSION_PUSH && !store_is_remote(s->sink.output) &&
	    output_file_check(s->sink.output,
	                      s->sink.kind == SESSION_STORE ? FILE_STORE : FILE_PERF_DATA, &err))
		status = command_fail(1, "%s: %s", s->command, err.text);
	if (!status && session_registry_claim(&s->place, s->name, &s->claim, &err))
		status = command_fail(1, "%s: %s", s->command, err.text);
	return status;
}

/* ---- the process that samples -------------------------------------------- */

static void delivery(void *ctx, struct session_account *a)
{
	struct start *s = ctx;

	if (s->note && *s->note)
		vec_push(&a->notes, xstrndup(s->note, strnlen(s->note, START_NOTE_BYTES - 1)));
	start_sink_delivery(&s->sink, a);
}

int start_sample(struct start *s, background_begun_fn *begun, struct error *err)
{
	struct background_options b = {
	        .delivery = delivery,
	        .session = &s->session,
	        .claim = &s->claim,
	        .what = buf_text(&s->what),
	        .what_less = buf_text(&s->what_less),
	        .kind = s->sink.kind,
	        .trigger = s->sink.trigger,
	        .snapshots_max = s->sink.snapshots,
	        .watched = !begun || s->watched,
	        .begun = begun,
	        .ctx = s,
	};
	int rc = start_sink_make(&s->sink, s->session.waits, &s->session.sink, err);

	if (!rc)
		rc = background_run(&b, err);
	session_claim_release(&s->claim);
	return rc;
}

void start_done(struct start *s)
{
	session_claim_pass(&s->claim);
	session_registry_close(&s->place);
	start_sink_done(&s->sink);
	vec_done(&s->pids);
	buf_done(&s->what);
	buf_done(&s->what_less);
}

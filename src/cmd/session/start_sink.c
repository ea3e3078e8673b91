/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/start_sink.h"

#include "base/text/plural.h"
#include "cmd/cli/amount.h"
#include "cmd/session/session_command.h"
#include "cmd/session/store_names.h"
#include "cmd/session/store_wait_rows.h"
#include "session/sinks/file_sink.h"
#include "session/sinks/flight_recorder.h"
#include "source/perf/perf_ring_size.h"
#include "session/sinks/snapshot_name.h"
#include "session/sinks/store_sink.h"
#include "session/daemon/trigger.h"
#include "push/push_sink.h"
#include "store/store_path.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SNAPSHOTS_MOST 10000
#define SNAPSHOTS_NOT_SAID UINT64_MAX
#define WINDOW_S_MOST 3600

#define AT(field) offsetof(struct start_sink_options, field)

const struct option start_store_table[] = {
        {OPTION_STRING, 0, "store", "FILE.db",
         "a store: a summary of every window, for any length of time, in an SQLite file",
         .details = "The store is created, or continued if it exists. For root, FILE without a "
                    "slash is in /var/lib/assay. A directory that other users may "
                    "write to is refused. The default rate is 97 Hz.",
         .offset = AT(store)},
        {.kind = OPTION_END},
};

const struct option start_to_table[] = {
        {OPTION_STRING, 0, "to", "ADDRESS",
         "send each window to a back end: otlp+http://HOST:4318, pyroscope+http://HOST:4040",
         .details = "Also pyroscope-ingest+http://HOST:4040, each with https in place of http for "
                    "TLS, and pprof-dir:DIR for files of pprof in a directory. Samples of idle "
                    "CPUs are not sent. While the back end is away, batches wait in a spool on the "
                    "disk, and are sent later. The default rate is 97 Hz.",
         .offset = AT(to)},
        {OPTION_STRING, 0, "spool", "DIR",
         "the directory for what waits to be sent to --to, or to a store on a server",
         .details = "Default: /var/lib/assay/spool for root, else ~/.local/state/assay/spool; for "
                    "stores /var/lib/assay or ~/.cache/assay/spool.",
         .offset = AT(spool)},
        {OPTION_NUMBER, 0, "spool-size", "MB",
         "size limit of the spool: the oldest data is dropped and counted (default 1000)",
         .details = "For stores on a server old windows are merged first.", .offset = AT(spool_mb)},
        {.kind = OPTION_END},
};

const struct option start_window_table[] = {
        {OPTION_NUMBER, 0, "window", "SECONDS",
         "length of a window of the store or of --to (default 10)", .offset = AT(window_s)},
        {.kind = OPTION_END},
};

const struct option start_sink_option_table[] = {
        {.kind = OPTION_GROUP, .help = "Output"},
        {OPTION_STRING, 'o', "output", "FILE",
         "the output file (default perf.data; an older one becomes FILE.old)",
         .details = "With --ring, the file that is written at the end. Snapshots without a name "
                    "have this name with date and time appended.",
         .offset = AT(output)},
        {OPTION_STRING, 0, "ring", "[SIZE|TIME]",
         "flight recorder: keep only the last 64M, 2G, 10min, ... in memory",
         .details = "Nothing is written until a snapshot is requested ('assay snapshot', the "
                    "signal SIGUSR2, --when), or the session ends. Default: 64 MB; with a "
                    "time at most 256 MB.",
         .offset = AT(ring)},
        {OPTION_EACH, 0, "when", "RULE",
         "write a snapshot when this becomes true: 'load>4', 'process=NAME', ...",
         .details = "Quantities: load, runq, cpu (percent), mem (percent available), "
                    "cpu.some, mem.some, mem.full, io.some and io.full (pressure), with < or > and "
                    "a number; a rule that is true from the start writes none. "
                    "process=NAME: a program of that name starts; exit=NAME: it exits. A rule "
                    "writes at most one snapshot per minute.",
         .offset = AT(when)},
        {OPTION_COUNT, 0, "snapshots", "N",
         "keep the newest N snapshots without a name (default 10)", .offset = AT(snapshots)},
        {.kind = OPTION_INCLUDE, .include = start_store_table},
        {.kind = OPTION_INCLUDE, .include = start_to_table},
        {.kind = OPTION_INCLUDE, .include = start_window_table},
        {OPTION_STRING, 0, "keep", "TIME",
         "delete older data from the store: 12h, 30d, 1y (default 1y)", .offset = AT(keep)},
        {OPTION_NUMBER, 0, "keep-size", "MB",
         "size limit of the store: old windows are merged, then the oldest deleted "
         "(default 4000; a year of an idle server needs about 350)",
         .offset = AT(keep_mb)},
        {.kind = OPTION_INCLUDE, .include = push_option_table, .offset = AT(push)},
        {.kind = OPTION_END},
};

void start_sink_default(struct start_sink_options *o)
{
	o->command = "start";
	o->window_s = o->keep_mb = o->spool_mb = NAN; /* not given */
	o->snapshots = SNAPSHOTS_NOT_SAID;
}

bool start_sink_is_ring(const char *text)
{
	uint64_t amount;

	return amount_bytes(text, &amount) || amount_ns(text, &amount);
}

/* Memory is allocated while the buffer fills, so a size that is too large must be refused now. */
static int check_room(const struct start_sink_options *o, uint64_t bytes)
{
	uint64_t most = perf_ring_size_machine();

	if (bytes <= most)
		return 0;
	return command_fail(2, "%s: --ring=%s: this machine has %" PRIu64 " MB of memory",
	                    o->command, o->ring, most / 1000000);
}

static int plan_ring(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	plan->kind = SESSION_RING;
	if (!*o->ring || amount_bytes(o->ring, &plan->ring_bytes))
		return check_room(o, plan->ring_bytes);
	if (!amount_ns(o->ring, &plan->ring_span_ns))
		return command_fail(
		        2, "%s: --ring needs a size or a time, such as 64M or 10min, not '%s'",
		        o->command, o->ring);
	plan->ring_bytes = RING_SINK_SPAN_BYTES;
	return 0;
}

static int plan_window(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	if (!isnan(o->window_s) && !(o->window_s >= 1 && o->window_s <= WINDOW_S_MOST))
		return command_fail(2, "%s: --window must be from 1 to %d seconds", o->command,
		                    WINDOW_S_MOST);
	plan->window_ns = isnan(o->window_s) ? 0 : (uint64_t)(o->window_s * 1e9);
	return 0;
}

static int plan_store(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	plan->kind = SESSION_STORE;
	if (o->output)
		return command_fail(2, "%s: --store names the file, so -o is not allowed",
		                    o->command);
	if (o->ring)
		return command_fail(2, "%s: --store and --ring exclude each other", o->command);
	if (o->when.count || o->snapshots != SNAPSHOTS_NOT_SAID)
		return command_fail(2,
		                    "%s: --when and --snapshots are not for --store, which "
		                    "can be read at any time",
		                    o->command);
	if (o->keep && !amount_ns(o->keep, &plan->keeping.all_ns))
		return command_fail(2, "%s: --keep needs a time, such as 12h, 30d or 1y, not '%s'",
		                    o->command, o->keep);
	if (!isnan(o->keep_mb) && !(o->keep_mb >= 1 && o->keep_mb <= 1e9))
		return command_fail(2, "%s: --keep-size needs a number of MB", o->command);
	plan->keeping.bytes = isnan(o->keep_mb) ? 0 : (uint64_t)(o->keep_mb * 1e6);
	return 0;
}

/* $XDG_STATE_HOME/assay/spool; for root beside the stores. */
static char *default_spool(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (!getuid())
		return xstrdup("/var/lib/assay/spool");
	if (state && *state == '/')
		return xasprintf("%s/assay/spool", state);
	return home && *home == '/' ? xasprintf("%s/.local/state/assay/spool", home) : NULL;
}

/* Paths are made absolute, since a session in the background changes its directory. */
static int plan_paths(const struct start_sink_options *o, struct start_sink_plan *plan,
                      struct error *err)
{
	char *path = NULL;
	int ret = 0;

	plan->push = o->push;
	plan->push.token_file = plan->push.ca_file = NULL;
	if (o->push.token_file)
		ret = session_command_absolute(o->push.token_file, (char **)&plan->push.token_file,
		                               err);
	if (!ret && o->push.ca_file)
		ret = session_command_absolute(o->push.ca_file, (char **)&plan->push.ca_file, err);
	if (!ret && plan->target.directory) {
		ret = session_command_absolute(plan->target.directory, &path, err);
		free(plan->target.directory);
		plan->target.directory = path;
	}
	if (ret)
		return ret;
	if (o->spool)
		return session_command_absolute(o->spool, &plan->spool, err);
	if (o->store)
		return 0;
	plan->spool = default_spool();
	return plan->spool ? 0
	                   : error_set(err, ENOENT,
	                               "there is no home directory: name a directory "
	                               "with --spool");
}

static int plan_spool(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	if (!isnan(o->spool_mb) && !(o->spool_mb >= 0.01 && o->spool_mb <= 1e9))
		return command_fail(2, "%s: --spool-size needs a number of MB", o->command);
	plan->spool_bytes = isnan(o->spool_mb) ? SEND_SPOOL_BYTES : (uint64_t)(o->spool_mb * 1e6);
	return 0;
}

static int plan_push(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	struct error err = {0};

	plan->kind = SESSION_PUSH;
	if (o->store || o->output || o->ring || o->when.count ||
	    o->snapshots != SNAPSHOTS_NOT_SAID || o->keep || !isnan(o->keep_mb))
		return command_fail(2,
		                    "%s: --to excludes --store, --keep, --keep-size, --ring, "
		                    "--when, --snapshots and -o",
		                    o->command);
	if (plan_spool(o, plan))
		return 2;
	if (push_target_parse(o->to, &plan->target, &err) ||
	    push_options_check(&o->push, &plan->target, &err) || plan_paths(o, plan, &err))
		return command_fail(2, "%s: %s", o->command, err.text);
	return plan_window(o, plan);
}

/* A store on a server. */
static int plan_server(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	struct error err = {0};

	if (o->push.service)
		return command_fail(2, "%s: --service is for --to only", o->command);
	if (plan_spool(o, plan))
		return 2;
	if (push_options_check(&o->push, &plan->target, &err) || plan_paths(o, plan, &err))
		return command_fail(2, "%s: %s", o->command, err.text);
	plan->server = (struct store_server){.token_file = plan->push.token_file,
	                                     .ca_file = plan->push.ca_file,
	                                     .spool = plan->spool,
	                                     .spool_bytes = plan->spool_bytes,
	                                     .away = o->away};
	return 0;
}

static int plan_kind(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	struct error err = {0};

	if (o->to)
		return plan_push(o, plan);
	if (o->store && store_is_remote(o->store))
		return plan_window(o, plan) || plan_server(o, plan) ? 2 : plan_store(o, plan);
	if (o->spool || !isnan(o->spool_mb) || push_options_given(&o->push))
		return command_fail(
		        2,
		        "%s: %s is for what is sent: give --to ADDRESS, or a store on a "
		        "server (--store clickhouse://HOST/DATABASE), too",
		        o->command,
		        o->spool              ? "--spool"
		        : !isnan(o->spool_mb) ? "--spool-size"
		                              : push_options_given(&o->push));
	if (o->store)
		return plan_window(o, plan) ? 2 : plan_store(o, plan);
	if (o->keep || !isnan(o->window_s) || !isnan(o->keep_mb))
		return command_fail(
		        2,
		        "%s: --keep and --keep-size are for --store only, --window for --store "
		        "and --to",
		        o->command);
	if (o->snapshots != SNAPSHOTS_NOT_SAID) {
		if (!o->snapshots || o->snapshots > SNAPSHOTS_MOST)
			return command_fail(2, "%s: --snapshots must be from 1 to %d", o->command,
			                    SNAPSHOTS_MOST);
		plan->snapshots = (unsigned)o->snapshots;
	}
	if (o->when.count && trigger_new(&plan->trigger, o->when.items, o->when.count, NULL, &err))
		return command_fail(2, "%s: --when: %s", o->command, err.text);
	return o->ring ? plan_ring(o, plan) : 0;
}

int start_sink_plan(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	const char *output = o->store ? o->store : o->output ? o->output : "perf.data";
	struct error err = {0};
	char *path = NULL;
	int status;

	*plan = (struct start_sink_plan){.restarts = o->away};
	status = plan_kind(o, plan);
	if (!status && o->to) {
		plan->output = xstrdup(o->to);
		return 0;
	}
	if (!status && !*output)
		status = command_fail(2, "%s: the file's name is empty", o->command);
	if (!status && o->store && store_path_to_write(o->store, &path, &err))
		status = command_fail(1, "%s: %s", o->command, err.text);
	if (!status && session_command_absolute(path ? path : output, &plan->output, &err))
		status = command_fail(1, "%s: %s", o->command, err.text);
	free(path);
	return status;
}

void start_sink_done(struct start_sink_plan *plan)
{
	trigger_free(plan->trigger);
	store_wait_rows_free(plan->waits);
	store_names_free(plan->names);
	push_queue_free(plan->queue);
	push_target_done(&plan->target);
	free((char *)(uintptr_t)plan->push.token_file);
	free((char *)(uintptr_t)plan->push.ca_file);
	free(plan->spool);
	free(plan->output);
	*plan = (struct start_sink_plan){0};
}

static int make_push(struct start_sink_plan *plan, struct session_sink **sink, struct error *err)
{
	const struct push_queue_options queue = {.target = plan->target,
	                                         .address = plan->output,
	                                         .spool = plan->spool,
	                                         .spool_bytes = plan->spool_bytes,
	                                         .client = push_options_client(&plan->push)};
	struct push_sink_options o = {
	        .kind = plan->target.kind,
	        .window_ns = plan->window_ns,
	        .restarts = plan->restarts,
	        .window = {.name = store_names_find, .service = plan->push.service},
	        .name_foreign = store_names_foreign};
	int ret = push_queue_open(&plan->queue, &queue, err);

	if (ret)
		return ret;
	o.queue = plan->queue;
	plan->names = o.window.name_ctx = store_names_new(NULL);
	*sink = push_sink_new(&o);
	return 0;
}

/* unit: "batch" or "window". */
static void add_note(struct session_account *a, const char *unit, const struct send_count *dropped,
                     const char *why)
{
	const char *many = *unit == 'b' ? "batches" : "windows";

	if (dropped->batches)
		vec_push(&a->notes,
		         xasprintf("%" PRIu64 " %s with %" PRIu64 " %s dropped: %s",
		                   dropped->batches, plural(dropped->batches, unit, many),
		                   dropped->samples,
		                   plural(dropped->samples, "sample was", "samples were"), why));
}

static void fill_sent(struct session_account *a, const struct send_account *q)
{
	a->batches_due = q->due.batches;
	a->samples_due = q->due.samples;
	a->batches_sent = q->sent.batches;
	a->samples_sent = q->sent.samples;
	a->batches_waiting = q->waiting.batches;
	a->samples_waiting = q->waiting.samples;
	a->batches_dropped = q->full.batches + q->unwritten.batches + q->refused.batches;
	a->samples_dropped = q->full.samples + q->unwritten.samples + q->refused.samples;
	a->send_failures = q->failures;
	a->sender_cpu_ns = q->cpu_ns;
	free(a->send_error);
	free(a->spool);
	a->send_error = q->error[0] ? xstrdup(q->error) : NULL;
	a->spool = xstrdup(q->spool);
}

void start_sink_delivery(struct start_sink_plan *plan, struct session_account *a)
{
	const char *unit = plan->queue ? "batch" : "window";
	struct send_account pushed;
	const struct send_account *q = &pushed;

	if (plan->queue) {
		push_queue_look(plan->queue, &pushed);
	} else {
		store_sink_look(&plan->sent);
		q = &plan->sent.account;
		if (!plan->sent.known)
			return;
	}
	fill_sent(a, q);
	add_note(a, unit, &q->full, "the spool was full, see --spool-size");
	/* A store has a note on the second one. */
	if (plan->queue)
		add_note(a, unit, &q->unwritten, "they could not be written to the spool");
	add_note(a, unit, &q->refused, "the back end did not accept them");
	if (q->exited)
		vec_push(&a->notes,
		         xasprintf("the process that sends was killed: what was not sent waits in "
		                   "the spool for the next session"));
}

int start_sink_make(struct start_sink_plan *plan, bool waits, struct session_sink **sink,
                    struct error *err)
{
	*sink = NULL;
	if (plan->kind == SESSION_RING) {
		const struct flight_recorder_options ring = {.bytes = plan->ring_bytes,
		                                             .span_ns = plan->ring_span_ns,
		                                             .path = plan->output};

		return flight_recorder_new(sink, &ring, err);
	}
	if (plan->kind == SESSION_PUSH)
		return make_push(plan, sink, err);
	if (plan->kind == SESSION_STORE) {
		struct store_sink_options store = {.path = plan->output,
		                                   .window_ns = plan->window_ns,
		                                   .keeping = plan->keeping,
		                                   .server = plan->server,
		                                   .sent = &plan->sent,
		                                   .name = store_names_find,
		                                   .name_foreign = store_names_foreign};

		plan->names = store.name_ctx = store_names_new(NULL);
		if (waits) {
			plan->waits = store.waits_ctx = store_wait_rows_new(plan->names);
			store.waits = store_wait_rows_fill;
		}
		*sink = store_sink_new(&store);
		return 0;
	}
	*sink = file_sink_new(plan->output, true);
	return 0;
}

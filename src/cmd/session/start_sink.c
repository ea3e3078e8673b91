/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/start_sink.h"

#include "cmd/cli/amount.h"
#include "cmd/session/session_command.h"
#include "cmd/session/store_names.h"
#include "session/sinks/file_sink.h"
#include "session/sinks/flight_recorder.h"
#include "source/perf/perf_ring_size.h"
#include "session/sinks/snapshot_name.h"
#include "session/sinks/store_sink.h"
#include "session/daemon/trigger.h"
#include "store/store_path.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NAME "start"
#define SNAPSHOTS_MOST 10000
#define SNAPSHOTS_NOT_SAID UINT64_MAX
#define WINDOW_S_MOST 3600

#define AT(field) offsetof(struct start_sink_options, field)

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
        {OPTION_STRING, 0, "store", "FILE.db",
         "a store: a summary of every window, for any length of time, in an SQLite file",
         .details = "The store is created, or continued if it exists. For root, FILE without a "
                    "slash is in /var/lib/assay. A directory that other users may "
                    "write to is refused. The default rate is 97 Hz.",
         .offset = AT(store)},
        {OPTION_NUMBER, 0, "window", "SECONDS", "length of a window of the store (default 10)",
         .offset = AT(window_s)},
        {OPTION_STRING, 0, "keep", "TIME",
         "delete older data from the store: 12h, 30d, 1y (default 1y)", .offset = AT(keep)},
        {OPTION_NUMBER, 0, "keep-size", "MB",
         "size limit of the store: old windows are merged, then the oldest deleted "
         "(default 4000; a year of an idle server needs about 350)",
         .offset = AT(keep_mb)},
        {.kind = OPTION_END},
};

void start_sink_default(struct start_sink_options *o)
{
	o->window_s = o->keep_mb = NAN; /* not given */
	o->snapshots = SNAPSHOTS_NOT_SAID;
}

bool start_sink_is_ring(const char *text)
{
	uint64_t amount;

	return amount_bytes(text, &amount) || amount_ns(text, &amount);
}

/* Memory is allocated while the buffer fills, so a size that is too large must be refused now. */
static int check_room(const char *text, uint64_t bytes)
{
	uint64_t most = perf_ring_size_machine();

	if (bytes <= most)
		return 0;
	return command_fail(2, NAME ": --ring=%s: this machine has %" PRIu64 " MB of memory", text,
	                    most / 1000000);
}

static int plan_ring(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	plan->kind = SESSION_RING;
	if (!*o->ring || amount_bytes(o->ring, &plan->ring_bytes))
		return check_room(o->ring, plan->ring_bytes);
	if (!amount_ns(o->ring, &plan->ring_span_ns))
		return command_fail(
		        2, NAME ": --ring needs a size or a time, such as 64M or 10min, not '%s'",
		        o->ring);
	plan->ring_bytes = RING_SINK_SPAN_BYTES;
	return 0;
}

static int plan_store(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	plan->kind = SESSION_STORE;
	if (o->output)
		return command_fail(2, NAME ": --store names the file, so -o is not allowed");
	if (o->ring)
		return command_fail(2, NAME ": --store and --ring exclude each other");
	if (o->when.count || o->snapshots != SNAPSHOTS_NOT_SAID)
		return command_fail(2, NAME ": --when and --snapshots are not for --store, which "
		                            "can be read at any time");
	if (o->keep && !amount_ns(o->keep, &plan->keeping.all_ns))
		return command_fail(
		        2, NAME ": --keep needs a time, such as 12h, 30d or 1y, not '%s'", o->keep);
	if (!isnan(o->window_s) && !(o->window_s >= 1 && o->window_s <= WINDOW_S_MOST))
		return command_fail(2, NAME ": --window must be from 1 to %d seconds",
		                    WINDOW_S_MOST);
	if (!isnan(o->keep_mb) && !(o->keep_mb >= 1 && o->keep_mb <= 1e9))
		return command_fail(2, NAME ": --keep-size needs a number of MB");
	plan->window_ns = isnan(o->window_s) ? 0 : (uint64_t)(o->window_s * 1e9);
	plan->keeping.bytes = isnan(o->keep_mb) ? 0 : (uint64_t)(o->keep_mb * 1e6);
	return 0;
}

static int plan_kind(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	struct error err = {0};

	if (o->store)
		return plan_store(o, plan);
	if (o->keep || !isnan(o->window_s) || !isnan(o->keep_mb))
		return command_fail(2,
		                    NAME ": --window, --keep and --keep-size are for --store only");
	if (o->snapshots != SNAPSHOTS_NOT_SAID) {
		if (!o->snapshots || o->snapshots > SNAPSHOTS_MOST)
			return command_fail(2, NAME ": --snapshots must be from 1 to %d",
			                    SNAPSHOTS_MOST);
		plan->snapshots = (unsigned)o->snapshots;
	}
	if (o->when.count && trigger_new(&plan->trigger, o->when.items, o->when.count, NULL, &err))
		return command_fail(2, NAME ": --when: %s", err.text);
	return o->ring ? plan_ring(o, plan) : 0;
}

int start_sink_plan(const struct start_sink_options *o, struct start_sink_plan *plan)
{
	const char *output = o->store ? o->store : o->output ? o->output : "perf.data";
	struct error err = {0};
	char *path = NULL;
	int status;

	*plan = (struct start_sink_plan){0};
	status = plan_kind(o, plan);
	if (!status && !*output)
		status = command_fail(2, NAME ": the file's name is empty");
	if (!status && o->store && store_path_to_write(o->store, &path, &err))
		status = command_fail(1, NAME ": %s", err.text);
	if (!status && session_command_absolute(path ? path : output, &plan->output, &err))
		status = command_fail(1, NAME ": %s", err.text);
	free(path);
	return status;
}

void start_sink_done(struct start_sink_plan *plan)
{
	trigger_free(plan->trigger);
	store_names_free(plan->names);
	free(plan->output);
	*plan = (struct start_sink_plan){0};
}

int start_sink_make(struct start_sink_plan *plan, struct session_sink **sink, struct error *err)
{
	*sink = NULL;
	if (plan->kind == SESSION_RING) {
		const struct flight_recorder_options ring = {.bytes = plan->ring_bytes,
		                                             .span_ns = plan->ring_span_ns,
		                                             .path = plan->output};

		return flight_recorder_new(sink, &ring, err);
	}
	if (plan->kind == SESSION_STORE) {
		struct store_sink_options store = {.path = plan->output,
		                                   .window_ns = plan->window_ns,
		                                   .keeping = plan->keeping,
		                                   .name = store_names_find,
		                                   .name_foreign = store_names_foreign};

		plan->names = store.name_ctx = store_names_new(NULL);
		*sink = store_sink_new(&store);
		return 0;
	}
	*sink = file_sink_new(plan->output, true);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/export/export_timed.h"

#include "base/text/figure.h"
#include "cmd/cli/command.h"
#include "cmd/export/export_formats.h"
#include "export/times/trace_events.h"

#include <inttypes.h>
#include <string.h>

/* Warns before the first byte is written, since other tools load the whole file into memory. */
static void warn_of_size(const struct export_target *target, const struct timed_samples *t)
{
	uint64_t bytes = export_format_find(target->to)->estimate(t);
	struct buf size = {0};

	if (t->limit && t->limit < t->total)
		bytes = (uint64_t)((double)bytes / (double)t->total * (double)t->limit);
	if (bytes < TRACE_EVENTS_LARGE)
		return;
	text_bytes(&size, bytes);
	command_fail(
	        0,
	        "%s: up to %s will be written, and most tools load some hundred MB; --limit N, "
	        "--time and the filters write a part",
	        target->command, buf_text(&size));
	buf_done(&size);
}

static int check(const struct export_target *target, const struct timed_samples *t,
                 const struct profile *p)
{
	if (p->recordings.count > 1)
		return command_fail(2,
		                    "%s: --to %s contains times, and each of these %zu recordings "
		                    "has its own clock: export them one by one (of a store, select "
		                    "one session with --from and --until)",
		                    target->command, target->to, p->recordings.count);
	if (!strcmp(target->to, "chrome") && !t->weight_is_ns)
		return command_fail(2,
		                    "%s: --to chrome needs samples of a clock, since slices have a "
		                    "duration; for samples of %s use firefox or perf-script",
		                    target->command, t->event);
	return 0;
}

static int write_all(const struct export_target *target, struct timed_samples *t)
{
	struct error err = {0};
	struct spill out;
	int status = export_open(target, &out);

	if (status)
		return status;
	warn_of_size(target, t);
	export_format_find(target->to)->write_timed(t, &out);
	if (spill_close(&out, true, &err))
		return command_fail(1, "%s: %s", target->command, err.text);
	if (t->moments.profile->switches.beyond)
		command_fail(0, "%s: %" PRIu64 " context switches beyond the first %u are left out",
		             target->command, t->moments.profile->switches.beyond, SWITCH_LOG_MAX);
	if (t->waits && t->waits->log->beyond)
		command_fail(0, "%s: %" PRIu64 " waits beyond the first %u are left out",
		             target->command, t->waits->log->beyond, WAIT_LOG_MAX);
	if (t->waits_written < t->waits_total)
		command_fail(0, "%s: --limit: the first %" PRIu64 " of %" PRIu64 " waits",
		             target->command, t->waits_written, t->waits_total);
	if (t->written < t->total)
		command_fail(0, "%s: --limit: the first %" PRIu64 " of %" PRIu64 " samples",
		             target->command, t->written, t->total);
	return 0;
}

int export_timed(const struct export_target *target, const struct symbolized_profile *n,
                 const struct profile *p, const uint32_t *rows, const struct wait_report *waits,
                 uint64_t limit)
{
	struct timed_samples t;
	int status;

	timed_samples_init(&t, n, p, rows);
	t.limit = limit;
	t.waits = waits;
	status = check(target, &t, p);
	if (!status)
		status = write_all(target, &t);
	timed_samples_done(&t);
	return status;
}

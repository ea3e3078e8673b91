/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/recording.h"

#include "base/clock.h"
#include "base/this_boot.h"

#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Two boot times differ only if their distance is larger than this, since clocks are adjusted. */
#define BOOT_SLACK_NS 2000000000

void recording_init(struct recording *r)
{
	*r = (struct recording){.clockid = -1, .account.exit_status = -1};
}

void recording_done(struct recording *r)
{
	char **owned[] = {&r->path,    &r->hostname,     &r->os_release,
	                  &r->arch,    &r->cmdline,      &r->cpu_description,
	                  &r->version, &r->tracing_page, &r->account.boot_id};

	for (size_t i = 0; i < sizeof(owned) / sizeof(*owned); i++)
		free(*owned[i]);
	vec_each (attr, &r->attrs)
		free(attr->name);
	vec_each (id, &r->build_ids)
		free(id->filename);
	vec_each (t, &r->tracepoints)
		tracepoint_done(t);
	vec_each (note, &r->account.notes)
		free(*note);
	vec_each (text, &r->warnings)
		free(*text);
	vec_done(&r->attrs);
	vec_done(&r->build_ids);
	vec_done(&r->tracepoints);
	vec_done(&r->account.targets);
	vec_each (device, &r->account.devices) {
		free(device->name);
		free(device->mount);
	}
	vec_done(&r->account.devices);
	vec_each (symbol, &r->account.symbols) {
		free(symbol->name);
		free(symbol->module);
	}
	vec_done(&r->account.symbols);
	vec_done(&r->account.cpus);
	vec_done(&r->account.rates);
	vec_done(&r->account.notes);
	vec_done(&r->warnings);
	recording_init(r);
}

void recording_warn(struct recording *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vec_push(&r->warnings, xvasprintf(fmt, ap));
	va_end(ap);
}

bool recording_is_part(const struct recording *r)
{
	return r->from_ns || r->to_ns;
}

void recording_span(const struct recording *r, uint64_t *start_ns, uint64_t *end_ns)
{
	bool whole = r->account.present && r->account.end_ns > r->account.start_ns;

	*start_ns = whole ? r->account.start_ns : r->first_sample_ns;
	*end_ns = whole ? r->account.end_ns : r->last_sample_ns;
	if (r->from_ns > *start_ns)
		*start_ns = r->from_ns;
	if (r->to_ns && r->to_ns < *end_ns)
		*end_ns = r->to_ns;
	if (*end_ns < *start_ns)
		*end_ns = *start_ns;
}

uint64_t recording_elapsed_ns(const struct recording *r)
{
	uint64_t start_ns, end_ns;

	recording_span(r, &start_ns, &end_ns);
	return end_ns - start_ns;
}

uint64_t recording_lost(const struct recording *r)
{
	uint64_t told = r->lost_records + r->lost_samples, counted = 0;

	if (recording_is_part(r))
		return told;
	vec_each (cpu, &r->account.cpus)
		counted += cpu->lost_records;
	return counted > told ? counted : told;
}

uint64_t recording_time_s(const struct recording *r)
{
	/*
	 * The modification time of a truncated file is the time of the truncation, not of the
	 * recording.
	 */
	return r->clock_wall_ns ? r->clock_wall_ns / 1000000000
	       : r->truncated   ? 0
	                        : r->captured_at_s;
}

static uint64_t wall_offset_now(void)
{
	return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

uint64_t recording_wall_offset(const struct recording *r)
{
	if (r->clock_wall_ns)
		return r->clock_wall_ns - r->clock_start_ns;
	/* perf's clock has about the same rate as this one, and began at the same boot. */
	return wall_offset_now();
}

static bool is_same_boot_moment(const struct recording *r)
{
	int64_t late = (int64_t)(recording_wall_offset(r) - wall_offset_now());

	return r->clockid == CLOCK_MONOTONIC && r->clock_wall_ns && late > -BOOT_SLACK_NS &&
	       late < BOOT_SLACK_NS;
}

enum recording_place recording_place(const struct recording *r)
{
	char host[256] = "", boot[BOOT_ID_SIZE];

	if (!r->hostname || !*r->hostname)
		return RECORDING_UNPROVEN;
	if (gethostname(host, sizeof(host) - 1) || strcmp(host, r->hostname) != 0)
		return RECORDING_ELSEWHERE;
	this_boot_id(boot);
	if (r->account.boot_id && *boot)
		return strcmp(boot, r->account.boot_id) != 0 ? RECORDING_ELSEWHERE : RECORDING_HERE;
	return is_same_boot_moment(r) ? RECORDING_HERE : RECORDING_UNPROVEN;
}

uint16_t recording_main_attr(const struct recording *r)
{
	static const enum attr_role order[] = {ATTR_CLOCK, ATTR_COUNT, ATTR_SWITCH};

	for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++) {
		size_t found = r->attrs.count;

		for (size_t i = r->attrs.count; i-- > 0;) {
			const struct recording_attr *a = &r->attrs.items[i];

			if (a->role == order[k] && (a->samples || found == r->attrs.count ||
			                            !r->attrs.items[found].samples))
				found = i;
		}
		if (found < r->attrs.count)
			return (uint16_t)found;
	}
	return 0;
}

bool recording_attr_may_be_of_cpus(const struct recording_attr *a)
{
	/* 0: a store does not record sample types. */
	return !a->sample_type || (a->sample_type & PERF_SAMPLE_CPU && !a->enable_on_exec);
}

bool recording_may_be_machine_wide(const struct recording *r)
{
	uint16_t attr = recording_main_attr(r);

	return attr < r->attrs.count && recording_attr_may_be_of_cpus(&r->attrs.items[attr]);
}

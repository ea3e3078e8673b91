/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/recording.h"

#include <stdarg.h>
#include <stdio.h>

void recording_init(struct recording *r)
{
	*r = (struct recording){.clockid = -1, .account.exit_status = -1};
}

void recording_done(struct recording *r)
{
	char **owned[] = {&r->path,    &r->hostname,        &r->os_release, &r->arch,
	                  &r->cmdline, &r->cpu_description, &r->version};

	for (size_t i = 0; i < sizeof(owned) / sizeof(*owned); i++)
		free(*owned[i]);
	vec_each (attr, &r->attrs)
		free(attr->name);
	vec_each (id, &r->build_ids)
		free(id->filename);
	vec_each (note, &r->account.notes)
		free(*note);
	vec_each (text, &r->warnings)
		free(*text);
	vec_done(&r->attrs);
	vec_done(&r->build_ids);
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

uint64_t recording_lost(const struct recording *r)
{
	uint64_t told = r->lost_records + r->lost_samples, counted = 0;

	vec_each (cpu, &r->account.cpus)
		counted += cpu->lost_records;
	return counted > told ? counted : told;
}

uint64_t recording_time_s(const struct recording *r)
{
	return r->clock_wall_ns ? r->clock_wall_ns / 1000000000 : r->captured_at_s;
}

uint16_t recording_main_attr(const struct recording *r)
{
	static const enum attr_role order[] = {ATTR_CLOCK, ATTR_COUNT};

	for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++)
		for (size_t i = 0; i < r->attrs.count; i++)
			if (r->attrs.items[i].role == order[k])
				return (uint16_t)i;
	return 0;
}

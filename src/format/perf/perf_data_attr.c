/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/perf_data_attr.h"

#include "event/attr.h"
#include "format/perf/tracepoint_format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static const char *const hardware_names[] = {
        [PERF_COUNT_HW_CPU_CYCLES] = "cycles",
        [PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
        [PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
        [PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
        [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
        [PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
        [PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
        [PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
        [PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
        [PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

static const char *const software_names[] = {
        [PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
        [PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
        [PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
        [PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
        [PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
        [PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
        [PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
        [PERF_COUNT_SW_ALIGNMENT_FAULTS] = "alignment-faults",
        [PERF_COUNT_SW_EMULATION_FAULTS] = "emulation-faults",
        [PERF_COUNT_SW_DUMMY] = "dummy",
        [PERF_COUNT_SW_BPF_OUTPUT] = "bpf-output",
        [PERF_COUNT_SW_CGROUP_SWITCHES] = "cgroup-switches",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* On machines with several kinds of cores, the upper bits have the kind. */
static uint64_t hardware_config(uint64_t config)
{
	return config & UINT32_MAX;
}

static char *name_of_config(uint32_t type, uint64_t config)
{
	if (type == PERF_TYPE_HARDWARE && hardware_config(config) < COUNT(hardware_names))
		return xstrdup(hardware_names[hardware_config(config)]);
	if (type == PERF_TYPE_SOFTWARE && config < COUNT(software_names))
		return xstrdup(software_names[config]);
	if (type == PERF_TYPE_TRACEPOINT)
		return xasprintf("tracepoint-%" PRIu64, config);
	if (type == PERF_TYPE_RAW)
		return xasprintf("r%" PRIx64, config);
	return xasprintf("event-%" PRIu32 "-%#" PRIx64, type, config);
}

/* perf writes names in the order of attrs. */
static const char *name_of_desc(const perf_data_event_descs *descs, size_t i,
                                const struct perf_event_attr *attr)
{
	const struct perf_data_event_desc *d;

	if (i >= descs->count)
		return NULL;
	d = &descs->items[i];
	return d->attr.type == attr->type && d->attr.config == attr->config && d->name[0] ? d->name
	                                                                                  : NULL;
}

static char *name_of_tracepoint(const struct recording *r, const struct perf_event_attr *attr)
{
	const struct tracepoint *t =
	        attr->type == PERF_TYPE_TRACEPOINT ? tracepoint_find(r, attr->config) : NULL;

	return t ? xasprintf("%s:%s", t->system, t->name) : NULL;
}

static enum attr_role role_of(const struct perf_event_attr *attr, bool have_clock)
{
	bool software = attr->type == PERF_TYPE_SOFTWARE;

	if (software && attr->config == PERF_COUNT_SW_DUMMY)
		return ATTR_TRACK;
	if (software && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES && have_clock &&
	    !attr->freq && attr->sample_period == 1 && attr->sample_type & PERF_SAMPLE_CALLCHAIN)
		return ATTR_SWITCH;
	return attr_is_clock(attr) ? ATTR_CLOCK : ATTR_COUNT;
}

/* Without a name, the attr is described by its type, which is that of the main clock. */
static void be_witness(struct recording_attr *a)
{
	char *name = a->name;

	a->role = ATTR_WITNESS;
	if (strstr(name, "witness"))
		return;
	a->name = xasprintf("%s/witness/", name);
	free(name);
}

/* Finds the witness by the names, the account, or (in a file of a killed recorder) the periods. */
static void find_witness(struct recording *r, bool named, uint16_t witness)
{
	struct recording_attr *first = NULL;

	vec_each (a, &r->attrs) {
		if (a->role != ATTR_CLOCK)
			continue;
		if (!first) {
			first = a;
			continue;
		}
		if (a - r->attrs.items == witness || (named && strstr(a->name, "witness")) ||
		    (!named && witness == EVENT_NO_ATTR && first->period_ns &&
		     a->type == first->type && a->period_ns > first->period_ns))
			be_witness(a);
	}
}

static const struct recording_attr *find_attr(const struct recording *r, const char *name)
{
	vec_each (a, &r->attrs)
		if (a->type == PERF_TYPE_TRACEPOINT && !strcmp(a->name, name))
			return a;
	return NULL;
}

static bool has_role(const struct recording *r, enum attr_role role)
{
	vec_each (a, &r->attrs)
		if (a->role == role)
			return true;
	return false;
}

/* Only events of which every occurrence is sampled have these roles. */
static void give_role(struct recording *r, const char *name, enum attr_role role)
{
	vec_each (a, &r->attrs)
		if (a->type == PERF_TYPE_TRACEPOINT && a->period == 1 && !strcmp(a->name, name))
			a->role = role;
}

/* The roles of the tracepoints of switches and wake-ups. */
static void find_scheduling(struct recording *r)
{
	bool has_waking = find_attr(r, "sched:sched_waking") != NULL;

	if (!has_role(r, ATTR_SWITCH))
		give_role(r, "sched:sched_switch", ATTR_SWITCH);
	give_role(r, has_waking ? "sched:sched_waking" : "sched:sched_wakeup", ATTR_WAKE);
	give_role(r, "sched:sched_wakeup_new", ATTR_WAKE);
}

void perf_data_attrs_describe(struct recording *r, const struct perf_event_attr *attrs,
                              size_t count, const perf_data_event_descs *descs, uint16_t witness)
{
	bool have_clock = false;

	for (size_t i = 0; i < count; i++)
		have_clock = have_clock || attr_is_clock(&attrs[i]);
	for (size_t i = 0; i < count; i++) {
		struct recording_attr *a = vec_add(&r->attrs);
		const char *name = name_of_desc(descs, i, &attrs[i]);

		attr_describe(a, &attrs[i], role_of(&attrs[i], have_clock));
		a->name = name ? xstrdup(name) : name_of_tracepoint(r, &attrs[i]);
		if (!a->name)
			a->name = name_of_config(a->type, a->config);
	}
	find_scheduling(r);
	find_witness(r, descs->count > 0, witness);
}

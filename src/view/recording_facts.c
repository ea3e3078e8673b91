/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/recording_facts.h"

#include <errno.h>
#include <stdio.h>

/* Some labels follow from the cgroup. */
static unsigned has_of_process(const struct process *p)
{
	return (p->cgroup != ID_NONE ? HAS_CGROUPS | HAS_LABELS : 0) |
	       (p->labels != ID_NONE ? HAS_LABELS : 0);
}

unsigned recording_lacks_samples(const struct profile *p, uint8_t event)
{
	unsigned lacks = HAS_PATHS | HAS_REGIONS | HAS_CGROUPS | HAS_CPUS | HAS_LABELS;
	bool any = false;

	vec_each (row, &p->rows) {
		const struct thread *thread;

		if (row->event != event || row->mode == PROFILE_IDLE)
			continue;
		any = true;
		thread = process_table_thread_at(p->processes, row->thread);
		if (row->path != PATH_ROOT && p->paths.items[row->path].parent != PATH_ROOT)
			lacks &= ~(unsigned)HAS_PATHS;
		if (row->region != REGION_NONE)
			lacks &= ~(unsigned)HAS_REGIONS;
		if (row->cpu != PROFILE_CPU_UNKNOWN)
			lacks &= ~(unsigned)HAS_CPUS;
		lacks &= ~has_of_process(process_table_process(p->processes, thread->process));
	}
	return any ? lacks : 0;
}

const char *recording_fact_text(unsigned fact)
{
	static const struct {
		unsigned fact;
		const char *text;
	} facts[] = {
	        {HAS_PROCESSES, "the process of each row"},
	        {HAS_THREADS, "the thread of each row"},
	        {HAS_CPUS, "the CPU of each row"},
	        {HAS_CGROUPS, "the cgroup of each row"},
	        {HAS_TIMES, "the time of each row"},
	        {HAS_IMAGES, "the file of each function"},
	        {HAS_ADDRESSES, "the address of each row"},
	        {HAS_LINES, "the source line of each row"},
	        {HAS_MODES, "the mode (user, kernel) of each row"},
	        {HAS_REGIONS, "the region of each row"},
	        {HAS_EVENTS, "several events"},
	        {HAS_INSTANCES, "a row for each process"},
	        {HAS_PARTS, "tables for each process"},
	        {HAS_IDLE, "idle time among the rows"},
	        {HAS_PATHS, "call paths"},
	        {HAS_PATH_ROWS, "a table of call paths"},
	        {HAS_EACH_CALL, "the time of each call"},
	        {HAS_TAGS, "event tags"},
	        {HAS_CODE, "code addresses without names"},
	        {HAS_RAW_NAMES, "names as the linker knows them"},
	        {HAS_FIELDS, "fields of tracepoints"},
	        {HAS_LABELS, "the labels of each row"},
	};
	const char *text = "";

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (facts[i].fact & fact)
			text = facts[i].text;
	return text;
}

/* How to record a fact of samples; "": it is not known. */
static const char *recorded_by(unsigned fact)
{
	switch (fact) {
	case HAS_PATHS:
		return "; 'assay record -g' records them";
	case HAS_REGIONS:
		return "; 'assay record -d' records it";
	case HAS_CGROUPS:
		return "; 'assay record --all-cgroups' records it";
	case HAS_LABELS:
		return "; 'assay record --labels' records them";
	default:
		return "";
	}
}

static int refuse(const char *option, unsigned fact, bool recordable, struct error *err)
{
	return error_set(err, EINVAL, "%s needs %s, which this recording does not have%s", option,
	                 recording_fact_text(fact), recordable ? recorded_by(fact) : "");
}

int recording_facts_check(const struct report_request *q, unsigned lacks, bool recordable,
                          struct error *err)
{
	const struct {
		const char *option;
		bool given;
		unsigned fact;
	} options[] = {
	        {"--callers", q->callers != NULL, HAS_PATHS},
	        {"--callees", q->callees != NULL, HAS_PATHS},
	        {"--cgroup", q->filter.cgroup.count > 0, HAS_CGROUPS},
	        {"--label", q->filter.label.count > 0, HAS_LABELS},
	        {"--cpu", q->filter.cpu.count > 0, HAS_CPUS},
	};
	char name[64];

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].given && (options[i].fact & lacks))
			return refuse(options[i].option, options[i].fact, recordable, err);
	for (size_t i = 0; i < q->key_count; i++) {
		snprintf(name, sizeof(name), "--sort %s", flat_key_name(q->keys[i]));
		if (flat_key_needs(q->keys[i]) & lacks)
			return refuse(name, flat_key_needs(q->keys[i]), recordable, err);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of --waits: tracepoints of switches, wake-ups, block I/O and contended locks. */
#include "session/plan_internal.h"

#include "base/memory/buf.h"
#include "source/perf/perf_events.h"
#include "source/proc/rights.h"
#include "source/tracefs/tracepoint_files.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/*
 * The kernel reserves the size of the copy in the ring for each sample: larger copies fill the
 * rings. Outer frames of a deeper stack are read from the thread's memory, which takes too long to
 * do it for most samples (adr/0178).
 */
#define WAITS_STACK_BYTES 8192

struct waits_event {
	const char *name;
	const char *field; /* the thread that leaves the CPU or is woken */
	enum attr_role role;
	bool required, stacks;
};

static const struct waits_event waits_events[] = {
        {"sched:sched_switch", "prev_pid", ATTR_SWITCH, true, true},
        {"sched:sched_waking", "pid", ATTR_WAKE, true, true},
        {"sched:sched_wakeup_new", "pid", ATTR_WAKE, false, true},
        {"block:block_rq_issue", NULL, ATTR_COUNT, false, false},
        {"block:block_rq_complete", NULL, ATTR_COUNT, false, false},
        {"lock:contention_begin", NULL, ATTR_COUNT, false, false},
        {"lock:contention_end", NULL, ATTR_COUNT, false, false},
};

#define WAITS_EVENTS (sizeof(waits_events) / sizeof(*waits_events))

void plan_add_arguments(struct perf_event_attr *attr)
{
	if (!unwind_native())
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER;
	for (int i = 0; i < 2; i++)
		attr->sample_regs_user |= UINT64_C(1) << unwind_native()->perf_argument[i];
}

static struct perf_event_attr waits_attr(const struct plan *plan, const struct session_options *o,
                                         const struct waits_event *event, uint64_t id)
{
	struct perf_event_attr attr = plan_common_attr(plan, o);

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id;
	attr.sample_period = 1;
	attr.sample_type |= PERF_SAMPLE_RAW;
	if (attr.sample_stack_user > WAITS_STACK_BYTES)
		attr.sample_stack_user = WAITS_STACK_BYTES;
	if (!event->stacks) {
		plan_remove_stacks(&attr);
		attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	}
	if (event->stacks)
		plan_add_arguments(&attr);
	return attr;
}

/*
 * A switch away from the idle task begins no wait. The recorder waits for samples: if its own waits
 * made samples, it would never rest.
 */
static char *filter_of(const struct plan *plan, const char *field)
{
	struct buf text = {0};

	if (!field)
		return NULL;
	buf_addf(&text, "%s != 0", field);
	/* In a pid namespace the kernel's fields have other numbers. */
	for (size_t i = 0; i < plan->own.count && !rights_pid_namespace(); i++)
		buf_addf(&text, " && %s != %" PRId32, field, plan->own.items[i]);
	return text.data;
}

/* 0 if the event exists and may be opened on a CPU. */
static int try(const struct plan *plan, const struct session_options *o,
               const struct waits_event *event, struct error *err)
{
	struct perf_event_attr attr;
	uint64_t id;
	int fd, status = tracepoint_id(event->name, &id, err);

	if (status)
		return status;
	attr = waits_attr(plan, o, event, id);
	attr.read_format &= ~(uint64_t)PERF_FORMAT_LOST; /* not in all kernels */
	fd = perf_event_open_fd(&attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "%s: %s", event->name, strerror(errno));
	close(fd);
	return 0;
}

static void note_missing(struct plan *plan, int status, const struct error *err)
{
	if (status == -EACCES || status == -EPERM || geteuid())
		plan_note(plan, "Wakers: not available. Tracepoints of the scheduler need root, or "
		                "CAP_PERFMON and the right to read tracefs. The recording is one "
		                "of --off-cpu.");
	else
		plan_note(plan, "Wakers: not available (%s). The recording is one of --off-cpu.",
		          err->text);
}

void plan_find_waits(struct plan *plan, const struct session_options *o)
{
	struct error err = {0};
	int status = plan->machine_wide && plan->kernel ? 0 : -EACCES;

	if (!o->waits)
		return;
	for (size_t i = 0; !status && i < WAITS_EVENTS; i++)
		if (waits_events[i].required)
			status = try(plan, o, &waits_events[i], &err);
	plan->waits = !status;
	if (status)
		note_missing(plan, status, &err);
}

void plan_add_waits(struct plan *plan, const struct session_options *o)
{
	for (size_t i = 0; plan->waits && i < WAITS_EVENTS; i++) {
		const struct waits_event *w = &waits_events[i];
		struct perf_source_event *event;
		struct perf_event_attr attr;
		struct error absent;
		uint64_t id;

		if (tracepoint_id(w->name, &id, &absent) ||
		    (!w->required && try(plan, o, w, &absent)))
			continue;
		attr = waits_attr(plan, o, w, id);
		event = plan_add_event(plan, w->name, w->role, &attr);
		event->filter = filter_of(plan, w->field);
		event->keeps_arguments = w->stacks;
	}
}

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
 * The kernel reserves the size of the copy in the ring for each sample and copies it up to the end
 * of the stack. Outer frames of deeper stacks are those of earlier samples, or are read from the
 * thread's memory (adr/0198, adr/0203). The inner frames of a waker suffice to name it.
 */
#define SWITCH_STACK_BYTES 2048
#define WAKE_STACK_BYTES 2048

struct waits_event {
	const char *name;
	const char *field; /* the thread that leaves the CPU or is woken */
	enum attr_role role;
	bool required;
	uint32_t stack_bytes; /* 0: no call chain */
};

static const struct waits_event waits_events[] = {
        {"sched:sched_switch", "prev_pid", ATTR_SWITCH, true, SWITCH_STACK_BYTES},
        {"sched:sched_waking", "pid", ATTR_WAKE, true, WAKE_STACK_BYTES},
        {"sched:sched_wakeup_new", "pid", ATTR_WAKE, false, WAKE_STACK_BYTES},
        {"block:block_rq_issue", NULL, ATTR_COUNT, false, 0},
        {"block:block_rq_complete", NULL, ATTR_COUNT, false, 0},
        {"lock:contention_begin", NULL, ATTR_COUNT, false, 0},
        {"lock:contention_end", NULL, ATTR_COUNT, false, 0},
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
	if (attr.sample_stack_user > event->stack_bytes)
		attr.sample_stack_user = event->stack_bytes;
	if (!event->stack_bytes) {
		plan_remove_stacks(&attr);
		attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	}
	/*
	 * Each register takes as long as a hundred bytes of the stack. Rules need others only in
	 * the first instructions of few functions.
	 */
	if (event->stack_bytes && plan->unwind)
		attr.sample_regs_user = unwind_kept_mask(unwind_native());
	if (event->stack_bytes)
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

bool plan_is_major_fault(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
}

/* A fault that waits for a disk ends with this event, which has the address. */
static void add_faults(struct plan *plan, const struct session_options *o)
{
	struct perf_event_attr attr = plan_common_attr(plan, o);

	vec_each (event, &plan->events)
		if (plan_is_major_fault(&event->attr)) {
			event->attr.sample_type |= PERF_SAMPLE_ADDR; /* asked for with -e */
			return;
		}
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	attr.sample_period = 1;
	attr.sample_type |= PERF_SAMPLE_ADDR;
	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	plan_remove_stacks(&attr);
	plan_add_event(plan, "major-faults", ATTR_COUNT, &attr);
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
		event->keeps_arguments = w->stack_bytes > 0;
	}
	if (plan->waits)
		add_faults(plan, o);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of a plan, as they are opened and as the file describes them. */
#include "check.h"

#include "session/plan.h"
#include "unwind/unwind.h"

#include <string.h>

static struct session_options options(void)
{
	return (struct session_options){
	        .frequency_hz = 997, .user_callchain = true, .unwind = true, .stack_bytes = 32768};
}

/*
 * A waker is in a system call: the registers that functions keep are needed, and the arguments.
 */
static void check_wake(const struct perf_source_event *event, bool unwind)
{
	const struct unwind_machine *m = unwind_native();
	uint64_t arguments = UINT64_C(1) << m->perf_argument[0] | UINT64_C(1)
	                                                                  << m->perf_argument[1];

	CHECK_EQ(event->role, ATTR_WAKE);
	CHECK_EQ(event->attr.sample_stack_user, unwind ? 2048 : 0);
	CHECK_EQ(event->attr.sample_regs_user, arguments | (unwind ? unwind_kept_mask(m) : 0));
	CHECK_EQ(unwind_kept_mask(&unwind_x86_64), 0xf001c2);
	CHECK_EQ(unwind_kept_mask(&unwind_arm64), 0x1fff80000);
}

static const struct perf_source_event *event_of(const struct plan *plan, const char *name)
{
	vec_each (event, &plan->events)
		if (!strcmp(event->name, name))
			return event;
	return NULL;
}

static void check_switch(const struct perf_source_event *event, bool unwind)
{
	struct perf_event_attr file = plan_file_attr(event);
	const uint8_t *argument = unwind_native()->perf_argument;

	CHECK_EQ(event->role, ATTR_SWITCH);
	CHECK_EQ(event->attr.sample_period, 1);
	CHECK(event->attr.sample_type & PERF_SAMPLE_RAW);
	CHECK(!strcmp(event->filter, "prev_pid != 0 && prev_pid != 4711"));
	CHECK_EQ(event->attr.sample_stack_user, unwind ? 2048 : 0);
	/* The file has the arguments of the system call, and no stack. */
	CHECK_EQ(file.sample_regs_user, UINT64_C(1) << argument[0] | UINT64_C(1) << argument[1]);
	CHECK_EQ(file.sample_stack_user, 0);
	CHECK_EQ(!!(file.sample_type & PERF_SAMPLE_REGS_USER), 1);
	CHECK_EQ(!!(file.sample_type & PERF_SAMPLE_STACK_USER), 0);
	CHECK_EQ(!!(file.sample_type & PERF_SAMPLE_TRANSACTION), unwind);
}

/* Without the right, as in most containers, the plan is that of --off-cpu. */
static void check_without(const struct plan *plan)
{
	bool noted = false;

	vec_each (note, &plan->notes)
		noted |= !strncmp(*note, "Wakers: not available", 21);
	CHECK(noted);
	CHECK(!event_of(plan, "sched:sched_switch"));
	CHECK_EQ(event_of(plan, "context-switches") != NULL, plan->kernel);
}

static void waits_are_tracepoints_in_place_of_context_switches(void)
{
	for (int unwind = 0; unwind < 2; unwind++) {
		struct session_options o = options();
		struct plan plan = {0};
		struct error err = {0};

		o.waits = true;
		o.unwind = unwind;
		vec_push(&plan.own, 4711);
		CHECK_EQ(plan_make(&plan, &o, &err), 0);
		if (!plan.waits || !unwind_native()) {
			check_without(&plan);
			plan_done(&plan);
			continue;
		}
		CHECK(plan.machine_wide);
		CHECK(!event_of(&plan, "context-switches"));
		check_switch(event_of(&plan, "sched:sched_switch"), plan.unwind);
		check_wake(event_of(&plan, "sched:sched_waking"), plan.unwind);
		CHECK_EQ(vec_last(&plan.events)->role, ATTR_TRACK);
		plan_done(&plan);
	}
}

static void other_plans_have_no_tracepoints(void)
{
	struct session_options o = options();
	struct plan plan = {0};
	struct error err = {0};

	o.off_cpu = true;
	CHECK_EQ(plan_make(&plan, &o, &err), 0);
	CHECK(!plan.waits);
	vec_each (event, &plan.events) {
		CHECK(event->attr.type != PERF_TYPE_TRACEPOINT);
		CHECK(!(plan_file_attr(event).sample_type & PERF_SAMPLE_REGS_USER));
	}
	plan_done(&plan);
}

int main(void)
{
	RUN(waits_are_tracepoints_in_place_of_context_switches);
	RUN(other_plans_have_no_tracepoints);
	return check_end();
}

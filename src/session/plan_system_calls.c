/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracepoints of system calls. Their samples have no call chains, so that a call costs little
 * more than without. */
#include "session/plan_internal.h"

#include "source/perf/perf_events.h"

#include <errno.h>
#include <string.h>

static const char *const names[] = {"raw_syscalls:sys_enter", "raw_syscalls:sys_exit"};

bool plan_is_system_call(const char *name)
{
	return !strcmp(name, names[0]) || !strcmp(name, names[1]);
}

int plan_add_system_calls(struct plan *plan, const struct session_options *o, struct error *err)
{
	for (size_t i = 0; o->system_calls && i < sizeof(names) / sizeof(*names); i++) {
		struct perf_event_attr attr = plan_common_attr(plan, o);
		struct error cause = {0};

		if (perf_event_parse(names[i], &attr, &cause))
			return error_set(err, EACCES,
			                 "--syscalls: the tracepoints of system calls cannot be "
			                 "used: %s",
			                 cause.text);
		plan_remove_stacks(&attr);
		attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
		attr.exclude_callchain_user = attr.exclude_callchain_kernel = 0;
		attr.sample_type |= PERF_SAMPLE_RAW;
		attr.sample_period = 1;
		attr.enable_on_exec = plan_starts_with_command(plan, o);
		plan_add_event(plan, names[i], ATTR_COUNT, &attr);
	}
	return 0;
}

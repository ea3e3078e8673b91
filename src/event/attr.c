/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/attr.h"

#define TIMER_PERIOD_MIN_NS 10000 /* the kernel's minimum period of software clocks */

bool attr_is_software_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
	                                            attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool attr_is_clock(const struct perf_event_attr *attr)
{
	/* The upper half has the PMU's type on machines with several kinds of core. */
	uint64_t config = attr->config & UINT32_MAX;

	return attr_is_software_clock(attr) ||
	       (attr->type == PERF_TYPE_HARDWARE &&
	        (config == PERF_COUNT_HW_CPU_CYCLES || config == PERF_COUNT_HW_REF_CPU_CYCLES));
}

uint64_t attr_timer_period_ns(const struct perf_event_attr *attr)
{
	uint64_t period = attr->sample_period;

	if (!attr_is_software_clock(attr) || !period)
		return 0;
	if (attr->freq)
		period = UINT64_C(1000000000) / attr->sample_freq;
	return period < TIMER_PERIOD_MIN_NS ? TIMER_PERIOD_MIN_NS : period;
}

void attr_describe(struct recording_attr *a, const struct perf_event_attr *attr,
                   enum attr_role role)
{
	a->role = role;
	a->type = attr->type;
	a->config = attr->config;
	a->sample_type = attr->sample_type;
	a->period = attr->freq ? 0 : attr->sample_period;
	a->frequency_hz = attr->freq ? attr->sample_freq : 0;
	a->period_ns = attr_timer_period_ns(attr);
	a->exclude_kernel = attr->exclude_kernel;
	a->exclude_user = attr->exclude_user;
	a->exclude_idle = attr->exclude_idle;
	a->inherit = attr->inherit;
	a->enable_on_exec = attr->enable_on_exec;
	a->context_switch = attr->context_switch;
	a->callchain = attr->sample_type & PERF_SAMPLE_CALLCHAIN;
	a->user_callchain = a->callchain && !attr->exclude_callchain_user;
	a->stack_copies = attr->sample_type & PERF_SAMPLE_REGS_USER &&
	                  attr->sample_type & PERF_SAMPLE_STACK_USER;
}

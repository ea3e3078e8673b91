/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/plan_internal.h"

#include "event/attr.h"
#include "source/perf/perf_events.h"
#include "source/proc/rights.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * The witness is a slow clock. Its period is a whole number close to the golden section of the
 * main clock's period, so that its ticks do not return to the same phase. A program that runs in
 * step with the main clock has other shares in the samples of the witness.
 */
#define WITNESS_PERIOD_NS 8000000 /* minimum period: at most 125 Hz */
#define WITNESS_SLOWER 8          /* at least this many times slower than the main clock */
#define GOLDEN_SECTION 0.6180339887

void plan_note(struct plan *plan, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vec_push(&plan->notes, xvasprintf(fmt, ap));
	va_end(ap);
}

/* True if the kernel allows such an event. */
static bool may_open(int pid, int cpu, bool exclude_kernel)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof(attr),
	                               .config = PERF_COUNT_SW_CPU_CLOCK,
	                               .sample_period = 1000000000,
	                               .disabled = 1,
	                               .exclude_kernel = exclude_kernel,
	                               .exclude_hv = exclude_kernel};
	int fd = perf_event_open_fd(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno != EACCES && errno != EPERM;
	close(fd);
	return true;
}

/*
 * Requests registers and a copy of the stack. The kernel's walk along frame pointers is recorded
 * too, if it may be used: Go's runtime runs on another stack than the goroutine that called it.
 */
static void add_stacks(struct perf_event_attr *attr, uint32_t bytes, bool frame_pointers)
{
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = unwind_native()->perf_mask;
	attr->sample_stack_user = bytes;
	attr->exclude_callchain_user = !frame_pointers;
}

void plan_remove_stacks(struct perf_event_attr *attr)
{
	attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	attr->sample_regs_user = 0;
	attr->sample_stack_user = 0;
}

struct perf_event_attr plan_file_attr(const struct perf_source_event *event)
{
	struct perf_event_attr attr = event->attr;

	if (!(attr.sample_type & PERF_SAMPLE_STACK_USER))
		return attr;
	plan_remove_stacks(&attr);
	attr.sample_type |= PERF_SAMPLE_TRANSACTION;
	attr.exclude_callchain_user = 0;
	if (event->keeps_arguments)
		plan_add_arguments(&attr);
	return attr;
}

/* True if the kernel can copy registers and stacks on this architecture. */
static bool can_unwind(uint32_t stack_bytes)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof(attr),
	                               .config = PERF_COUNT_SW_CPU_CLOCK,
	                               .sample_period = 1000000000,
	                               .disabled = 1,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1};
	int fd;

	if (!unwind_native())
		return false;
	add_stacks(&attr, stack_bytes, false);
	fd = perf_event_open_fd(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* True if the kernel records the cgroup of a sample, and new cgroups. */
static bool can_tell_cgroups(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof(attr),
	                               .config = PERF_COUNT_SW_DUMMY,
	                               .sample_period = 1,
	                               .sample_type = PERF_SAMPLE_CGROUP,
	                               .disabled = 1,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1,
	                               .cgroup = 1};
	int fd = perf_event_open_fd(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The kernel lowers its limit when samples take long, so even the default rate may be above it. */
static uint64_t allowed_hz(uint64_t asked_hz)
{
	int64_t most;

	if (rights_sysctl("kernel.perf_event_max_sample_rate", &most) || most <= 0 ||
	    asked_hz <= (uint64_t)most)
		return asked_hz;
	return (uint64_t)most;
}

static void note_rate(struct plan *plan, uint64_t asked_hz)
{
	vec_each (event, &plan->events) {
		if (!event->attr.freq || event->attr.sample_freq >= asked_hz)
			continue;
		plan_note(plan,
		          "At most %" PRIu64 " samples per second were taken, not %" PRIu64
		          ": this is the kernel's limit now, by a setting or because samples took "
		          "too long. 'sysctl kernel.perf_event_max_sample_rate=%" PRIu64
		          "' raises it.",
		          (uint64_t)event->attr.sample_freq, asked_hz, asked_hz);
		return;
	}
}

struct perf_event_attr plan_common_attr(const struct plan *plan, const struct session_options *o)
{
	struct perf_event_attr attr = {
	        .size = sizeof(struct perf_event_attr),
	        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	                       (plan->kernel || o->user_callchain ? PERF_SAMPLE_CALLCHAIN : 0) |
	                       (plan->machine_wide ? 0 : PERF_SAMPLE_STREAM_ID) |
	                       (o->data_addresses ? PERF_SAMPLE_ADDR : 0) |
	                       (plan->cgroups ? PERF_SAMPLE_CGROUP : 0),
	        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
	                       PERF_FORMAT_ID | PERF_FORMAT_LOST,
	        .disabled = 1,
	        .inherit = !plan->machine_wide,
	        .sample_id_all = 1,
	        .exclude_kernel = !plan->kernel,
	        .exclude_hv = !plan->kernel,
	        /* Kernel frames are always taken: their entry tells interrupts from system calls.
	         */
	        .exclude_callchain_user = !o->user_callchain,
	        .exclude_callchain_kernel = !plan->kernel,
	        .use_clockid = 1,
	        .clockid = CLOCK_MONOTONIC,
	};

	if (plan->unwind)
		add_stacks(&attr, o->stack_bytes, o->method == STACK_METHOD_AUTO);
	return attr;
}

struct perf_source_event *plan_add_event(struct plan *plan, const char *name, enum attr_role role,
                                         const struct perf_event_attr *attr)
{
	struct perf_source_event *event = vec_add(&plan->events);

	event->name = name;
	event->role = role;
	event->attr = *attr;
	return event;
}

/*
 * Sampling of a command starts at its exec, unless the command replaces the whole machine (-a
 * without the right to it): then other processes run already.
 */
bool plan_starts_with_command(const struct plan *plan, const struct session_options *o)
{
	return !plan->machine_wide && o->command && !o->machine_wide && !session_follows_pids(o);
}

/* Faults, switches and tracepoints: each event is a sample. */
static bool counts_single_events(const struct perf_event_attr *attr)
{
	return !attr_is_clock(attr) &&
	       (attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT);
}

static int add_sampled(struct plan *plan, const struct session_options *o, const char *name,
                       struct error *err)
{
	struct perf_event_attr attr = plan_common_attr(plan, o);
	int status = perf_event_parse(name, &attr, err);
	bool clock;

	if (status)
		return status;
	clock = attr_is_clock(&attr);
	if (attr.type == PERF_TYPE_TRACEPOINT)
		attr.sample_type |= PERF_SAMPLE_RAW;
	attr.enable_on_exec = plan_starts_with_command(plan, o);
	if (o->period) {
		attr.sample_period = o->period;
	} else if (o->frequency_asked || !counts_single_events(&attr)) {
		attr.freq = 1;
		attr.sample_freq = plan->frequency_hz;
	} else {
		attr.sample_period = 1;
	}
	plan_add_event(plan, name, clock ? ATTR_CLOCK : ATTR_COUNT, &attr);
	return 0;
}

static void add_witness(struct plan *plan, const struct session_options *o)
{
	const struct perf_event_attr *first = &plan->events.items[0].attr;
	struct perf_event_attr attr = *first;
	uint64_t period = attr_timer_period_ns(first), times;

	if (!o->witness || !attr_is_software_clock(first))
		return;
	times = WITNESS_PERIOD_NS / period > WITNESS_SLOWER ? WITNESS_PERIOD_NS / period
	                                                    : WITNESS_SLOWER;
	attr.freq = 0;
	attr.sample_period = (uint64_t)((double)period * ((double)times + GOLDEN_SECTION));
	/* The witness needs the place of a sample only. */
	plan_remove_stacks(&attr);
	attr.exclude_callchain_user = attr.exclude_callchain_kernel = 1;
	plan_add_event(plan, "cpu-clock/witness/", ATTR_WITNESS, &attr);
}

static void add_off_cpu(struct plan *plan, const struct session_options *o)
{
	struct perf_event_attr attr = plan_common_attr(plan, o);

	if (plan->waits || !(o->off_cpu || o->waits))
		return;
	if (!plan->kernel) {
		plan_note(plan,
		          "Off-CPU stacks were not recorded: a context switch happens in the "
		          "kernel, which you may not sample (kernel.perf_event_paranoid); the "
		          "waiting times of threads are still known.");
		return;
	}
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.sample_period = 1;
	attr.enable_on_exec = plan_starts_with_command(plan, o);
	plan_add_event(plan, "context-switches", ATTR_SWITCH, &attr);
}

static void add_tracking(struct plan *plan, const struct session_options *o)
{
	struct perf_event_attr attr = plan_common_attr(plan, o);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_period = 1;
	plan_remove_stacks(&attr);
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	attr.mmap_data = o->data_addresses;
	/*
	 * In a pid namespace, outer processes have pid 0 like the idle task: switches are useless.
	 */
	attr.context_switch = !(plan->machine_wide && rights_pid_namespace());
	attr.build_id = 1;
	attr.ksymbol = plan->kernel;
	attr.cgroup = plan->cgroups;
	plan_add_event(plan, "dummy", ATTR_TRACK, &attr);
}

static void find_rights(struct plan *plan, const struct session_options *o)
{
	plan->machine_wide = o->machine_wide || o->waits;
	plan->kernel = may_open(0, -1, false);
	if (plan->machine_wide && !may_open(-1, 0, false)) {
		plan->machine_wide = false;
		if (o->machine_wide)
			plan_note(plan, "You may not sample the whole machine: only your own "
			                "processes were "
			                "sampled. "
			                "Root, CAP_PERFMON or 'sysctl "
			                "kernel.perf_event_paranoid=-1' remove "
			                "that.");
	}
	if (plan->machine_wide && rights_pid_namespace())
		plan_note(plan, "This is a container with its own process ids: processes outside "
		                "it have pid 0 and wrong names, and their time in the kernel "
		                "counts as idle. 'docker run --pid=host' removes the restriction.");
	if (!plan->kernel)
		plan_note(plan, "You may not sample the kernel: time in it is on-CPU time without "
		                "samples. Root, CAP_PERFMON or 'sysctl "
		                "kernel.perf_event_paranoid=1' remove the restriction.");
}

static void find_unwinding(struct plan *plan, const struct session_options *o)
{
	plan->unwind = o->unwind && can_unwind(o->stack_bytes);
	if (o->unwind && !plan->unwind)
		plan_note(plan,
		          "Stacks were followed by frame pointers: this kernel or machine cannot "
		          "copy registers and stacks. Stacks end at code without frame "
		          "pointers.");
}

static void find_cgroups(struct plan *plan, const struct session_options *o)
{
	plan->cgroups = o->all_cgroups && can_tell_cgroups();
	if (o->all_cgroups && !plan->cgroups)
		plan_note(plan, "Cgroups were not recorded: this kernel does not report them "
		                "(before Linux 5.7, or without CONFIG_CGROUP_PERF).");
}

int plan_make(struct plan *plan, const struct session_options *o, struct error *err)
{
	int status = 0;

	plan->frequency_hz = allowed_hz(o->frequency_hz);
	find_rights(plan, o);
	find_unwinding(plan, o);
	find_cgroups(plan, o);
	plan_find_waits(plan, o);
	for (size_t i = 0; !status && i < o->event_count; i++)
		status = add_sampled(plan, o, o->events[i], err);
	if (!status && !o->event_count)
		status = add_sampled(plan, o, perf_event_default(), err);
	if (status)
		return status;
	note_rate(plan, o->frequency_hz);
	add_witness(plan, o);
	add_off_cpu(plan, o);
	plan_add_waits(plan, o);
	status = plan_add_system_calls(plan, o, err);
	if (status)
		return status;
	add_tracking(plan, o);
	return 0;
}

void plan_done(struct plan *plan)
{
	vec_each (event, &plan->events) {
		vec_done(&event->ids);
		free(event->filter);
	}
	vec_each (note, &plan->notes)
		free(*note);
	vec_done(&plan->own);
	vec_done(&plan->events);
	vec_done(&plan->notes);
}

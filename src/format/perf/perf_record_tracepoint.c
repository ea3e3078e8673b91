/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/perf_record_internal.h"

#include "format/perf/tracepoint_format.h"

#include <string.h>

/* The kernel's TASK_REPORT_MAX: the thread was preempted, whatever its state was. */
#define STATE_PREEMPTED 0x100

/* Bits of common_flags (enum trace_flag_type of the kernel). */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10
#define FLAG_NMI 0x40

static struct perf_raw_field find_field(const struct tracepoint *t, const char *name)
{
	vec_each (f, &t->fields)
		if (!strcmp(f->name, name) && f->kind == TRACEPOINT_NUMBER &&
		    f->place == TRACEPOINT_FIXED && f->size <= sizeof(uint64_t))
			return (struct perf_raw_field){(uint16_t)f->offset, (uint8_t)f->size,
			                               f->is_signed};
	return (struct perf_raw_field){0};
}

static enum perf_scheduling_kind kind_of(const struct tracepoint *t)
{
	if (!t->system || strcmp(t->system, "sched") != 0 || !t->name)
		return PERF_SCHEDULING_NONE;
	if (!strcmp(t->name, "sched_switch"))
		return PERF_SCHEDULING_SWITCH;
	if (!strcmp(t->name, "sched_waking") || !strcmp(t->name, "sched_wakeup"))
		return PERF_SCHEDULING_WAKE;
	return !strcmp(t->name, "sched_wakeup_new") ? PERF_SCHEDULING_WAKE_NEW
	                                            : PERF_SCHEDULING_NONE;
}

static void set_scheduling(struct perf_layout *layout, const struct tracepoint *t)
{
	struct perf_scheduling_layout l = {.kind = (uint8_t)kind_of(t)};
	bool is_switch = l.kind == PERF_SCHEDULING_SWITCH;

	if (!l.kind)
		return;
	l.tid = find_field(t, is_switch ? "next_pid" : "pid");
	l.own_tid = find_field(t, is_switch ? "prev_pid" : "common_pid");
	l.flags = find_field(t, "common_flags");
	if (is_switch)
		l.state = find_field(t, "prev_state");
	else
		l.target_cpu = find_field(t, "target_cpu");
	if (!l.tid.size || !l.own_tid.size || !l.flags.size || (is_switch && !l.state.size))
		return;
	layout->scheduling = l;
}

/* The first number of an array of numbers. */
static struct perf_raw_field find_first(const struct tracepoint *t, const char *name)
{
	vec_each (f, &t->fields)
		if (!strcmp(f->name, name) && f->kind == TRACEPOINT_BYTES &&
		    f->place == TRACEPOINT_FIXED && f->size >= sizeof(uint64_t))
			return (struct perf_raw_field){(uint16_t)f->offset, sizeof(uint64_t),
			                               f->is_signed};
	return (struct perf_raw_field){0};
}

static void set_system_call(struct perf_layout *layout, const struct tracepoint *t)
{
	struct perf_system_call_layout l = {.number = find_field(t, "id")};

	if (!t->system || strcmp(t->system, "raw_syscalls") != 0 || !t->name)
		return;
	if (!strcmp(t->name, "sys_enter")) {
		l.kind = PERF_SYSTEM_CALL_ENTER;
		l.argument = find_first(t, "args");
	} else if (!strcmp(t->name, "sys_exit")) {
		l.kind = PERF_SYSTEM_CALL_EXIT;
		l.result = find_field(t, "ret");
	}
	if (l.number.size && (l.argument.size || l.result.size))
		layout->system_call = l;
}

static void set_contention(struct perf_layout *layout, const struct tracepoint *t)
{
	struct perf_contention_layout l = {.address = find_field(t, "lock_addr")};

	if (!t->system || strcmp(t->system, "lock") != 0 || !t->name)
		return;
	if (!strcmp(t->name, "contention_begin")) {
		l.kind = PERF_CONTENTION_BEGIN;
		l.detail = find_field(t, "flags");
	} else if (!strcmp(t->name, "contention_end")) {
		l.kind = PERF_CONTENTION_END;
		l.detail = find_field(t, "ret");
	}
	if (l.address.size && l.detail.size)
		layout->contention = l;
}

void perf_decoder_set_tracepoint(struct perf_decoder *d, uint16_t attr, const struct tracepoint *t)
{
	if (attr >= d->layouts.count)
		return;
	set_scheduling(&d->layouts.items[attr], t);
	set_system_call(&d->layouts.items[attr], t);
	set_contention(&d->layouts.items[attr], t);
}

/* Little endian, as all machines that assay supports; false: the bytes end before the field. */
static bool take(const struct perf_raw_field *f, const struct event_sample *s, int64_t *value)
{
	unsigned unused = 64 - 8 * f->size;
	uint64_t bits = 0;

	if (f->offset + f->size > s->raw_size)
		return false;
	memcpy(&bits, s->raw + f->offset, f->size);
	*value = f->is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
	return true;
}

static uint8_t context_of(int64_t flags)
{
	return (uint8_t)((flags & (FLAG_HARDIRQ | FLAG_NMI) ? EVENT_IN_INTERRUPT : 0) |
	                 (flags & FLAG_SOFTIRQ ? EVENT_IN_SOFTIRQ : 0));
}

void perf_decode_scheduling(const struct perf_scheduling_layout *l, struct event_sample *s)
{
	int64_t tid, own_tid, flags, state = 0, target_cpu = -1;

	if (!s->raw || !take(&l->tid, s, &tid) || !take(&l->own_tid, s, &own_tid) ||
	    !take(&l->flags, s, &flags) || (l->state.size && !take(&l->state, s, &state)) ||
	    (l->target_cpu.size && !take(&l->target_cpu, s, &target_cpu)))
		return;
	s->scheduling = (struct event_scheduling){
	        .known = true,
	        .is_new = l->kind == PERF_SCHEDULING_WAKE_NEW,
	        .context = context_of(flags),
	        .tid = (int32_t)tid,
	        .own_tid = (int32_t)own_tid,
	        .target_cpu = (int32_t)target_cpu,
	        .state = state & STATE_PREEMPTED ? 0 : state,
	};
}

void perf_decode_system_call(const struct perf_system_call_layout *l, struct event_sample *s)
{
	bool exit = l->kind == PERF_SYSTEM_CALL_EXIT;
	int64_t number, value;

	if (!s->raw || !take(&l->number, s, &number) ||
	    !take(exit ? &l->result : &l->argument, s, &value))
		return;
	s->system_call = (struct event_system_call){
	        .known = true,
	        .exit = exit,
	        .number = number,
	        .argument = exit ? 0 : (uint64_t)value,
	        .result = exit ? value : 0,
	};
}

void perf_decode_contention(const struct perf_contention_layout *l, struct event_sample *s)
{
	bool end = l->kind == PERF_CONTENTION_END;
	int64_t address, detail;

	if (!s->raw || !take(&l->address, s, &address) || !take(&l->detail, s, &detail))
		return;
	s->contention = (struct event_contention){
	        .known = true,
	        .end = end,
	        .address = (uint64_t)address,
	        .flags = end ? 0 : (uint32_t)detail,
	        .result = end ? (int32_t)detail : 0,
	};
}

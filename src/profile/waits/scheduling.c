/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/waits/scheduling.h"

#include "profile/waits/wait_log.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#define TID_MAX (1 << 22) /* the kernel's PID_MAX_LIMIT */

#define STATE_UNINTERRUPTIBLE 2

/* perf's numbers of registers: the system call's result, and its first argument. */
#define X86_AX 0
#define X86_DI 5
#define ARM64_X0 0
#define X86_IN_SYSTEM_CALL ((uint64_t)-ENOSYS) /* the entry of a system call sets it */

static void set(struct kernel_tids *k, int32_t tid, uint32_t thread)
{
	if (tid <= 0 || tid > TID_MAX)
		return;
	while (k->threads.count <= (size_t)tid)
		vec_push(&k->threads, ID_NONE);
	k->threads.items[tid] = thread;
}

void kernel_tids_set(struct kernel_tids *k, int32_t tid, uint32_t thread)
{
	if (k->wanted && !k->foreign)
		set(k, tid, thread);
}

void kernel_tids_learn(struct kernel_tids *k, const struct event *e, uint32_t thread)
{
	int32_t own = e->sample.scheduling.own_tid;
	/* A thread that exits has no id in its namespace any more: -1. */
	bool differs = e->tid > 0 ? own != e->tid : e->tid == 0 && own > 0;

	if (!k->wanted)
		return;
	if (differs && !k->foreign) {
		k->foreign = true;
		k->threads.count = 0;
	}
	if (thread != ID_NONE)
		set(k, own, thread);
}

uint32_t kernel_tids_find(const struct kernel_tids *k, int32_t tid)
{
	return tid > 0 && (size_t)tid < k->threads.count ? k->threads.items[tid] : ID_NONE;
}

void kernel_tids_renumber(struct kernel_tids *k, const uint32_t *new_thread, size_t thread_count)
{
	vec_each (thread, &k->threads)
		*thread = *thread < thread_count ? new_thread[*thread] : ID_NONE;
}

void kernel_tids_done(struct kernel_tids *k)
{
	vec_done(&k->threads);
}

static bool has_fields(const struct recording *r, const struct recording_attr *a)
{
	if (a->type != PERF_TYPE_TRACEPOINT || !(a->sample_type & PERF_SAMPLE_RAW))
		return false;
	vec_each (t, &r->tracepoints)
		if (t->id == a->config)
			return true;
	return false;
}

bool scheduling_has_wakings(const struct recording *r)
{
	vec_each (a, &r->attrs)
		if (a->role == ATTR_WAKE && has_fields(r, a))
			return true;
	return false;
}

/* perf's options that select processes; their events do not report the return to a CPU. */
static bool is_of_processes(const char *cmdline)
{
	static const char *const options[] = {" -p", " -t", " -u", " --pid", " --tid", " --uid"};

	for (size_t i = 0; cmdline && i < sizeof(options) / sizeof(*options); i++)
		if (strstr(cmdline, options[i]))
			return true;
	return false;
}

uint16_t scheduling_switch_attr(const struct recording *r)
{
	uint16_t found = EVENT_NO_ATTR;

	if (r->account.present ? !r->account.machine_wide : is_of_processes(r->cmdline))
		return EVENT_NO_ATTR;
	vec_each (a, &r->attrs) {
		if (a->context_switch)
			return EVENT_NO_ATTR;
		if (a->role == ATTR_SWITCH && has_fields(r, a) && recording_attr_may_be_of_cpus(a))
			found = (uint16_t)(a - r->attrs.items);
	}
	return found;
}

static bool take_register(const struct event_sample *s, unsigned number, uint64_t *value)
{
	if (!s->regs || !(s->regs_mask >> number & 1))
		return false;
	*value = s->regs[__builtin_popcountll(s->regs_mask & ((UINT64_C(1) << number) - 1))];
	return true;
}

/* A thread that blocks in a page fault has user registers, too, and is in no system call. */
static bool take_argument(const struct event_sample *s, bool is_arm64, uint64_t *argument)
{
	uint64_t ax;

	if (is_arm64)
		return take_register(s, ARM64_X0, argument);
	return (!take_register(s, X86_AX, &ax) || ax == X86_IN_SYSTEM_CALL) &&
	       take_register(s, X86_DI, argument);
}

void scheduling_place(struct counter_update *n, const struct event *e, const struct kernel_tids *k,
                      bool is_arm64)
{
	const struct event_scheduling *s = &e->sample.scheduling;
	bool is_runnable = s->known && !s->state;

	n->instead = s->known ? kernel_tids_find(k, s->tid) : ID_NONE;
	n->amount = 0;
	n->flags = 0;
	if (s->known)
		n->flags |= PLACE_STATE_KNOWN;
	if (is_runnable)
		n->flags |= PLACE_RUNNABLE;
	if (s->known && s->state & STATE_UNINTERRUPTIBLE)
		n->flags |= PLACE_UNINTERRUPTIBLE;
	if (!is_runnable && take_argument(&e->sample, is_arm64, &n->amount))
		n->flags |= PLACE_IN_SYSTEM_CALL;
}

/* The idle task wakes threads only for interrupts, and for other CPUs. */
void scheduling_wake(struct counter_update *n, const struct event *e, const struct kernel_tids *k,
                     bool is_arm64)
{
	const struct event_scheduling *s = &e->sample.scheduling;

	n->woken = kernel_tids_find(k, s->tid);
	n->is_new = s->is_new;
	n->flags = s->context & EVENT_IN_INTERRUPT ? WAIT_BY_INTERRUPT
	           : s->context & EVENT_IN_SOFTIRQ ? WAIT_BY_SOFTIRQ
	           : s->own_tid == 0               ? WAIT_BY_INTERRUPT
	                                           : WAIT_BY_THREAD;
	if (n->flags == WAIT_BY_INTERRUPT)
		n->thread = n->process = ID_NONE;
	/* A softirq may be that of a packet which the thread itself sends (loopback). */
	if (n->flags == WAIT_BY_INTERRUPT || !take_argument(&e->sample, is_arm64, &n->amount))
		n->amount = WAIT_NO_ARGUMENT;
}

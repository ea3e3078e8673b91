/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/ledger/switch_log.h"

#define ENDED UINT64_MAX /* out_ns of a thread that exited */

static struct switch_absence *open_of(struct switch_log *l, uint32_t thread)
{
	return vec_at(&l->open, thread);
}

static void add(struct switch_log *l, const struct switch_absence *a)
{
	if (l->absences.count < (l->max ? l->max : SWITCH_LOG_MAX))
		vec_push(&l->absences, *a);
	else
		l->beyond++;
}

void switch_log_switch(struct switch_log *l, uint32_t thread, uint16_t cpu, uint64_t time_ns,
                       bool out, bool preempted)
{
	struct switch_absence *a;

	if (!l->wanted || !time_ns)
		return;
	a = open_of(l, thread);
	if (a->out_ns == ENDED)
		return;
	if (out) {
		*a = (struct switch_absence){
		        .out_ns = time_ns, .thread = thread, .cpu = cpu, .preempted = preempted};
		return;
	}
	a->in_ns = time_ns;
	if (a->out_ns)
		add(l, a);
	*a = (struct switch_absence){0};
}

void switch_log_exit(struct switch_log *l, uint32_t thread)
{
	if (l->wanted)
		open_of(l, thread)->out_ns = ENDED;
}

void switch_log_discard(struct switch_log *l, uint64_t from_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->absences.count; i++)
		if (l->absences.items[i].in_ns > from_ns)
			l->absences.items[kept++] = l->absences.items[i];
	l->absences.count = kept;
	l->beyond = 0;
	vec_each (a, &l->open)
		if (a->out_ns && a->out_ns < from_ns)
			a->out_ns = from_ns;
}

void switch_log_finish(struct switch_log *l)
{
	vec_each (a, &l->open)
		if (a->out_ns && a->out_ns != ENDED)
			add(l, a);
	vec_done(&l->open);
}

void switch_log_done(struct switch_log *l)
{
	vec_done(&l->absences);
	vec_done(&l->open);
}

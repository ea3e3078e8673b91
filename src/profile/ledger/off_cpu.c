/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/ledger/off_cpu.h"

static struct off_cpu_thread *thread_of(struct off_cpu *o, uint32_t thread)
{
	return vec_at(&o->threads, thread);
}

void off_cpu_sample(struct off_cpu *o, uint32_t thread, const struct profile_row *key)
{
	struct off_cpu_thread *t = thread_of(o, thread);

	t->has_row = true;
	t->key = *key;
}

static struct profile_row *row_of(struct off_cpu *o, uint32_t thread,
                                  const struct off_cpu_thread *t)
{
	struct profile_row key = {.path = o->unknown_path,
	                          .thread = thread,
	                          .region = REGION_NONE,
	                          .cpu = t->cpu,
	                          .event = o->event,
	                          .mode = PROFILE_UNKNOWN};

	return profile_row_add(o->profile, t->has_row ? &t->key : &key);
}

static void charge(struct off_cpu *o, uint32_t thread, struct off_cpu_thread *t, uint64_t time_ns)
{
	uint64_t since_ns = t->out_ns > o->start_ns ? t->out_ns : o->start_ns;
	uint64_t ns = time_ns > since_ns ? time_ns - since_ns : 0, blocked = ns;
	struct profile_row *row;

	if (!t->out || (o->part && !ns))
		return;
	row = row_of(o, thread, t);
	if (t->preempted)
		blocked = 0;
	else if (t->woken_ns && t->woken_ns < time_ns)
		blocked = t->woken_ns > since_ns ? t->woken_ns - since_ns : 0;
	row->blocked_ns += blocked;
	row->runnable_ns += ns - blocked;
}

void off_cpu_wake(struct off_cpu *o, uint32_t thread, uint64_t time_ns)
{
	struct off_cpu_thread *t;

	if (!o->active)
		return;
	t = thread_of(o, thread);
	if (!t->out || t->woken_ns <= t->out_ns)
		t->woken_ns = time_ns;
}

void off_cpu_switch(struct off_cpu *o, uint32_t thread, uint16_t cpu, uint64_t time_ns, bool out,
                    bool preempted)
{
	struct off_cpu_thread *t;

	if (!o->active)
		return;
	t = thread_of(o, thread);
	if (t->ended)
		return;
	if (!out) {
		charge(o, thread, t, time_ns);
		*t = (struct off_cpu_thread){0};
		return;
	}
	t->out = true;
	t->preempted = preempted;
	t->out_ns = time_ns;
	t->cpu = cpu;
}

void off_cpu_exit(struct off_cpu *o, uint32_t thread)
{
	/* The thread's last switch comes later, and the thread never returns from it. */
	if (o->active)
		*thread_of(o, thread) = (struct off_cpu_thread){.ended = true};
}

void off_cpu_cut(struct off_cpu *o, uint64_t to_ns)
{
	for (uint32_t i = 0; i < o->threads.count; i++) {
		struct off_cpu_thread *t = &o->threads.items[i];

		charge(o, i, t, to_ns);
		if (t->out && t->out_ns < to_ns)
			t->out_ns = to_ns;
	}
	o->start_ns = to_ns;
}

void off_cpu_renumber(struct off_cpu *o, const uint32_t *new_thread, size_t thread_count,
                      uint32_t unknown_path)
{
	struct off_cpu now = *o;

	now.threads.items = NULL;
	now.threads.count = now.threads.room = 0;
	now.unknown_path = unknown_path;
	for (uint32_t i = 0; i < o->threads.count && i < thread_count; i++) {
		struct off_cpu_thread t = o->threads.items[i];

		if (new_thread[i] == ID_NONE)
			continue;
		t.has_row = false;
		*thread_of(&now, new_thread[i]) = t;
	}
	off_cpu_done(o);
	*o = now;
}

void off_cpu_finish(struct off_cpu *o, uint64_t end_ns)
{
	for (uint32_t i = 0; i < o->threads.count; i++)
		charge(o, i, &o->threads.items[i], end_ns);
}

void off_cpu_done(struct off_cpu *o)
{
	vec_done(&o->threads);
}

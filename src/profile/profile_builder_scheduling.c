/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile_builder_internal.h"

#include <string.h>

void profile_builder_begin_scheduling(struct profile_builder *b)
{
	const struct recording *r = b->recording;
	struct wait_log *waits = &b->profile->waits;

	b->is_arm64 = r->arch && !strcmp(r->arch, "aarch64");
	b->switch_attr = scheduling_switch_attr(r);
	b->tids.wanted =
	        scheduling_has_wakings(r) || b->switch_attr != EVENT_NO_ATTR || waits->wanted;
	if (!waits->wanted)
		return;
	waits->has_wakings |= scheduling_has_wakings(r);
	waits->unknown_path = profile_path_add(b->profile, PATH_ROOT, 0);
}

/* The switch from the sample's thread to the next one, in place of two records. */
static void add_switches(struct profile_builder *b, const struct event *e, uint32_t thread,
                         uint32_t process)
{
	const struct process_table *processes = b->profile->processes;
	const struct event_scheduling *s = &e->sample.scheduling;
	uint32_t next = kernel_tids_find(&b->tids, s->tid);
	uint32_t next_process =
	        next == ID_NONE ? ID_NONE : process_table_thread_at(processes, next)->process;
	int32_t next_pid =
	        next == ID_NONE ? s->tid : process_table_process(processes, next_process)->pid;
	struct counter_update *n = profile_builder_note(b, e, UPDATE_SWITCH);

	n->out = n->machine_wide = true;
	n->preempted = !s->state;
	n->thread = thread;
	n->process = process;
	n->other_pid = next_pid;
	n->other = next;
	n = profile_builder_note(b, e, UPDATE_SWITCH);
	n->machine_wide = true;
	n->thread = next;
	n->process = next_process;
	n->pid = next_pid;
	n->other_pid = e->pid;
	n->other = thread;
}

void profile_builder_scheduling(struct profile_builder *b, const struct event *e,
                                const struct recording_attr *a, const struct profile_row *key,
                                uint32_t process)
{
	bool known = e->sample.scheduling.known, is_thread = e->pid > 0 && e->tid > 0;
	uint32_t thread =
	        is_thread ? key->thread : kernel_tids_find(&b->tids, e->sample.scheduling.own_tid);
	struct counter_update *n;

	if (known)
		kernel_tids_learn(&b->tids, e, is_thread ? thread : ID_NONE);
	else if (is_thread)
		kernel_tids_set(&b->tids, e->tid, thread);
	if (e->sample.contention.known && b->profile->waits.wanted && thread != ID_NONE) {
		const struct event_contention *contention = &e->sample.contention;

		n = profile_builder_note(b, e, UPDATE_CONTENTION);
		n->thread = thread;
		n->process = process;
		n->amount = contention->address;
		n->flags = (uint8_t)contention->flags;
		n->out = contention->end;
		n->preempted = contention->result != 0;
	} else if (a->role == ATTR_WAKE && known) {
		n = profile_builder_note(b, e, UPDATE_WAKE);
		n->thread = thread;
		n->process = process;
		n->waker_path = key->path;
		scheduling_wake(n, e, &b->tids, b->is_arm64);
	} else if (a->role == ATTR_SWITCH) {
		if (is_thread && b->profile->waits.wanted) {
			n = profile_builder_note(b, e, UPDATE_PLACE);
			n->thread = thread;
			n->process = process;
			n->place = key->path;
			scheduling_place(n, e, &b->tids, b->is_arm64);
			wait_addresses_add(&b->profile->waits.addresses, b->profile->processes,
			                   process, n->amount);
		}
		if (known && e->attr == b->switch_attr)
			add_switches(b, e, thread, is_thread ? process : ID_NONE);
	}
}

void profile_builder_fault(struct profile_builder *b, const struct event *e,
                           const struct profile_row *key)
{
	const char *path = image_path(&b->profile->images, key->region);
	struct counter_update *n;
	uint32_t *known;

	if (*path != '/')
		return;
	known = vec_at(&b->fault_files, key->region);
	if (!*known)
		*known = 1 + wait_log_descriptor(&b->profile->waits, ID_NONE, UINT32_MAX,
		                                 e->time_ns, path);
	if (!*known) /* too many */
		return;
	n = profile_builder_note(b, e, UPDATE_FAULT);
	n->thread = key->thread;
	n->descriptor = *known - 1;
}

/* The names are of the builder, and the counter gets their number. */
void profile_builder_descriptor(struct profile_builder *b, const struct event *e)
{
	struct process_table *processes = b->profile->processes;
	struct counter_update *n;
	uint32_t process, descriptor;

	if (!b->profile->waits.wanted || e->pid <= 0 || !e->descriptor.name)
		return;
	process =
	        process_table_thread_at(processes, process_table_thread(processes, e->pid, e->pid))
	                ->process;
	descriptor = wait_log_descriptor(&b->profile->waits, process, e->descriptor.number,
	                                 e->time_ns, e->descriptor.name);
	if (descriptor == ID_NONE)
		return;
	system_calls_file(&b->profile->system_calls, process, e->descriptor.number, descriptor);
	n = profile_builder_note(b, e, UPDATE_DESCRIPTOR);
	n->process = process;
	n->amount = e->descriptor.number;
	n->descriptor = descriptor;
}

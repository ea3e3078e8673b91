/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads a report on waits is about. */
#include "view/waits/wait_select.h"

#include "base/memory/xalloc.h"

/* The recorder's child, before it executes COMMAND, is not the command yet. */
static bool is_before_exec(const struct profile *p, uint32_t id, int32_t recorder)
{
	const struct process *process = process_table_process(p->processes, id);
	size_t count = process_table_process_count(p->processes);

	if (recorder <= 0 || process->parent == ID_NONE ||
	    process_table_process(p->processes, process->parent)->pid != recorder)
		return false;
	for (uint32_t i = 0; i < id; i++)
		if (process_table_process(p->processes, i)->pid == process->pid)
			return false;
	for (uint32_t i = id + 1; i < count; i++)
		if (process_table_process(p->processes, i)->pid == process->pid)
			return true;
	return false;
}

/* Marks the processes that were asked for; returns whether any were, also without records. */
static bool mark_targets(const struct profile *p, uint8_t *chosen)
{
	size_t count = process_table_process_count(p->processes);
	bool any = false;

	vec_each (recording, &p->recordings) {
		any |= (*recording)->account.targets.count != 0;
		vec_each (pid, &(*recording)->account.targets)
			for (uint32_t id = 0; id < count; id++)
				if (process_table_process(p->processes, id)->pid == *pid &&
				    !is_before_exec(p, id, (*recording)->account.observer_pid))
					chosen[id] = true;
	}
	return any;
}

/* A process belongs to the processes asked for if one of its ancestors does. */
static bool is_descendant(const struct profile *p, const uint8_t *chosen, uint32_t process)
{
	size_t steps = process_table_process_count(p->processes);

	while (process != ID_NONE && steps--) {
		if (chosen[process])
			return true;
		process = process_table_process(p->processes, process)->parent;
	}
	return false;
}

static bool is_idle_task(const struct process *process)
{
	return process->pid == 0;
}

/* The process that records is not part of what was asked for. */
static bool is_recorder_of(const struct recording *r, const struct process *process)
{
	return process->pid == r->account.observer_pid ||
	       (process->pid == r->account.reader_pid && process->pid);
}

static bool is_recorder(const struct profile *p, const struct process *process)
{
	vec_each (recording, &p->recordings)
		if (is_recorder_of(*recording, process))
			return true;
	return false;
}

void wait_selection_without(struct wait_selection *s, const struct profile *p,
                            const struct recording *r)
{
	size_t threads = process_table_thread_count(p->processes);

	for (uint32_t i = 0; i < threads; i++) {
		uint32_t id = process_table_thread_at(p->processes, i)->process;

		if (is_recorder_of(r, process_table_process(p->processes, id)))
			s->selected[i] = 0;
	}
}

static void select_default(struct wait_selection *s, const struct profile *p, bool all)
{
	size_t threads = process_table_thread_count(p->processes);
	uint8_t *chosen = xcalloc(process_table_process_count(p->processes) + 1, 1);
	bool targets = !all && mark_targets(p, chosen);

	s->scope = targets ? WAITS_OF_TARGETS : WAITS_OF_ALL;
	for (uint32_t i = 0; i < threads; i++) {
		uint32_t id = process_table_thread_at(p->processes, i)->process;
		const struct process *process = process_table_process(p->processes, id);

		if (targets)
			s->selected[i] = is_descendant(p, chosen, id);
		else
			s->selected[i] = !process->kernel && !is_idle_task(process) &&
			                 !is_recorder(p, process);
	}
	free(chosen);
}

static int select_filtered(struct wait_selection *s, const struct profile *p,
                           const struct filter *f, struct error *err)
{
	size_t threads = process_table_thread_count(p->processes);
	filter_ranges pids = {0}, tids = {0};
	int ret = filter_ranges_parse(&f->pid, "process", false, &pids, err);

	if (!ret)
		ret = filter_ranges_parse(&f->tid, "thread", false, &tids, err);
	s->scope = WAITS_OF_FILTER;
	for (uint32_t i = 0; !ret && i < threads; i++) {
		const struct thread *thread = process_table_thread_at(p->processes, i);
		const struct process *process =
		        process_table_process(p->processes, thread->process);

		s->selected[i] =
		        !is_idle_task(process) && filter_ranges_have(&pids, process->pid) &&
		        filter_ranges_have(&tids, thread->tid) &&
		        filter_list_has(&f->comm, process_table_name(p->processes, process->name),
		                        process_table_name(p->processes, thread->name));
	}
	vec_done(&pids);
	vec_done(&tids);
	return ret;
}

/* After its exit a thread has the number -1 in samples, which is no thread of its own. */
static void drop_exited(struct wait_selection *s, const struct profile *p)
{
	size_t threads = process_table_thread_count(p->processes);

	for (uint32_t i = 0; i < threads; i++)
		if (process_table_thread_at(p->processes, i)->tid < 0)
			s->selected[i] = 0;
}

int wait_select(struct wait_selection *s, const struct profile *p, const struct filter *f, bool all,
                struct error *err)
{
	int ret = 0;

	*s = (struct wait_selection){0};
	s->selected = xcalloc(process_table_thread_count(p->processes) + 1, 1);
	if (f->comm.count || f->pid.count || f->tid.count)
		ret = select_filtered(s, p, f, err);
	else
		select_default(s, p, all);
	drop_exited(s, p);
	return ret;
}

void wait_selection_done(struct wait_selection *s)
{
	free(s->selected);
}

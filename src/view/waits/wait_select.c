/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads a report on waits is about. */
#include "view/waits/wait_report.h"

static const struct process_table *table_of(const struct wait_report *r)
{
	return r->view->profile->processes;
}

/* Marks the processes that were asked for. */
static bool mark_targets(const struct wait_report *r, uint8_t *chosen)
{
	size_t count = process_table_process_count(table_of(r));
	bool any = false;

	vec_each (recording, &r->view->profile->recordings)
		vec_each (pid, &(*recording)->account.targets)
			for (uint32_t id = 0; id < count; id++)
				if (process_table_process(table_of(r), id)->pid == *pid)
					chosen[id] = any = true;
	return any;
}

/* A process belongs to the processes asked for if one of its ancestors does. */
static bool is_descendant(const struct wait_report *r, const uint8_t *chosen, uint32_t process)
{
	size_t steps = process_table_process_count(table_of(r));

	while (process != ID_NONE && steps--) {
		if (chosen[process])
			return true;
		process = process_table_process(table_of(r), process)->parent;
	}
	return false;
}

static bool is_idle_task(const struct process *process)
{
	return process->pid == 0;
}

/* The process that records is not part of what was asked for. */
static bool is_recorder(const struct wait_report *r, const struct process *process)
{
	vec_each (recording, &r->view->profile->recordings)
		if (process->pid == (*recording)->account.observer_pid ||
		    (process->pid == (*recording)->account.reader_pid && process->pid))
			return true;
	return false;
}

static void select_default(struct wait_report *r)
{
	size_t threads = process_table_thread_count(table_of(r));
	uint8_t *chosen = xcalloc(process_table_process_count(table_of(r)) + 1, 1);
	bool targets = !r->options->all && mark_targets(r, chosen);

	r->scope = targets ? WAITS_OF_TARGETS : WAITS_OF_ALL;
	for (uint32_t i = 0; i < threads; i++) {
		uint32_t id = process_table_thread_at(table_of(r), i)->process;
		const struct process *process = process_table_process(table_of(r), id);

		if (targets)
			r->selected[i] = is_descendant(r, chosen, id);
		else
			r->selected[i] = !process->kernel && !is_idle_task(process) &&
			                 !is_recorder(r, process);
	}
	free(chosen);
}

static int select_filtered(struct wait_report *r, struct error *err)
{
	const struct filter *f = &r->options->request.filter;
	size_t threads = process_table_thread_count(table_of(r));
	filter_ranges pids = {0}, tids = {0};
	int ret = filter_ranges_parse(&f->pid, "process", false, &pids, err);

	if (!ret)
		ret = filter_ranges_parse(&f->tid, "thread", false, &tids, err);
	r->scope = WAITS_OF_FILTER;
	for (uint32_t i = 0; !ret && i < threads; i++) {
		const struct thread *thread = process_table_thread_at(table_of(r), i);
		const struct process *process = process_table_process(table_of(r), thread->process);

		r->selected[i] =
		        !is_idle_task(process) && filter_ranges_have(&pids, process->pid) &&
		        filter_ranges_have(&tids, thread->tid) &&
		        filter_list_has(&f->comm, process_table_name(table_of(r), process->name),
		                        process_table_name(table_of(r), thread->name));
	}
	vec_done(&pids);
	vec_done(&tids);
	return ret;
}

/* After its exit a thread has the number -1 in samples, which is no thread of its own. */
static void drop_exited(struct wait_report *r)
{
	size_t threads = process_table_thread_count(table_of(r));

	for (uint32_t i = 0; i < threads; i++)
		if (process_table_thread_at(table_of(r), i)->tid < 0)
			r->selected[i] = 0;
}

int wait_select(struct wait_report *r, struct error *err)
{
	const struct filter *f = &r->options->request.filter;
	int ret = 0;

	r->selected = xcalloc(process_table_thread_count(table_of(r)) + 1, 1);
	if (f->comm.count || f->pid.count || f->tid.count)
		ret = select_filtered(r, err);
	else
		select_default(r);
	drop_exited(r);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/targets.h"

#include <unistd.h>

void targets_threads(const struct targets *t, proc_ids *threads)
{
	proc_ids own = {0};

	if (t->command)
		vec_push(threads, t->command);
	if (t->own)
		proc_list(&own, geteuid());
	for (size_t i = 0; t->pids && i < t->pids->count; i++)
		proc_threads(t->pids->items[i], threads);
	for (size_t i = 0; i < own.count; i++)
		if (own.items[i] != t->command && own.items[i] != t->helper &&
		    own.items[i] != getpid())
			proc_threads(own.items[i], threads);
	vec_done(&own);
}

void targets_children(const struct targets *t, proc_ids *pids)
{
	for (size_t i = 0; t->pids && i < t->pids->count; i++)
		proc_children(t->pids->items[i], pids);
}

void targets_processes(const struct targets *t, proc_ids *pids)
{
	if (t->command)
		vec_push(pids, t->command);
	for (size_t i = 0; t->pids && i < t->pids->count; i++)
		vec_push(pids, t->pids->items[i]);
	if (t->own)
		proc_list(pids, geteuid());
}

bool targets_gone(const struct targets *t)
{
	if (t->command || !t->pids || !t->pids->count)
		return false;
	for (size_t i = 0; i < t->pids->count; i++)
		if (!proc_has_ended(t->pids->items[i]))
			return false;
	return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/load_machines.h"

#include <string.h>

static void add_machine(struct machine_states *states, const struct store_machines *read,
                        const struct store_machine *m)
{
	const char *ended = intern_text(&read->texts, m->ended);
	const struct machine_row machine = {
	        .name = intern_add(&states->texts, intern_text(&read->texts, m->name)),
	        .version = intern_add(&states->texts, intern_text(&read->texts, m->version)),
	        .ended = intern_add(&states->texts, ended),
	        .end_ns = m->end_ns,
	        .arrived_ns = m->arrived_ns,
	        .last_window_ns = m->last_window_ns,
	        .windows = m->windows,
	        .lost_records = m->lost_records,
	        .dropped_ns = m->dropped_ns,
	        .gaps_ns = m->gaps_ns,
	        .ahead_ns = m->ahead_ns,
	        .stopped = !strcmp(ended, STORE_ENDED_STOPPED)};

	vec_push(&states->machines, machine);
}

int load_machines(struct machine_states *states, const char *path, const struct store_range *range,
                  struct error *err)
{
	struct store_machines read;
	int status = store_machines_read(path, range, &read, err);

	if (!status) {
		states->now_ns = read.now_ns;
		vec_each (m, &read.machines)
			add_machine(states, &read, m);
		machine_states_judge(states);
	}
	store_machines_done(&read);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_fixture: a process table with its images, and functions that send events to it.
 */
#ifndef ASSAY_TESTS_PROCESS_FIXTURE_H
#define ASSAY_TESTS_PROCESS_FIXTURE_H

#include "process_world.h"

#include <string.h>

static inline void task(struct world *w, enum event_kind kind, int32_t pid, int32_t tid,
                        int32_t parent, uint64_t time)
{
	struct event e = {.kind = kind, .pid = pid, .tid = tid, .time_ns = time};

	e.fork.parent_pid = e.fork.parent_tid = parent;
	e.fork.fresh = !time;
	process_table_event(w->t, &e);
}

static inline void comm(struct world *w, int32_t pid, int32_t tid, const char *name, bool exec,
                        uint64_t time)
{
	struct event e = {.kind = EVENT_COMM, .pid = pid, .tid = tid, .time_ns = time};

	e.comm.name = name;
	e.comm.exec = exec;
	process_table_event(w->t, &e);
}

static inline void map(struct world *w, int32_t pid, uint64_t addr, uint64_t size, const char *name)
{
	struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_USER, .pid = pid, .tid = pid};

	if (pid == -1)
		e.mode = CPU_MODE_KERNEL;
	e.mmap.addr = addr;
	e.mmap.size = size;
	e.mmap.pgoff = pid == -1 ? 0 : addr >> 4;
	e.mmap.filename = name;
	e.mmap.executable = true;
	e.mmap.inode = *name == '/' ? strlen(name) : 0;
	process_table_event(w->t, &e);
}

static inline void cgroup(struct world *w, uint64_t id, const char *path)
{
	struct event e = {.kind = EVENT_CGROUP, .pid = -1, .tid = -1};

	e.cgroup.id = id;
	e.cgroup.path = path;
	process_table_event(w->t, &e);
}

static inline const struct process *process_of(struct world *w, int32_t pid)
{
	uint32_t thread = process_table_thread(w->t, pid, pid);

	return process_table_process(w->t, process_table_thread_at(w->t, thread)->process);
}

static inline uint32_t id_of(struct world *w, int32_t pid)
{
	return process_table_thread_at(w->t, process_table_thread(w->t, pid, pid))->process;
}

static inline const char *name_of(struct world *w, int32_t pid)
{
	return process_table_name(w->t, process_of(w, pid)->name);
}

#endif

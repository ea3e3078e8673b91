/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_world: windows of a simulated measurement: processes are reported by the events of the
 * kernel, samples have known frames, and all sums are known.
 *
 * world_init(); then any number of: world_fork(), world_name(), world_exit(), world_sample(),
 * world_ran(); world_window() writes the data since the last call, and clears the rows.
 * world_done(). One thread. Uses: profile, store.
 */
#ifndef ASSAY_TESTS_STORE_WORLD_H
#define ASSAY_TESTS_STORE_WORLD_H

#include "profile/profile.h"
#include "store/store.h"

#include <string.h>

#define WORLD_WALL_NS UINT64_C(1700000000000000000) /* at 0 of the recording's clock */
#define WORLD_WINDOW_NS UINT64_C(10000000000)

struct world {
	struct profile *p;
	struct recording recording;
	uint32_t program, library, kernel;
	uint64_t now_ns;  /* recording's clock */
	uint64_t samples; /* in the window so far */
	int64_t set_ns;   /* the wall clock was set by this amount */
};

static inline uint32_t world_image(struct world *w, enum image_kind kind, const char *path,
                                   uint8_t build_id, uint64_t base)
{
	struct image image = {.kind = kind, .base = base};

	image.path = intern_add(&w->p->images.names, path);
	if (build_id) {
		image.build_id.size = BUILD_ID_MAX;
		memset(image.build_id.bytes, build_id, BUILD_ID_MAX);
	}
	return image_table_add(&w->p->images, &image);
}

/* A new profile, as after a restart, or after exited processes were removed. */
static inline void world_images(struct world *w, uint64_t kernel_base)
{
	struct profile_event *e;

	w->p = profile_new();
	w->program = world_image(w, IMAGE_FILE, "/usr/bin/prog", 0x11, 0);
	w->library = world_image(w, IMAGE_FILE, "/lib/libc.so.6", 0x22, 0);
	w->kernel = world_image(w, IMAGE_KERNEL, "[kernel.kallsyms]", 0x33, kernel_base);
	e = vec_add(&w->p->events);
	e->name = xstrdup("cpu-clock");
	e->role = ATTR_CLOCK;
	w->p->ledger.machine_wide = true;
}

static inline void world_init(struct world *w, const char *host)
{
	struct recording_attr *a;

	*w = (struct world){.now_ns = 1000};
	recording_init(&w->recording);
	w->recording.hostname = xstrdup(host);
	w->recording.cmdline = xstrdup("assay start");
	w->recording.clock_wall_ns = WORLD_WALL_NS;
	a = vec_add(&w->recording.attrs);
	a->name = xstrdup("cpu-clock");
	a->role = ATTR_CLOCK;
	a->frequency_hz = 97;
	a->callchain = true;
	world_images(w, UINT64_C(0xffffffff81000000));
}

static inline void world_done(struct world *w)
{
	profile_free(w->p);
	recording_done(&w->recording);
}

static inline void world_fork(struct world *w, int32_t parent, int32_t pid, int32_t tid)
{
	struct event e = {.kind = EVENT_FORK, .pid = pid, .tid = tid, .time_ns = ++w->now_ns};

	e.fork.parent_pid = e.fork.parent_tid = parent;
	process_table_event(w->p->processes, &e);
}

static inline void world_name(struct world *w, int32_t pid, int32_t tid, const char *name,
                              bool exec)
{
	struct event e = {.kind = EVENT_COMM, .pid = pid, .tid = tid, .time_ns = ++w->now_ns};

	e.comm.name = name;
	e.comm.exec = exec;
	process_table_event(w->p->processes, &e);
}

static inline void world_exit(struct world *w, int32_t pid, int32_t tid)
{
	struct event e = {.kind = EVENT_EXIT, .pid = pid, .tid = tid, .time_ns = ++w->now_ns};

	process_table_event(w->p->processes, &e);
}

/* Adds `count` samples of a thread, 1 ms each: `outer` called `inner`, both in the program. */
static inline void world_sample(struct world *w, int32_t pid, int32_t tid, uint64_t outer,
                                uint64_t inner, uint64_t count)
{
	struct profile_frame a = {.frame = {w->program, outer}, .caller = true};
	struct profile_frame b = {.frame = {w->program, inner}};
	struct profile_row key = {.region = REGION_NONE}, *row;

	key.path = profile_path_step(w->p, PATH_ROOT, &a);
	key.path = profile_path_step(w->p, key.path, &b);
	key.thread = process_table_thread(w->p->processes, pid, tid);
	row = profile_row_add(w->p, &key);
	row->samples += count;
	row->weight += count * 1000000;
	w->samples += count;
}

/* The same with one frame of any image. */
static inline void world_sample_at(struct world *w, int32_t pid, uint32_t image, uint64_t offset,
                                   bool kernel, uint64_t count)
{
	struct profile_frame f = {.frame = {image, offset}, .kernel = kernel};
	struct profile_row key = {.region = REGION_NONE, .mode = kernel}, *row;

	key.path = profile_path_step(w->p, PATH_ROOT, &f);
	key.thread = process_table_thread(w->p->processes, pid, pid);
	row = profile_row_add(w->p, &key);
	row->samples += count;
	row->weight += count * 1000000;
	w->samples += count;
}

static inline void world_ran(struct world *w, int32_t pid, uint64_t oncpu_ns, uint64_t blocked_ns)
{
	struct ledger_process *l = vec_add(&w->p->ledger.processes);
	uint32_t thread = process_table_thread(w->p->processes, pid, pid);

	l->process = process_table_thread_at(w->p->processes, thread)->process;
	l->oncpu_ns = oncpu_ns;
	l->blocked_ns = blocked_ns;
}

/* Ends the next window; its contents count as one moment. */
static inline int world_window(struct world *w, struct store *s, uint64_t number, struct error *err)
{
	struct store_buffer buffer = {
	        .cpu = 0, .ring_bytes = 4096, .used_max = 77, .has_steal = true};
	struct store_window x = {.start_ns = WORLD_WALL_NS + number * WORLD_WINDOW_NS,
	                         .samples = w->samples,
	                         .lost_records = 3,
	                         .observer_cpu_ns = 5,
	                         .period_ns = 1000000,
	                         .wall_offset_ns = (int64_t)WORLD_WALL_NS + w->set_ns,
	                         .buffers = &buffer,
	                         .buffer_count = 1};
	struct ledger_cpu *cpu = vec_add(&w->p->ledger.cpus);
	int status;

	x.start_ns += (uint64_t)w->set_ns;
	x.end_ns = x.start_ns + WORLD_WINDOW_NS;
	cpu->wall_ns = WORLD_WINDOW_NS;
	cpu->busy_ns = cpu->weight_busy = w->samples * 1000000;
	cpu->idle_ns = WORLD_WINDOW_NS - cpu->busy_ns;
	cpu->has_switches = true;
	status = store_add_window(s, w->p, &x, err);
	process_table_settle(w->p->processes);
	profile_forget_rows(w->p);
	w->samples = 0;
	w->now_ns = (number + 1) * WORLD_WINDOW_NS;
	return status;
}

#endif

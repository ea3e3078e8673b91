/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process: who ran, and what was mapped where, at each moment of a recording.
 *
 * Fed with fork, exec (comm), exit and mmap events in time order. A process
 * is an instance of a program: a reused pid is another one, and so is a pid
 * after exec. Threads belong to the instance in which they ran; a thread that
 * execs gets a new thread id here too. Ids are dense, never reused, and stay
 * good for the table's life. Uses: base, image, event.
 */
#ifndef ASSAY_PROCESS_PROCESS_H
#define ASSAY_PROCESS_PROCESS_H

#include "base/error.h"
#include "event/event.h"
#include "event/recording.h"
#include "image/image.h"

struct process {
	uint32_t name;     /* intern id in process_table.names */
	uint32_t instance; /* 1, 2, ... among instances of that name */
	int32_t pid;
	uint32_t parent;   /* id, ID_NONE unknown */
	uint64_t start_ns; /* 0: was there before the recording */
	uint64_t end_ns;   /* 0: still there at the end */
	uint64_t serial;   /* 1, 2, ... in the order in which they came; kept by _carry() */
	uint32_t cgroup;   /* intern id of its path, ID_NONE unknown; a child has its parent's */
	bool kernel;       /* a thread of the kernel's: kthreadd, or forked by it */
	bool changed;      /* since process_table_settle() */
};

struct thread {
	uint32_t process; /* id */
	uint32_t name;
	int32_t tid;
	uint64_t start_ns, end_ns; /* as above */
	uint64_t serial;           /* as above, of threads */
	bool changed;
};

/* A piece of a process's memory. Non-overlapping, sorted by start. */
struct mapping {
	uint64_t start, end; /* addresses, end is exclusive */
	uint64_t pgoff;
	uint32_t image;
	uint64_t order; /* rises with each mapping of the table */
	bool executable;
	bool generated; /* code that the process made may be there */
};

/* Who generated code, asked when the first sample of a process that can have some comes. */
struct process_jit_request {
	int32_t pid;
	const char *name;
	uint64_t start_ns; /* as in struct process */
	const char *dump;  /* the jitdump that it mapped, to tell of it; NULL: none */
	uint32_t major, minor;
	uint64_t inode; /* the jitdump's, 0 unknown */
};

/* What is known of it, finished; NULL: nothing. It belongs to the table's images then. */
struct jit_code;
typedef struct jit_code *process_jit_fn(void *ctx, const struct process_jit_request *request);

struct process_table;

/* Images are shared with the caller, and must outlive the table. */
struct process_table *process_table_new(struct image_table *images);
void process_table_free(struct process_table *t);

/*
 * Another recording begins: its pids and its kernel's maps have nothing to do
 * with those before. What is in the table stays; nothing in it is current.
 */
void process_table_restart(struct process_table *t);

/*
 * Which machine and boot the pids of the events that follow are of, and what to add to event times
 * for the time since 1970. A new table's are of this machine, now.
 */
void process_table_set_place(struct process_table *t, enum recording_place place,
                             uint64_t wall_offset_ns);

/*
 * The recorder sets up, and has not begun to sample: a process that it found in /proc may be the
 * program of an exec whose record follows, also if switch records of the process come before it.
 */
void process_table_set_up(struct process_table *t, bool is_set_up);

/* Whom to ask for names of generated code; NULL: they stay addresses. */
void process_table_set_jit(struct process_table *t, process_jit_fn *fn, void *ctx);

/*
 * Takes MMAP, COMM, FORK, EXIT, CGROUP; and LOST, for what was missed may be ends. Ignores
 * other kinds. Those of time 0 tell what ran before; who is told of so, and then by the record
 * of its birth, is one.
 */
void process_table_event(struct process_table *t, const struct event *e);
/* A build-id for files mapped under that name without one of their own. */
void process_table_build_id(struct process_table *t, const char *filename,
                            const struct build_id *id);

/* The thread's id now; one that was never announced is made up, named ":TID". */
uint32_t process_table_thread(struct process_table *t, int32_t pid, int32_t tid);

/* The thread's id now, ID_NONE where nothing was heard of it. */
uint32_t process_table_find_thread(const struct process_table *t, int32_t pid, int32_t tid);

/*
 * For measurements without an end. A new table with all that is alive in the old one, and of
 * what has ended only the last tenth of a second, whose samples may be still to come: maps,
 * names, instance numbers and serials are the same, ids are not, but in the same order. A
 * parent that ended is not known any more. `images` is the new table's; images that live maps
 * need are added to it, generated code is asked for anew. Who was only met in a stray record
 * goes if nothing was heard of it since the last time.
 */
struct process_table *process_table_carry(const struct process_table *old,
                                          const struct image_table *old_images,
                                          struct image_table *images);
/* Whoever is alive, as the events that would make a new table know it: the kernel's maps, then
 * for each process COMM, its cgroup, its threads, its maps; times are `time_ns`. */
int process_table_replay(const struct process_table *t, uint64_t time_ns,
                         int (*deliver)(void *ctx, const struct event *e, struct error *err),
                         void *ctx, struct error *err);
/*
 * For measurements without an end: names, images and mappings may take PROCESS_TABLE_BYTES.
 * Processes choose all of them: a thread may give itself a million names, and the kernel does not
 * report when a file is unmapped. Once it is full (process_table_full()), process_table_carry()
 * gives a table that is half full at most: where forgetting the dead is not enough, the processes
 * whose mappings take most lose their oldest ones. One process keeps PROCESS_MAPPINGS_MAX of them.
 * What was dropped is counted; tables for whole recordings, which are not bounded, drop nothing.
 */
#define PROCESS_TABLE_BYTES ((size_t)32 << 20)
#define PROCESS_MAPPINGS_MAX 16384
void process_table_bound(struct process_table *t);
bool process_table_full(const struct process_table *t);
size_t process_table_bytes(const struct process_table *t); /* of these three, about */
uint64_t process_table_dropped_mappings(const struct process_table *t);

/* Marks all as told: `changed` is false until something happens to one. */
void process_table_settle(struct process_table *t);
/* A sample of the process was taken in that cgroup (id as in EVENT_CGROUP). */
void process_table_in_cgroup(struct process_table *t, uint32_t process, uint64_t cgroup);

size_t process_table_thread_count(const struct process_table *t);
size_t process_table_process_count(const struct process_table *t);
const struct process *process_table_process(const struct process_table *t, uint32_t id);
const struct thread *process_table_thread_at(const struct process_table *t, uint32_t id);
const char *process_table_name(const struct process_table *t, uint32_t name);

/*
 * The frame at an address of a process, by its maps as they are now. Kernel
 * addresses by the kernel's maps, the same for all. An address in no mapping
 * gives image IMAGE_ID_UNKNOWN and the address itself.
 */
struct frame process_table_resolve(struct process_table *t, uint32_t process, enum cpu_mode mode,
                                   uint64_t address);
/* Before addresses of a sample are resolved: generated code of its process is as it was then. */
void process_table_moment(struct process_table *t, uint32_t process, uint64_t time_ns);
/*
 * A number for the maps that resolve() would use: while it is the same, so is
 * every answer. Processes that share maps since a fork have the same.
 */
uint64_t process_table_maps_version(const struct process_table *t, uint32_t process,
                                    enum cpu_mode mode);
/* The mapping of data or code at an address, NULL where none; good until the next event. */
const struct mapping *process_table_mapping(struct process_table *t, uint32_t process,
                                            uint64_t address);

#endif

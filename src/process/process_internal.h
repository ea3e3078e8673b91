/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_internal: what the files of process.h share. Life cycle and threads
 * are those of process.h. Uses: base, event, image.
 */
#ifndef ASSAY_PROCESS_INTERNAL_H
#define ASSAY_PROCESS_INTERNAL_H

#include "image/jit_code.h"
#include "process/map_set.h"
#include "process/pid_map.h"
#include "process/process.h"

/*
 * Maps of processes that ended are kept for this many more ends: samples of
 * the last steps of a thread may still come, in the kernel or, where threads
 * are recorded alone, of others that nobody announced.
 */
#define ENDED_KEPT 1024

/* Of a process that has memory for generated code. */
struct process_jit {
	char *dump; /* the jitdump that it announced, NULL: none */
	uint32_t major, minor;
	uint64_t inode;
	bool sought;           /* names were asked for */
	bool own;              /* they are not those of the process that forked it */
	struct jit_code *code; /* the image's; NULL: there is none */
	uint32_t image;
	/* The version of its maps and of the code in them, and for which state of both. */
	uint64_t version, maps_version;
	size_t reached;
};

/* What the table knows of a process besides what it shows. */
struct process_state {
	struct map_set *maps;    /* NULL: none yet, or given up */
	uint32_t live_threads;   /* known and not ended */
	bool provisional;        /* name made up or the parent's: the first COMM sets it */
	bool forked;             /* with the memory of its parent */
	bool announced;          /* by a record of its own; else met in one of another kind */
	bool seen;               /* something that has a time was heard of it */
	uint64_t cgroup;         /* number that p->cgroup is the path of, 0 none */
	struct process_jit *jit; /* NULL: nothing generated is known */
};

struct thread_state {
	uint64_t heard; /* the moment when it was, last */
	bool announced, seen;
};

struct cgroup_path {
	uint64_t id;
	uint32_t path; /* in names */
};

struct named_build_id {
	uint32_t name; /* in images->names */
	struct build_id id;
};

struct process_table {
	struct image_table *images;
	struct intern names;
	VEC(struct process) processes;
	VEC(struct process_state) states; /* by process id */
	VEC(struct thread) threads;
	VEC(struct thread_state) thread_states; /* by thread id, as far as any was written */
	VEC(uint32_t) instances;                /* by name: the last number given */
	VEC(uint64_t) named;                    /* by name: serial of the last process of it */
	uint32_t *forgotten;                    /* process_instances.c; NULL: no name was */
	struct pid_map by_pid, by_tid;
	VEC(struct cgroup_path) cgroups;
	struct id_table cgroup_index;
	VEC(struct named_build_id) build_ids;
	struct map_set *kernel;
	size_t mappings_held; /* that all sets have room for */
	uint64_t mapping_order, dropped_mappings;
	size_t full_bytes; /* PROCESS_TABLE_BYTES, or more where threads alive have that many names
	                    */
	bool bounded;
	uint32_t kernel_image; /* ID_NONE: no mapping of the kernel was told */
	uint64_t version;
	uint64_t process_serial, thread_serial; /* the last ones given */
	uint64_t carried_serial;                /* of processes, when this table began */
	/*
	 * Counts on with each thread that begins, each time that records were lost, and
	 * when the table is carried on: in between, the order does not matter.
	 */
	uint64_t moment, carried_moment;
	uint64_t lost_moment;       /* who was heard last before may be gone; 0: nothing was lost */
	uint32_t ended[ENDED_KEPT]; /* ring of process ids */
	size_t ended_count;
	uint32_t last_thread; /* what process_table_thread() found last */
	bool is_set_up;       /* the recorder has not begun to sample */
	bool recorded;        /* events are of `place`, not of this moment */
	enum recording_place place;
	uint64_t wall_offset_ns;
	process_jit_fn *jit_fn; /* NULL: generated code stays without names */
	void *jit_ctx;
};

/* A file was mapped: if it is the process's jitdump, its names are wanted. */
void process_jit_mapped(struct process_table *t, uint32_t process, const struct event *e);
/* The process ended, or goes on after all: whether what was written since is its own. */
void process_jit_ended(struct process_table *t, uint32_t process, uint64_t time_ns);
void process_jit_free(struct process_jit *jit);

/* Who has the pid now; made up where nobody was announced. */
uint32_t process_of_pid(struct process_table *t, int32_t pid);
/* process_mmap.c: an EVENT_MMAP. */
void process_mapped(struct process_table *t, const struct event *e);
struct thread_state *process_thread_state(struct process_table *t, uint32_t thread);
void process_drop_maps(struct process_table *t, uint32_t process);

/* process_bound.c: of a table that is about to be carried on, the mappings that stay. */
struct process_kept_maps {
	bool *image_kept; /* scratch, by image */
	uint64_t *shared; /* by image: mappings that lead to it */
	size_t set_bytes; /* that one set may take; SIZE_MAX: any */
};

void process_kept_maps_init(struct process_kept_maps *k, const struct process_table *t,
                            const struct image_table *images, const bool *process_kept);
void process_kept_maps_done(struct process_kept_maps *k);
/* The lowest order of a mapping of the set that stays. */
uint64_t process_kept_maps_order(const struct process_kept_maps *k, const struct map_set *s,
                                 const struct image_table *images);

/* process_instances.c: numbers among the processes of one name, none given twice. */
uint32_t process_instance_next(struct process_table *t, uint32_t name);
/* It was not used after all. */
void process_instance_return(struct process_table *t, uint32_t name, uint32_t instance);
void process_instances_carry(struct process_table *t, const struct process_table *old);

/* process_cgroup.c */
void process_cgroup_event(struct process_table *t, const struct event *e);
void process_cgroup_told(struct process_table *t, uint64_t id, const char *path);
/* In which one a process is, as its parent was or its program before. */
void process_cgroup_inherit(struct process_table *t, uint32_t process, uint32_t from);
void process_cgroups_carry(struct process_table *t, const struct process_table *old);

#endif

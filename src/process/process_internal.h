/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_internal: declarations shared by the files of process.h. Life cycle and threads are those
 * of process.h. Uses: base, event, image.
 */
#ifndef ASSAY_PROCESS_PROCESS_INTERNAL_H
#define ASSAY_PROCESS_PROCESS_INTERNAL_H

#include "image/jit_code.h"
#include "process/map_set.h"
#include "process/pid_map.h"
#include "process/process.h"

/*
 * The maps of an ended process are kept until this many more processes have ended. Samples may
 * still come from the end of a thread in the kernel, or, if single threads are recorded, from
 * threads without a record of their own.
 */
#define ENDED_KEPT 1024

/* State of a process that has memory for generated code. */
struct process_jit {
	char *dump; /* path of the jitdump that it mapped, NULL: none */
	uint32_t major, minor;
	uint64_t inode;
	bool sought;           /* names were looked up */
	bool own;              /* the names are its own, not those of its parent */
	struct jit_code *code; /* of the image; NULL: none */
	uint32_t image;
	/*
	 * version: of the maps with their code; maps_version: the version of the maps for which it
	 * was set.
	 */
	uint64_t version, maps_version;
	size_t reached;
	uint64_t round;    /* of the table, when names were looked up the last time */
	uint32_t replaced; /* number of times that other code took the place of the code */
};

/* Internal state of a process. */
struct process_state {
	struct map_set *maps;  /* NULL: none yet, or released */
	uint32_t live_threads; /* known threads that have not ended */
	bool provisional;      /* the name is made up or the parent's: the first COMM replaces it */
	bool forked;           /* with the memory of its parent */
	bool announced;  /* a record reported its start; else only other records mentioned it */
	bool seen;       /* an event after the start of sampling mentioned it */
	uint64_t cgroup; /* the cgroup's number, whose path is p->cgroup; 0: none */
	struct process_jit *jit; /* NULL: no generated code is known */
};

struct thread_records {
	uint64_t heard; /* moment of the last record about it */
	bool announced, seen;
	uint8_t renames;   /* up to RENAMES_SHARED (process.c) */
	uint32_t own_name; /* its own id in names, after so many renames; 0: none */
};

struct cgroup_path {
	uint64_t id;
	uint32_t path; /* in names */
};

/* Code that the kernel generated. */
struct kernel_code {
	uint64_t start, end;
	uint32_t name; /* in names; ID_NONE: the code is gone */
	bool bpf;
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
	VEC(struct thread_records) thread_states; /* by thread id, up to the last stored state */
	VEC(uint32_t) instances;                  /* by name: the last number given */
	VEC(uint64_t) named;                      /* by name: serial of the last process of it */
	uint32_t *forgotten; /* process_instances.c; NULL: no name was dropped */
	struct pid_map by_pid, by_tid;
	VEC(struct cgroup_path) cgroups;
	struct id_table cgroup_index;
	uint32_t labels; /* of all processes, in names; ID_NONE: none */
	VEC(struct named_build_id) build_ids;
	struct map_set *kernel;
	VEC(struct kernel_code) kernel_code; /* ascending */
	size_t mappings_held;                /* capacity of all sets */
	uint64_t mapping_order, dropped_mappings;
	size_t full_bytes; /* PROCESS_TABLE_BYTES, or more if live threads have that many names */
	bool bounded;
	uint32_t kernel_image; /* ID_NONE: no mapping of the kernel was reported */
	uint64_t version;
	uint64_t process_serial, thread_serial; /* last serials used */
	uint64_t carried_serial;                /* process_serial when this table began */
	/*
	 * Increases when a thread starts, when records were lost, and when the table is carried.
	 * The order of events between two increases does not matter.
	 */
	uint64_t moment, carried_moment;
	uint64_t lost_moment; /* a thread last active before this may have ended; 0: no record was
	                         lost */
	uint32_t ended[ENDED_KEPT]; /* ring of process ids */
	size_t ended_count;
	uint32_t last_thread; /* last result of process_table_thread() */
	bool is_set_up;       /* the recorder has not begun to sample */
	bool recorded;        /* events come from `place`, not from the present moment */
	enum recording_place place;
	uint64_t wall_offset_ns;
	process_jit_fn *jit_fn; /* NULL: generated code has no names */
	void *jit_ctx;
	process_jit_again_fn *jit_again; /* NULL: names are complete */
	uint64_t jit_round;
};

/* A file was mapped. If it is the process's jitdump, its names are looked up later. */
void process_jit_mapped(struct process_table *t, uint32_t process, const struct event *e);
/*
 * The process ended, or turned out to be alive: decides whether files written later belong to it.
 */
void process_jit_ended(struct process_table *t, uint32_t process, uint64_t time_ns);
void process_jit_free(struct process_jit *jit);

/* The present owner of the pid. It is added if no record reported it. */
uint32_t process_of_pid(struct process_table *t, int32_t pid);
/* process_mmap.c: handles an EVENT_MMAP. */
void process_mapped(struct process_table *t, const struct event *e);
struct thread_records *process_thread_state(struct process_table *t, uint32_t thread);
void process_drop_maps(struct process_table *t, uint32_t process);

/* process_kernel_code.c: handles an EVENT_KERNEL_CODE. */
void process_kernel_code_event(struct process_table *t, const struct event *e);
/* Resolves an address of the kernel; false: it is not in generated code with a name. */
bool process_kernel_code_find(const struct process_table *t, uint64_t address, struct frame *frame);
void process_kernel_code_carry(struct process_table *t, const struct process_table *old);
int process_kernel_code_replay(const struct process_table *t, uint64_t time_ns,
                               int (*deliver)(void *ctx, const struct event *e, struct error *err),
                               void *ctx, struct error *err);

/* process_bound.c: the mappings that stay when a table is carried. */
struct process_kept_maps {
	bool *image_kept; /* scratch, by image */
	uint64_t *shared; /* by image: number of mappings of it */
	size_t set_bytes; /* limit of one set; SIZE_MAX: none */
};

void process_kept_maps_init(struct process_kept_maps *k, const struct process_table *t,
                            const struct image_table *images, const bool *process_kept);
void process_kept_maps_done(struct process_kept_maps *k);
/* The lowest order of the set's mappings that stay. */
uint64_t process_kept_maps_order(const struct process_kept_maps *k, const struct map_set *s,
                                 const struct image_table *images);

/* process_instances.c: instance numbers of one name, each used once. */
uint32_t process_instance_next(struct process_table *t, uint32_t name);
/* Releases a number that was not used. */
void process_instance_return(struct process_table *t, uint32_t name, uint32_t instance);
void process_instances_carry(struct process_table *t, const struct process_table *old);

/* process_cgroup.c */
void process_labels_event(struct process_table *t, const struct event *e);
void process_cgroup_event(struct process_table *t, const struct event *e);
void process_cgroup_told(struct process_table *t, uint64_t id, const char *path);
/* Copies the cgroup of the parent or of the program before. */
void process_cgroup_inherit(struct process_table *t, uint32_t process, uint32_t from);
void process_cgroups_carry(struct process_table *t, const struct process_table *old);

#endif

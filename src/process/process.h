/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process: the processes, threads and mappings at each moment of a recording.
 *
 * The input is fork, exec (comm), exit and mmap events in time order. A process is an instance of a
 * program: a reused pid is a new process, and so is a pid after an exec. Threads belong to the
 * instance in which they ran, so a thread that executes a program gets a new thread id here. Ids
 * are dense, never reused, and valid for the life of the table. Uses: base, image, event.
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
	uint64_t start_ns; /* 0: started before the recording */
	uint64_t end_ns;   /* 0: did not end in the recording */
	uint64_t serial;   /* 1, 2, ... in the order of arrival; process_table_carry() keeps it */
	uint32_t cgroup;   /* intern id of its path, ID_NONE unknown; a child inherits it */
	uint32_t version;  /* intern id of the build-id of its main image, ID_NONE unknown */
	uint32_t labels;   /* intern id of lines "key=value", ID_NONE none; not inherited */
	bool kernel;       /* a kernel thread: kthreadd, or forked by it */
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
	uint64_t order; /* increases with each mapping of the table */
	bool executable;
	bool generated; /* may contain code that the process generated */
};

/*
 * A process that generated code. Passed to process_jit_fn at the first sample of a process that can
 * have generated code.
 */
struct process_jit_request {
	int32_t pid;
	const char *name;
	uint64_t start_ns; /* as in struct process */
	const char *dump;  /* path of the jitdump that it mapped; NULL: none */
	uint32_t major, minor;
	uint64_t inode; /* the jitdump's, 0 unknown */
};

/* Returns the symbols of the code, complete, or NULL: none. The table's images own them then. */
struct jit_code;
typedef struct jit_code *process_jit_fn(void *ctx, const struct process_jit_request *request);

/*
 * The same for names that were found: a process that runs still writes them. Returns `code`, which
 * may have more functions at its end, or other code, which the images own, too.
 */
typedef struct jit_code *process_jit_again_fn(void *ctx, const struct process_jit_request *request,
                                              struct jit_code *code);

struct process_table;

/* The caller shares the images. They must outlive the table. */
struct process_table *process_table_new(struct image_table *images);
void process_table_free(struct process_table *t);

/*
 * Starts another recording: its pids and kernel maps are unrelated to the earlier ones. The
 * contents of the table stay, but none of its processes is current any more.
 */
void process_table_restart(struct process_table *t);

/*
 * Sets the machine and boot to which the pids of the following events belong, and the offset from
 * event times to the time since 1970. The default is this machine, now.
 */
void process_table_set_place(struct process_table *t, enum recording_place place,
                             uint64_t wall_offset_ns);

/*
 * Set while the recorder starts and does not sample yet. A process that it found in /proc may then
 * be the program of an exec whose record follows, even if switch records of the process come first.
 */
void process_table_set_up(struct process_table *t, bool is_set_up);

/*
 * Sets the function that looks up names of generated code. NULL: such code is shown as addresses.
 */
void process_table_set_jit(struct process_table *t, process_jit_fn *fn, void *ctx);
/*
 * For events of processes that run: after each call of process_table_jit_round(), `fn` is called
 * at the first sample of each process with generated code. It has the ctx of the other function.
 */
void process_table_set_jit_again(struct process_table *t, process_jit_again_fn *fn);
void process_table_jit_round(struct process_table *t);

/*
 * Handles MMAP, COMM, FORK, EXIT, CGROUP, LABELS and LOST (lost records may have been exits).
 * Ignores other kinds. Events with time 0 describe the state before the recording. A process
 * reported both by such an event and by its FORK record is counted once.
 */
void process_table_event(struct process_table *t, const struct event *e);
/* Sets the build-id for files mapped under that name without their own build-id. */
void process_table_build_id(struct process_table *t, const char *filename,
                            const struct build_id *id);

/* The thread's present id. A thread without a record of its own is added, with the name ":TID". */
uint32_t process_table_thread(struct process_table *t, int32_t pid, int32_t tid);

/* The thread's present id, or ID_NONE if no record mentioned it. */
uint32_t process_table_find_thread(const struct process_table *t, int32_t pid, int32_t tid);

/*
 * For unlimited recordings. Returns a new table with all live processes and threads of the old one,
 * and with those that ended in the last tenth of a second, whose samples may still come. Maps,
 * names, instance numbers and serials are the same. Ids differ but have the same order. A parent
 * that ended is no longer known. `images` is the new table's: images that live maps need are added
 * to it, and generated code is looked up again. A process known only from a stray record is dropped
 * if no record has mentioned it since the last call.
 */
struct process_table *process_table_carry(const struct process_table *old,
                                          const struct image_table *old_images,
                                          struct image_table *images);
/*
 * Writes all live processes as the events that recreate the table: the kernel's maps, then for each
 * process COMM, its cgroup, its labels, its threads and its maps. All have the time `time_ns`.
 */
int process_table_replay(const struct process_table *t, uint64_t time_ns,
                         int (*deliver)(void *ctx, const struct event *e, struct error *err),
                         void *ctx, struct error *err);
/*
 * For unlimited recordings: names, images and mappings may take PROCESS_TABLE_BYTES. The recorded
 * processes control their size: a pid may execute a million programs, and the kernel does not
 * report when a file is unmapped. When the table is full (process_table_full()),
 * process_table_carry() returns a table that is at most half full. If dropping ended processes is
 * not enough, the processes with the largest mappings lose their oldest ones. One process keeps at
 * most PROCESS_MAPPINGS_MAX mappings. Dropped mappings are counted. Tables for whole recordings
 * have no limit and drop nothing.
 */
#define PROCESS_TABLE_BYTES ((size_t)32 << 20)
#define PROCESS_MAPPINGS_MAX 16384
void process_table_bound(struct process_table *t);
bool process_table_full(const struct process_table *t);
size_t process_table_bytes(
        const struct process_table *t); /* approximate bytes of names, images and mappings */
uint64_t process_table_dropped_mappings(const struct process_table *t);

/* Clears `changed` of all processes and threads. */
void process_table_settle(struct process_table *t);
/* Records that a sample of the process was taken in that cgroup (id as in EVENT_CGROUP). */
void process_table_in_cgroup(struct process_table *t, uint32_t process, uint64_t cgroup);
/* True for the name of a group whose path is not known: "[cgroup 4711]". */
bool process_cgroup_is_made_up(const char *path);
/*
 * Records which build of its program the process runs, and its labels: lines "key=value", sorted,
 * with '\n' between them. NULL: unknown.
 */
void process_table_label(struct process_table *t, uint32_t process, const char *version,
                         const char *labels);

size_t process_table_thread_count(const struct process_table *t);
size_t process_table_process_count(const struct process_table *t);
const struct process *process_table_process(const struct process_table *t, uint32_t id);
const struct thread *process_table_thread_at(const struct process_table *t, uint32_t id);
const char *process_table_name(const struct process_table *t, uint32_t name);

/*
 * The frame at an address of a process, from its present maps. Kernel addresses use the kernel's
 * maps, which all processes share. An address outside all mappings gives image IMAGE_ID_UNKNOWN and
 * the address itself.
 */
struct frame process_table_resolve(struct process_table *t, uint32_t process, enum cpu_mode mode,
                                   uint64_t address);
/*
 * Call before addresses of a sample are resolved: selects the generated code that existed at that
 * time.
 */
void process_table_moment(struct process_table *t, uint32_t process, uint64_t time_ns);
/*
 * The version of the maps that process_table_resolve() uses. While it is the same, all results are
 * the same. Processes that share maps since a fork have the same version.
 */
uint64_t process_table_maps_version(const struct process_table *t, uint32_t process,
                                    enum cpu_mode mode);
/* The mapping of data or code at an address, or NULL. Valid until the next event. */
const struct mapping *process_table_mapping(struct process_table *t, uint32_t process,
                                            uint64_t address);
/* The last mapping of code that begins at or below an address, or NULL. Valid as above. */
const struct mapping *process_table_code_below(struct process_table *t, uint32_t process,
                                               uint64_t address);

#endif

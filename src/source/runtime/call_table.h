/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_table: the tables of processes whose calls are counted: finds, copies and resets them.
 *
 * Tables are files PID-BIRTH-N.calls in $ASSAY_CALLS_DIR or in the directory of runtime_files.h;
 * the baseline of a reset has the same name with ".base". Functions return 0 or -errno. The caller
 * frees lists and paths. Any thread, but only one thread resets a table. Uses: base,
 * include/assay/wire.h.
 */
#ifndef ASSAY_SOURCE_RUNTIME_CALL_TABLE_H
#define ASSAY_SOURCE_RUNTIME_CALL_TABLE_H

#include "assay/wire.h"
#include "base/memory/buf.h"
#include "base/error.h"
#include "base/memory/vec.h"
#include "source/runtime/runtime_files.h"

#include <stdbool.h>
#include <stdint.h>

struct call_table {
	struct runtime_file file;
	char name[64], command[512];
	uint32_t flags, state; /* as in wire.h; state RUNNING of an exited process: it was killed */
	uint64_t used_bytes;
};

typedef VEC(struct call_table) call_table_list;

extern const struct shared_kind call_table_kind;

/* Returns the directory; creates it if `make`. The caller frees the text. */
int call_table_directory(char **path, bool make, struct error *err);

/* Lists all tables of a directory, oldest first; none if the directory does not exist. */
int call_table_list_read(call_table_list *list, const char *directory, struct error *err);
void call_table_list_done(call_table_list *list);

/* The kernel's account of a running thread: /proc/PID/task/TID/schedstat. */
struct call_table_thread {
	int32_t tid;
	uint64_t cpu_ns, runnable_ns;
	bool runs; /* on a CPU or waiting for a CPU (state R) */
};

typedef VEC(struct call_table_thread) call_table_threads;

/* Replaces *threads by the threads of a running process; none if it has exited. */
void call_table_threads_read(call_table_threads *threads, const struct call_table *table);

/*
 * Completes the table of a process that ended without writing its end: `ended` is that time, and
 * `threads` are its clocks then. The state stays RUNNING. A table with an end is not changed.
 */
int call_table_end(const struct call_table *table, struct assay_calls_moment ended,
                   const call_table_threads *threads, struct error *err);

struct call_table_copy {
	struct buf bytes;     /* without half-written nodes */
	struct buf base;      /* the baseline of the last reset; empty: none */
	uint64_t now, now_ns; /* time of the copy: ticks, CLOCK_MONOTONIC_RAW */
	uint64_t took_ns;
	call_table_threads threads;
};

int call_table_copy(struct call_table_copy *copy, const struct call_table *table,
                    struct error *err);
void call_table_copy_done(struct call_table_copy *copy);

/*
 * Resets all figures to zero, those of blocked threads too. The table of an exited process is
 * removed.
 */
int call_table_reset(const struct call_table *table, struct error *err);

/* Removes the file of a table and its baseline. */
int call_table_remove(const struct call_table *table, struct error *err);

#endif

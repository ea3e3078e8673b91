/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_table: the tables of processes that count their calls: found, told
 * apart, copied while they run, reset.
 *
 * Tables are files PID-BIRTH-N.calls in $ASSAY_CALLS_DIR or where runtime_files.h
 * says; a reset's baseline is the same with ".base". 0 or -errno. Lists and paths
 * are the caller's to free. Any thread, but a table is reset by one. Uses: base,
 * include/assay/wire.h.
 */
#ifndef ASSAY_SOURCE_RUNTIME_CALL_TABLE_H
#define ASSAY_SOURCE_RUNTIME_CALL_TABLE_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "base/memory/vec.h"
#include "source/runtime/runtime_files.h"

#include <stdbool.h>
#include <stdint.h>

struct call_table {
	struct runtime_file file;
	char name[64], command[512];
	uint32_t flags, state; /* wire.h's; state RUNNING of a process that is gone: killed */
	uint64_t used_bytes;
};

typedef VEC(struct call_table) call_table_list;

extern const struct shared_kind call_table_kind;

/* The directory; made if `make`. The text is the caller's to free. */
int call_table_directory(char **path, bool make, struct error *err);

/* All tables of a directory, oldest first. A directory that is not there has none. */
int call_table_list_read(call_table_list *list, const char *directory, struct error *err);
void call_table_list_done(call_table_list *list);

/* A running thread, as the kernel accounts for it: /proc/PID/task/TID/schedstat. */
struct call_table_thread {
	int32_t tid;
	uint64_t cpu_ns, runnable_ns;
	bool runs; /* it is on CPU or waits for one (state R) */
};

struct call_table_copy {
	struct buf bytes;     /* whole nodes: none is half-written */
	struct buf base;      /* the baseline of the last reset; empty: none */
	uint64_t now, now_ns; /* when it was made: ticks, CLOCK_MONOTONIC_RAW */
	uint64_t took_ns;
	VEC(struct call_table_thread) threads;
};

int call_table_copy(struct call_table_copy *copy, const struct call_table *table,
                    struct error *err);
void call_table_copy_done(struct call_table_copy *copy);

/* From now on its figures begin at zero, blocked threads' too. Of an ended process: removed. */
int call_table_reset(const struct call_table *table, struct error *err);

/* Removes the files of a table, and its baseline. */
int call_table_remove(const struct call_table *table, struct error *err);

#endif

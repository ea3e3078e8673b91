/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_collect: writes the event tags of processes from their files to a CTF trace.
 *
 *	tags_collect_new()	for a trace, which is created with the first process
 *	tags_collect_compress()	the streams of the trace (format/ctf/ctf.h)
 *	tags_collect_watch()	before a COMMAND starts: the directory of its processes' files
 *	tags_collect_step()	repeatedly: writes complete packets
 *	tags_collect_add()	or: adds a file in its current state, without changing it
 *	tags_collect_end()	writes the rest, names and clock; returns the counts
 *	tags_collect_free()
 *
 * Each ring is a stream. Processes with the same names share an event class. Packets wait a few
 * milliseconds until the context switches of their time are known. Memory is bounded: at the limit,
 * packets stay in their file; when the file is full, the process discards events and counts them.
 * Files of ended processes are removed only in a watched directory. 0 or -errno. One thread. Uses:
 * base, source, tags, format.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_COLLECT_H
#define ASSAY_LAUNCH_TAGS_TAGS_COLLECT_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "launch/tags/tags_switches.h"
#include "source/runtime/tag_rings.h"

struct tags_collect;

struct tags_collect_result {
	size_t processes, streams, running; /* 0 processes: no trace was written */
	uint64_t events, lost;   /* lost: discarded by processes because their memory was full */
	uint64_t holes, damaged; /* unwritten slots; skipped packets */
	uint64_t conflicts;
	uint64_t waits, waited_ns; /* pauses of threads until a packet was free, and their sum */
	size_t full, no_rings, names_full; /* processes */
	VEC(char *) notes;                 /* files that cannot be read, conflicts of names */
};

struct tags_collect *tags_collect_new(const char *output);
void tags_collect_free(struct tags_collect *c);
void tags_collect_compress(struct tags_collect *c);
/* Whether a process that records was found. */
bool tags_collect_is_recording(const struct tags_collect *c);

/* `switches`: owned by the caller; NULL: waiting is not separated. `drain`: mode STREAM. */
void tags_collect_watch(struct tags_collect *c, const char *directory, bool drain,
                        struct tags_switches *switches);
/* *busy: packets were read, and there may be more. */
int tags_collect_step(struct tags_collect *c, bool *busy, struct error *err);

/* A file that cannot be read is skipped with a note. */
int tags_collect_add(struct tags_collect *c, const struct tag_rings_file *file, struct error *err);

/* `command`: NULL: unknown. Pass `result` to tags_collect_result_done(). */
int tags_collect_end(struct tags_collect *c, const char *command,
                     struct tags_collect_result *result, struct error *err);
void tags_collect_result_done(struct tags_collect_result *result);

#endif

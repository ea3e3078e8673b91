/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_file: where names of generated code are found: jitdumps that processes
 * mapped, /tmp/perf-PID.map, and what the recorder kept of both.
 *
 * Anybody may write to /tmp: a file counts only if it is a regular one that
 * belongs to us, to root or to the process's user, and if it was written
 * during the process's life. What was refused says why. Kept files stand in
 * the cache as "jit", under a name that recorder and report both know, behind
 * one line: "assay-jit 1 WRITTEN PATH", the time of last writing in
 * nanoseconds since 1970. Nothing is held but what the caller closes or frees:
 * any thread. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_JIT_JIT_FILE_H
#define ASSAY_FORMAT_JIT_JIT_FILE_H

#include "base/memory/buf.h"
#include "base/file/cache_dir.h"
#include "event/recording.h"

#include <stdbool.h>
#include <sys/types.h>

/* Larger ones are not read, nor kept. */
#define JIT_FILE_BYTES_MAX (512u << 20)

#define JIT_FILE_ANY_USER ((uid_t)-1)

/* An open file from a directory that any user may write to; owner and type were checked. */
struct jit_file {
	int fd;
	uint64_t size, written_ns; /* since 1970 */
	uint64_t inode;
	uint32_t major, minor;
};

/*
 * `user`: whose file it may be besides root's and ours; JIT_FILE_ANY_USER: it
 * is proved otherwise. -ENOENT: there is none; -EPERM and others: err says why
 * it was refused. The caller closes fd.
 */
int jit_file_open(struct jit_file *f, const char *path, uid_t user, struct error *err);
/* The same for a file that is open already: f borrows fd. */
int jit_file_adopt(struct jit_file *f, int fd, const char *path, uid_t user, struct error *err);

/* The name in the cache for a process of a recording, malloc'd; NULL: it has none. */
char *jit_file_kept_name(const struct recording *r, int32_t pid, bool dump);
/* Appends all that it holds. */
int jit_file_read(struct buf *out, const struct jit_file *f, const char *path, struct error *err);
/* What is kept of a file: its line, and all that it holds. */
int jit_file_pack(struct buf *out, const struct jit_file *f, const char *path, struct error *err);

/* The other way: the time of last writing and the path of what was kept, and where it begins. */
bool jit_file_unpack(const struct buf *kept, uint64_t *written_ns, char **path, size_t *start);

/* A process that runs now: whose it is, its pid for itself, and when it began, since 1970. */
struct jit_process {
	uid_t user;
	int32_t own_pid;
	uint64_t start_ns;
};
bool jit_process_look(struct jit_process *p, int32_t pid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_file: finds the files with names of generated code: jitdumps that processes mapped,
 * /tmp/perf-PID.map, and the copies of both that the recorder stored.
 *
 * Any user may write to /tmp. Therefore a file is accepted only if it is a regular file that
 * belongs to this user, to root or to the process's user, and if it was written while the process
 * ran; also, the process's user must be able to read it. Errors give the reason of a refusal.
 * Stored files are in the cache as "jit", under a name that recorder and report compute, after one
 * line: "assay-jit 2 WRITTEN OWNER PATH", with the time of the last write in nanoseconds since
 * 1970, and the user id of the file's owner, 4294967295 if it is not known. No state except the
 * files and memory that the caller closes or frees. Any thread. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_JIT_JIT_FILE_H
#define ASSAY_FORMAT_JIT_JIT_FILE_H

#include "base/memory/buf.h"
#include "base/file/cache_dir.h"
#include "base/read/file_namer.h"
#include "event/recording.h"

#include <stdbool.h>
#include <sys/types.h>

#define JIT_FILE_ANY_USER ((uid_t)-1)

/* An open file from a directory to which any user may write; its owner and type were checked. */
struct jit_file {
	int fd;
	uint64_t size, written_ns; /* since 1970 */
	uint64_t inode;
	uint32_t major, minor;
	struct file_namer namer; /* of paths in it */
};

/*
 * `user`: an accepted owner besides root and this user; JIT_FILE_ANY_USER: the file is verified in
 * another way. `namer`: chose the directories of the path; NULL: root. -ENOENT: there is no file;
 * -EPERM and others: err gives the reason of the refusal. The caller closes fd.
 */
int jit_file_open(struct jit_file *f, const char *path, uid_t user, const struct file_namer *namer,
                  struct error *err);
/* The same for an open file; the caller keeps fd, and f uses it. */
int jit_file_adopt(struct jit_file *f, int fd, const char *path, uid_t user, struct error *err);

/* The name in the cache for a process of a recording, malloc'd; NULL: none. */
char *jit_file_kept_name(const struct recording *r, int32_t pid, bool dump);
/* Appends the contents of the file. */
int jit_file_read(struct buf *out, const struct jit_file *f, const char *path, struct error *err);
/* Appends the stored form of a file: its line and its contents. */
int jit_file_pack(struct buf *out, const struct jit_file *f, const char *path, struct error *err);

/*
 * Parses the stored form: the time of the last write, the namer of paths in the file, its path, and
 * the start of the contents.
 */
bool jit_file_unpack(const struct buf *kept, uint64_t *written_ns, struct file_namer *namer,
                     char **path, size_t *start);

/* A running process: its user, its pid in its own namespace, and its start time since 1970. */
struct jit_process {
	uid_t user;
	int32_t own_pid;
	uint64_t start_ns;
};
bool jit_process_look(struct jit_process *p, int32_t pid);

#endif

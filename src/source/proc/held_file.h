/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held_file: opens and reads files that other processes have mapped, by foreign calls
 * (base/process/foreign.h). A held file is identified by a number: its descriptor in the helper
 * process, and the generation of that process. The file is open until held_file_close() or until
 * the helper process ends. After a restart of the process, calls for the file return -ESTALE.
 *
 * `user` is the user who is charged for the call: foreign_user() of a process that maps the file.
 * All functions return -errno if a call fails; see foreign_call() for -ETIMEDOUT and -ECANCELED. If
 * `foreign` is NULL, this process makes the call and the number is its own descriptor. One thread.
 * Uses: base, event.
 */
#ifndef ASSAY_SOURCE_PROC_HELD_FILE_H
#define ASSAY_SOURCE_PROC_HELD_FILE_H

#include "base/error.h"
#include "base/process/foreign.h"
#include "event/event.h"

/* The state of a file. */
struct held_state {
	uint64_t size, mtime_ns;
	bool in_place; /* its path still refers to this file */
};

struct held_file {
	int fd;    /* the number */
	int watch; /* of inotify, -1: none */
	struct build_id id;
	struct held_state state;
	bool trusted; /* only root or the user of this process may have written it */
};

/* The build-id of a mapped file that is not held; size 0: it has none, or it could not be read. */
void held_file_build_id(struct foreign *foreign, uint32_t user, const struct event_mmap *m,
                        int32_t pid, struct build_id *id);

/*
 * See mapped_file_open(); `watches`: the inotify descriptor, which is the same in both processes;
 * -1: none.
 */
int held_file_open(struct foreign *foreign, uint32_t user, const struct event_mmap *m, int32_t pid,
                   int watches, struct held_file *f);
/* From the number of a held file to its descriptor, for other foreign calls, and the reverse;
 * -ESTALE, -EMFILE. */
int held_file_descriptor(const struct foreign *foreign, int fd);
int held_file_number(const struct foreign *foreign, int descriptor);
void held_file_close(struct foreign *foreign, uint32_t user, int fd);

/* `path`: the path at the time of the mapping. */
int held_file_look(struct foreign *foreign, uint32_t user, int fd, const char *path,
                   struct held_state *state);
/* The build-id of the file's present contents; size 0 as above. */
int held_file_build_id_now(struct foreign *foreign, uint32_t user, int fd, struct build_id *id);

/* Copies the file into the cache, unless it has changed since `was`. */
int held_file_keep(struct foreign *foreign, uint32_t user, int fd, const struct held_state *was,
                   const char *kind, const char *name, struct error *err);

#endif

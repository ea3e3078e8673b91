/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held_file: files that other processes have mapped, opened and read by foreign calls
 * (base/process/foreign.h). A file that is held is a number: its descriptor in the other process,
 * which is open until held_file_close() or until that process ends, and the generation of that
 * process. If it was restarted since, calls for the file give -ESTALE.
 *
 * `user` is the user who is held to account for the call: foreign_user() of a process that maps the
 * file. All give -errno where a call fails; -ETIMEDOUT and -ECANCELED as of foreign_call(). With
 * `foreign` NULL this process does it, and the number is its own descriptor. One thread. Uses:
 * base, event.
 */
#ifndef ASSAY_SOURCE_PROC_HELD_FILE_H
#define ASSAY_SOURCE_PROC_HELD_FILE_H

#include "base/error.h"
#include "base/process/foreign.h"
#include "event/event.h"

/* How a file stands. */
struct held_state {
	uint64_t size, mtime_ns;
	bool in_place; /* it is what its path leads to */
};

struct held_file {
	int fd;    /* the number */
	int watch; /* of inotify, -1: none */
	struct build_id id;
	struct held_state state;
	bool trusted; /* only root or the user of this process may have written it */
};

/* Of the file of a mapping, which is not held; size 0: it has none, or could not be read. */
void held_file_build_id(struct foreign *foreign, uint32_t user, const struct event_mmap *m,
                        int32_t pid, struct build_id *id);

/* As mapped_file_open(); `watches`: inotify's descriptor, in both processes; -1: none. */
int held_file_open(struct foreign *foreign, uint32_t user, const struct event_mmap *m, int32_t pid,
                   int watches, struct held_file *f);
/* The descriptor of a file that is held, for other foreign calls, and back; -ESTALE, -EMFILE. */
int held_file_descriptor(const struct foreign *foreign, int fd);
int held_file_number(const struct foreign *foreign, int descriptor);
void held_file_close(struct foreign *foreign, uint32_t user, int fd);

/* `path`: as it was mapped. */
int held_file_look(struct foreign *foreign, uint32_t user, int fd, const char *path,
                   struct held_state *state);
/* Of what stands in it now; size 0 as above. */
int held_file_build_id_now(struct foreign *foreign, uint32_t user, int fd, struct build_id *id);

/* Copies the file into the cache, unless it is not any more as it was. */
int held_file_keep(struct foreign *foreign, uint32_t user, int fd, const struct held_state *was,
                   const char *kind, const char *name, struct error *err);

#endif

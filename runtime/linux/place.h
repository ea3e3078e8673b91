/* SPDX-License-Identifier: MIT */
/*
 * place: the directory of a process's calls or tags file, and its safe creation.
 *
 * KIND is "calls" or "tags". The directory is $ASSAY_KIND_DIR, else $XDG_RUNTIME_DIR/assay/KIND,
 * else /run/assay/KIND for root, else /tmp/assay-UID/KIND. New directories get mode 0700. The last
 * one must belong to this user, must not be a link, and must not be accessible to others. The file
 * PID-BIRTH-N.KIND is created with O_EXCL | O_NOFOLLOW and mode 0600. A program with elevated
 * privileges (AT_SECURE) ignores directories from the environment.
 * src/source/runtime/runtime_files.h finds the file. Raw system calls; errors are -errno.
 */
#ifndef ASSAY_RUNTIME_LINUX_PLACE_H
#define ASSAY_RUNTIME_LINUX_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the path of the directory. Error: -ENAMETOOLONG. */
int place_directory(const char *kind, char *path, size_t room);
/*
 * Creates and opens a file of *bytes bytes. If the directory cannot be used and is that of a
 * recorder, the recorder is asked for the file (linux/handout.h), which may be smaller, down to
 * `least`; *bytes is then its size. Returns the descriptor (close-on-exec) or -errno.
 */
int place_create(const char *kind, uint64_t birth, uint64_t *bytes, uint64_t least);
/*
 * Likewise, with a lock (flock) that the kernel releases when the descriptor is closed and the last
 * mapping of the file is gone. If the directory has `most` files (0: any number), files without a
 * lock are removed: their processes have ended. -ENOSPC: all of them are locked.
 */
int place_create_locked(const char *kind, uint64_t birth, unsigned most, uint64_t *bytes,
                        uint64_t least);
/* Field 22 of /proc/self/stat, clock ticks since boot; 0: not known. */
uint64_t place_birth(void);
/*
 * An environment variable, without libc: from /proc/self/environ or environ; NULL: unset. A program
 * that removes the variables of assay (names that begin with ASSAY_) still has those of its start.
 */
const char *place_environment(const char *name);

#endif

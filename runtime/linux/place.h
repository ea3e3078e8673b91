/* SPDX-License-Identifier: MIT */
/*
 * place: where a process's file lies, of its calls or its tags, and how it is made there,
 * safely.
 *
 * KIND is "calls" or "tags". The directory: $ASSAY_KIND_DIR, else
 * $XDG_RUNTIME_DIR/assay/KIND, else /run/assay/KIND for root, else
 * /tmp/assay-UID/KIND. Each part that is made is 0700; the last must be this
 * user's, no link, and closed to others. The file PID-BIRTH-N.KIND is made O_EXCL | O_NOFOLLOW,
 * 0600. A program with privileges of its own (AT_SECURE) takes no directory from the environment.
 * src/source/shared_files.h finds it there. Raw system calls; errors are -errno.
 */
#ifndef ASSAY_RUNTIME_LINUX_PLACE_H
#define ASSAY_RUNTIME_LINUX_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* The directory as a path; -ENAMETOOLONG. */
int place_directory(const char *kind, char *path, size_t room);
/* Makes and opens the file; the descriptor, close-on-exec, or -errno. */
int place_create(const char *kind, uint64_t birth);
/* Field 22 of /proc/self/stat, clock ticks since boot; 0: not known. */
uint64_t place_birth(void);
/* An environment variable, without libc: from /proc/self/environ or environ; NULL: unset. */
const char *place_environment(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * handout: asks the recorder of the session for a file (include/assay/handout.h).
 *
 * Waits at most a few seconds. Only a recorder of root or of this user is asked. Raw system calls
 * that are not cancellation points; errors are -errno. Any thread. Uses: include.
 */
#ifndef ASSAY_RUNTIME_LINUX_HANDOUT_H
#define ASSAY_RUNTIME_LINUX_HANDOUT_H

#include <stdbool.h>
#include <stdint.h>

/* True if a recorder created the directory, so that its programs create no part of the path. */
bool handout_is_session(const char *directory);

/*
 * A descriptor (close-on-exec) or -errno. *bytes: the wanted size, and then the size of the file,
 * which is at least `least`.
 */
int handout_ask(const char *directory, uint64_t *bytes, uint64_t least);

#endif

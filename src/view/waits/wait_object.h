/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_object: the name of the object for which a thread waited: a variable of the program, a file,
 * a socket, a lock of the kernel.
 *
 * No state. A name that is not known is not guessed: an address or the number of a descriptor
 * remains. Nothing fails. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_OBJECT_H
#define ASSAY_VIEW_WAITS_WAIT_OBJECT_H

#include "view/waits/wait_cause.h"

/* Appends the name. False: the object is not named, and the text says what is known. */
bool wait_object_name(struct wait_causes *c, const struct wait_log *log, const struct wait_key *key,
                      const struct wait_cause *cause, struct buf *out);

/* The name of the descriptor that the argument is; NULL: not known. */
const char *wait_descriptor_name(const struct wait_log *log, const struct wait_key *key);

/* The file whose page a page fault read; NULL: not known, or no page fault. */
const char *wait_fault_file(const struct wait_log *log, const struct wait_key *key,
                            const struct wait_cause *cause);

#endif

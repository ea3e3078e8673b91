/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_key: the text by which rows are grouped if the key is the service, the container, the pod
 * or a label of their process.
 *
 * Stateless. Uses: base, process, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_PROCESS_KEY_H
#define ASSAY_VIEW_SAMPLES_PROCESS_KEY_H

#include "process/process.h"
#include "view/request.h"

bool process_key_is(enum flat_key key);

/*
 * Appends the text, or a word in brackets if the process has none. `labels`: the names of
 * FLAT_LABEL and the next keys. `brief`: 12 digits of the id of a container.
 */
void process_key_text(const struct process_table *t, const struct process *p, enum flat_key key,
                      const char *const *labels, bool brief, struct buf *out);

#endif

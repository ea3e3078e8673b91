/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spare_files: checks whether a process may open a number of additional files.
 *
 * It is called before work that would otherwise silently omit files that it cannot open. 0, or
 * -EMFILE with a sentence that names the limit. Nothing is held. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_READ_SPARE_FILES_H
#define ASSAY_BASE_READ_SPARE_FILES_H

#include "base/error.h"

#include <stddef.h>

#define SPARE_FILES_MAX 64

/* `count`: SPARE_FILES_MAX at most. */
int spare_files_check(size_t count, struct error *err);

#endif

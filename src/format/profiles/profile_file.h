/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_file: reads a file of any format that becomes a symbolized profile: pprof, OTLP, folded
 * stacks, callgrind and trace events.
 *
 * The caller calls symbolized_profile_init() on `n` and sets depth_max and wanted before, and calls
 * symbolized_profile_done() in any case. A file is plain or gzip'd, and at most 512 MB, packed and
 * unpacked. 0 or -errno; errors name the file and the place. One thread. Uses: base, format,
 * profile.
 */
#ifndef ASSAY_FORMAT_PROFILES_PROFILE_FILE_H
#define ASSAY_FORMAT_PROFILES_PROFILE_FILE_H

#include "base/error.h"
#include "base/memory/buf.h"
#include "format/file_kind.h"
#include "profile/symbolized_profile.h"

/* "a pprof profile"; NULL: files of this kind are no symbolized profiles. */
const char *profile_file_word(enum file_kind kind);

/*
 * `left`, if not NULL: sentences for the user about omitted parts of the file are appended, one on
 * each line.
 */
int profile_file_read(struct symbolized_profile *n, const char *path, struct buf *left,
                      struct error *err);

#endif

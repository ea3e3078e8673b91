/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_read: pprof's profile.proto, of any producer, as named call paths.
 *
 * A file is plain or gzip'd. `n` is the caller's, after symbolized_profile_init() and with
 * depth_max and wanted set, and symbolized_profile_done() after either outcome. What pprof_write()
 * wrote comes back equal. Addresses become offsets in the mapped file where the mapping tells; the
 * labels `process`, `thread`, `pid`, `tid` (and what others call so) tell whose a sample is, and
 * where none does, the first mapping's file names the process. Of more values than NAMED_VALUES the
 * first are kept, and the main one always: the one wanted (-ENOENT where there is none of that
 * name), else the default or the last, as pprof has it.
 *
 * Nothing here trusts the bytes: -EBADMSG with file and byte where they make no sense, -EFBIG
 * where they unpack to, or would take, more than the limits below. One thread. Uses: base,
 * profile.
 */
#ifndef ASSAY_FORMAT_PPROF_PPROF_READ_H
#define ASSAY_FORMAT_PPROF_PPROF_READ_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "profile/symbolized_profile.h"

#define PPROF_BYTES_MAX ((size_t)512 << 20) /* of a file, and of what it unpacks to */
#define PPROF_RATIO_MAX 256u                /* unpacked to packed, from here on: */
#define PPROF_RATIO_FROM ((size_t)64 << 20)
#define PPROF_PATHS_MAX ((size_t)1 << 24)  /* and as many rows: 1.5 GB at most */
#define PPROF_FRAMES_MAX ((size_t)1 << 25) /* of all paths, with inlined functions */

/* The first bytes of a file, unpacked, begin a profile.proto; `whole`: the file ends behind them.
 */
bool pprof_recognise(const void *bytes, size_t size, bool whole);

/*
 * `left`, not NULL: sentences about what of the file is not in `n`, a line each, are added:
 * to be told to the user.
 */
int pprof_read(struct symbolized_profile *n, const char *path, struct buf *left, struct error *err);
/* `name` is what messages call the bytes. */
int pprof_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                      size_t size, struct buf *left, struct error *err);

#endif

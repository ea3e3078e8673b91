/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_read: reads pprof's profile.proto of any producer into a symbolized profile.
 *
 * A file is plain or gzip'd. The caller calls symbolized_profile_init() on `n` and sets depth_max
 * and wanted before, and calls symbolized_profile_done() in any case. The output of pprof_write()
 * is read back unchanged. Addresses become offsets in the mapped file if the mapping has them. The
 * labels `process`, `thread`, `pid`, `tid` (and common synonyms) identify the owner of a sample;
 * without them the file of the first mapping names the process. If there are more values than
 * NAMED_VALUES, the first ones and the main one are read. The main value is the wanted one (-ENOENT
 * if there is none of that name), else pprof's default or the last.
 *
 * The bytes are not trusted: -EBADMSG with file and byte if they are invalid, -EFBIG if the
 * unpacked size or the memory for the result exceeds the limits
 * of base/limit.h. One thread. Uses: base,
 * profile.
 */
#ifndef ASSAY_FORMAT_PPROF_PPROF_READ_H
#define ASSAY_FORMAT_PPROF_PPROF_READ_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "profile/symbolized_profile.h"

/* The first bytes of a file, unpacked, begin a profile.proto; `whole`: the file ends behind them.
 */
bool pprof_recognise(const void *bytes, size_t size, bool whole);

/*
 * `left`, if not NULL: sentences for the user about omitted parts of the file are appended, one on
 * each line.
 */
int pprof_read(struct symbolized_profile *n, const char *path, struct buf *left, struct error *err);
/* `name` is the name of the bytes in messages. */
int pprof_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                      size_t size, struct buf *left, struct error *err);

#endif

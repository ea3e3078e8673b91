/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_file: the bytes of a profile.proto, unpacked if they are gzip'd, within the limits of
 * base/limit.h. Private to format/pprof_*.c. Uses: base.
 */
#ifndef ASSAY_FORMAT_PPROF_PPROF_FILE_H
#define ASSAY_FORMAT_PPROF_PPROF_FILE_H

#include "base/memory/buf.h"
#include "base/error.h"

int pprof_file_load(const char *path, struct buf *all, struct error *err);

/* Appends the unpacked bytes to `out`. */
int pprof_unpack(const char *name, const void *bytes, size_t size, struct buf *out,
                 struct error *err);

#endif

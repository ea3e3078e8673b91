/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_legacy: recognises the formats before profile.proto: text of heap, contention and thread
 * profiles, and the binary CPU profile, of gperftools, Go and Java. They contain addresses that
 * only the program's file can resolve, so assay does not read them; `go tool pprof` converts them.
 * Any thread. Uses: base.
 */
#ifndef ASSAY_FORMAT_PPROF_PPROF_LEGACY_H
#define ASSAY_FORMAT_PPROF_PPROF_LEGACY_H

#include "base/error.h"
#include "base/memory/buf.h"

/* The first bytes of a file, unpacked: the name of the form; NULL: none of these. */
const char *pprof_legacy_kind(const struct buf *head);

/*
 * Returns -EINVAL with the command for conversion if the file (gzip'd or not) has one of these
 * formats.
 */
int pprof_legacy_refuse(const char *path, struct error *err);

#endif

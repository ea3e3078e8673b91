/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_legacy: the forms that profiles had before profile.proto: text of heap, contention and
 * thread profiles, and the binary CPU profile, of gperftools, Go and Java. They hold addresses
 * that only the program's file can name, so assay does not read them: `go tool pprof` converts
 * them. Any thread. Uses: base.
 */
#ifndef ASSAY_FORMAT_PPROF_PPROF_LEGACY_H
#define ASSAY_FORMAT_PPROF_PPROF_LEGACY_H

#include "base/error.h"
#include "base/memory/buf.h"

/* The first bytes of a file, unpacked: the name of the form; NULL: none of these. */
const char *pprof_legacy_kind(const struct buf *head);

/* -EINVAL, with the command that converts it, where the file (gzip'd or not) is one of these. */
int pprof_legacy_refuse(const char *path, struct error *err);

#endif

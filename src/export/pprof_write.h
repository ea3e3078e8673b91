/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_write: a symbolized profile in the format of pprof (profile.proto, compressed by gzip). The
 * file contains all names. docs/FORMAT.md describes which data is in which field.
 *
 * One call writes the whole profile. `out` is flushed as it grows; its end reports failed writes.
 * Returns 0 or -errno. Values may be negative, and keep their units. Stateless. One thread. Uses:
 * base, profile.
 */
#ifndef ASSAY_EXPORT_PPROF_WRITE_H
#define ASSAY_EXPORT_PPROF_WRITE_H

#include "base/error.h"
#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

/* `out` reports failed writes; an error here is from zlib. */
int pprof_write(const struct symbolized_profile *n, struct spill *out, struct error *err);
/* Appends the message without compression. */
void pprof_write_plain(const struct symbolized_profile *n, struct buf *out);

#endif

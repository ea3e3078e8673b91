/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_write: named call paths as pprof's profile.proto, gzip'd: symbolized,
 * with nothing left to look up. docs/FORMAT.md says what stands where.
 *
 * One call writes it all; `out` is flushed as it grows, and tells of what could
 * not be written when it is closed. 0 or -errno. Values may be below nothing,
 * and keep their units. Nothing is held. One thread. Uses: base, profile.
 */
#ifndef ASSAY_EXPORT_PPROF_WRITE_H
#define ASSAY_EXPORT_PPROF_WRITE_H

#include "base/error.h"
#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

/* Failures to write are `out`'s to tell; an error here is zlib's. */
int pprof_write(const struct symbolized_profile *n, struct spill *out, struct error *err);

#endif

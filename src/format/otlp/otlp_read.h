/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * otlp_read: reads OTLP profiles (profiles.v1development, proto 1.11) into a symbolized profile.
 *
 * A file is one ProfilesData, or several with the size before each, as the file exporter of the
 * collector writes them. Samples whose fields have the numbers of a former proto are recognised by
 * their fields; -EPROTONOSUPPORT: a version whose samples have no stacks of the dictionary.
 *
 * Each type of values becomes one value, NAMED_VALUES at most; profiles of equal types are added
 * up. Of a sample with several values their sum is read; one without values counts its times. The
 * attributes process.executable.name, process.pid, thread.name and thread.id, of the sample or else
 * of its resource, give the owner. Links, times of samples and other attributes are not read. The
 * last type is the main value, unless n->wanted names another.
 *
 * The bytes are not trusted: -EBADMSG with file and byte. One thread. Uses: base, profile.
 */
#ifndef ASSAY_FORMAT_OTLP_OTLP_READ_H
#define ASSAY_FORMAT_OTLP_OTLP_READ_H

#include "base/error.h"
#include "base/memory/buf.h"
#include "profile/symbolized_profile.h"

/* The first bytes of a file, unpacked, begin a ProfilesData; `whole`: the file ends behind them. */
bool otlp_recognise(const void *bytes, size_t size, bool whole);
/* `left`, if not NULL: sentences about omitted parts are appended, one on each line. */
int otlp_read_memory(struct symbolized_profile *n, const char *name, const void *bytes, size_t size,
                     struct buf *left, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_dump_check: checks whether a file can be a dump of records of tag and clock, which have no
 * magic number. Files of known formats, text, and bytes whose clock is implausible are refused with
 * -EINVAL. Private to format/ctf/tag_dump.c. Any thread. Uses: base, format.
 */
#ifndef ASSAY_FORMAT_CTF_TAG_DUMP_CHECK_H
#define ASSAY_FORMAT_CTF_TAG_DUMP_CHECK_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Checks the first bytes of a file. */
int tag_dump_check_begin(const char *path, const void *bytes, size_t size, struct error *err);

#define TAG_DUMP_SAMPLE 4096u /* number of first events whose tags are checked */

/*
 * Checks the counts of a whole file: its events, how many of them have a lower clock than the
 * previous event, and the tags of the first events, which this function sorts. Among random numbers
 * every second clock is lower, and nearly all tags differ; in a dump a lower clock is a
 * wrap-around, and tags are repeated.
 */
int tag_dump_check_events(const char *path, uint64_t events, uint64_t turns, uint32_t *tags,
                          size_t tag_count, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_dump_check: whether a file can be a dump of records of tag and clock, which have no magic
 * number: files of known formats, text, and bytes whose clock is no clock are refused with
 * -EINVAL. Private to format/ctf/tag_dump.c. Any thread. Uses: base, format.
 */
#ifndef ASSAY_FORMAT_CTF_TAG_DUMP_CHECK_H
#define ASSAY_FORMAT_CTF_TAG_DUMP_CHECK_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The first bytes of a file. */
int tag_dump_check_begin(const char *path, const void *bytes, size_t size, struct error *err);

#define TAG_DUMP_SAMPLE 4096u /* first events, whose tags are looked at */

/*
 * Events of a whole file, how many of them have a lower clock than the event before, and the tags
 * of the first ones, which get sorted. Among random numbers every second clock is lower, and nearly
 * all tags differ; in a dump a lower clock is a round of the clock, and tags come again.
 */
int tag_dump_check_events(const char *path, uint64_t events, uint64_t turns, uint32_t *tags,
                          size_t tag_count, struct error *err);

#endif

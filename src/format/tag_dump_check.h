/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_dump_check: whether a file can be a dump of records of tag and clock, which have no magic
 * number: files of known formats, text, and bytes whose clock is no clock are refused with
 * -EINVAL. Private to format/tag_dump.c. Any thread. Uses: base, format.
 */
#ifndef ASSAY_FORMAT_TAG_DUMP_CHECK_H
#define ASSAY_FORMAT_TAG_DUMP_CHECK_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The first bytes of a file. */
int tag_dump_check_begin(const char *path, const void *bytes, size_t size, struct error *err);

/*
 * Events of a whole file, and how many of them have a lower clock than the event before. Among
 * random numbers that is every second one; in a dump it is a round of the clock, which events are
 * nearer than.
 */
int tag_dump_check_turns(const char *path, uint64_t events, uint64_t turns, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_dump: what other capture devices give: records of tag and clock, or CSV, made a
 * CTF trace of one device stream.
 *
 * A record's layout is a text of fields in bits, from its first byte on, together whole
 * bytes, at most 16: "tag:16,clock:24" (the original device's, 5 bytes, the default),
 * "clock:32,tag:16,pad:16". Fields of 8, 16, 24, ... bits; little-endian, or big. The
 * clock may go round between events, at most once: only intervals count. CSV: two
 * columns, clock and tag (or named by a first line "tag,clock"), decimal or 0x, the same
 * rules. Records have no magic number: a file of a known format, text, and bytes whose clock goes
 * back in every third record and whose tags all differ are refused, unless clock_bits is given. Any
 * number of events; streamed, memory is bounded. Bytes that are no whole record at the end are
 * counted. 0 or -errno; errors name file and byte or line. Uses: base, trace.
 */
#ifndef ASSAY_FORMAT_CTF_TAG_DUMP_H
#define ASSAY_FORMAT_CTF_TAG_DUMP_H

#include "format/ctf/ctf.h"

struct tag_dump_options {
	const char *layout; /* NULL: the default; "csv": CSV */
	bool big_endian;
	unsigned clock_bits; /* that turn round; 0: the field's (CSV: 64) */
	uint64_t hz;         /* 0: 1000000 */
};

struct tag_dump_result {
	uint64_t events, turns, trailing_bytes;
};

/* "-": stdin. Appends to stream `stream` of `w`. */
int tag_dump_import(struct ctf_writer *w, uint32_t stream, const char *path,
                    const struct tag_dump_options *options, struct tag_dump_result *result,
                    struct error *err);

#endif

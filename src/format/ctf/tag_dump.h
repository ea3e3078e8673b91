/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_dump: converts dumps of other capture devices to a CTF trace of one device stream. A dump has
 * records of tag and clock, or is CSV.
 *
 * The layout of a record is a text of fields in bits, from its first byte on, in total whole bytes,
 * at most 16: "tag:16,clock:24" (5 bytes, the original device, the default),
 * "clock:32,tag:16,pad:16". Fields have 8, 16, 24, ... bits; little-endian, or big. The clock may
 * wrap around between events, at most once: only intervals count. CSV has two columns, clock and
 * tag (or named by a first line "tag,clock"), decimal or 0x, with the same rules. Records have no
 * magic number. Therefore these inputs are refused: a file of a known format, text, and (without
 * clock_bits) bytes whose clock goes back in every third record and whose tags all differ. Any
 * number of events is accepted; memory is bounded. An incomplete record at the end is counted.
 * Functions return 0 or -errno; errors name file and byte or line. Uses: base, tags.
 */
#ifndef ASSAY_FORMAT_CTF_TAG_DUMP_H
#define ASSAY_FORMAT_CTF_TAG_DUMP_H

#include "format/ctf/ctf.h"

struct tag_dump_options {
	const char *layout; /* NULL: the default; "csv": CSV */
	bool big_endian;
	unsigned clock_bits; /* width of the clock; 0: that of the field (CSV: 64) */
	uint64_t hz;         /* 0: 1000000 */
};

struct tag_dump_result {
	uint64_t events, turns, trailing_bytes;
};

/* "-": standard input. Appends to stream `stream` of `w`. */
int tag_dump_import(struct ctf_writer *w, uint32_t stream, const char *path,
                    const struct tag_dump_options *options, struct tag_dump_result *result,
                    struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf_packet: the head of one packet of a CTF stream file, and the reader of a stream. Internal to
 * format/ctf_*.c. Any thread. Uses: base, tags.
 */
#ifndef ASSAY_FORMAT_CTF_CTF_PACKET_H
#define ASSAY_FORMAT_CTF_CTF_PACKET_H

#include "format/ctf/ctf_layout.h"

struct ctf_head {
	uint32_t class;
	uint64_t content_bits,
	        packet_bits; /* from the packet's begin; UINT64_MAX: to the end of the file */
	uint64_t first_bits; /* place of its first event */
	uint64_t begin, end; /* ticks, truncated to the bits of the field */
	uint64_t discarded, sequence;
	uint32_t flags;
	int32_t pid, tid;
	char thread[17], process[17];
};

/*
 * Returns 1; 0: the bytes end before the head does; -1: it is damaged, *why describes how. Reads
 * only `size` bytes.
 */
int ctf_head_read(const struct ctf_trace *t, const uint8_t *bytes, uint64_t size,
                  struct ctf_head *head, const char **why);

/* A reader of one stream file. `t` must outlive it. */
int ctf_reader_open(struct tag_reader **reader, const struct ctf_trace *t, const char *path,
                    struct error *err);

#endif

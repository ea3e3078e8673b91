/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf_packed: a compressed stream file of event tags. It is a sequence of blocks, one for each
 * packet; docs/FORMAT.md describes a block. The bytes of a block are not trusted.
 *
 *	ctf_packer_new(), ctf_pack() for each packet, ctf_packer_free()
 *	ctf_unpacker_new(), ctf_unpack() for each block, ctf_unpacker_free()
 *
 * One thread for each object. Internal to format/ctf. Uses: base, include/assay.
 */
#ifndef ASSAY_FORMAT_CTF_CTF_PACKED_H
#define ASSAY_FORMAT_CTF_CTF_PACKED_H

#include "assay/tags_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTF_PACKED_WORDS 131072u /* the most events in one block */

/* The start of a block; then struct assay_tags_packet; then `packed` bytes of one zstd frame. */
struct ctf_packed_head {
	char magic[4];     /* "ATZ1" */
	uint32_t words;    /* events */
	uint32_t unpacked; /* bytes in the frame: differences of the clock, then tags */
	uint32_t packed;
};

/* True if the bytes are the start of a compressed stream file. */
bool ctf_is_packed(const uint8_t *bytes, uint64_t size);

struct ctf_packer;

struct ctf_packer *ctf_packer_new(void);
void ctf_packer_free(struct ctf_packer *p);

/*
 * Returns the block of a packet with at most CTF_PACKED_WORDS words, whose times ascend from
 * header->begin. The block is valid until the next call. NULL: zstd failed (no memory).
 */
const uint8_t *ctf_pack(struct ctf_packer *p, const struct assay_tags_packet *header,
                        const uint64_t *words, size_t count, size_t *size);

struct ctf_unpacker;

struct ctf_unpacked {
	const uint8_t *packet; /* as in a CTF stream file: header and words */
	size_t size;
	uint64_t next;    /* bytes of the block */
	uint64_t missing; /* incomplete block: its events */
};

struct ctf_unpacker *ctf_unpacker_new(void);
void ctf_unpacker_free(struct ctf_unpacker *u);

/*
 * Reads the block at `bytes`. Returns 1; 0: the bytes end within the block; -1: it is damaged, and
 * *why describes how.
 */
int ctf_unpack(struct ctf_unpacker *u, const uint8_t *bytes, uint64_t size,
               struct ctf_unpacked *block, const char **why);

#endif

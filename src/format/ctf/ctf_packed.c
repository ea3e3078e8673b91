/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of a packet are divided into two columns, since each column compresses much better
 * separately: the differences of the clock, and the tags. Both are variable-length numbers
 * (LEB128).
 */
#include "format/ctf/ctf_packed.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define CLOCK_BYTES 6u /* of a 40-bit number in LEB128 */
#define TAG_BYTES 4u   /* of a 24-bit number */
#define LEVEL 1        /* of zstd: higher levels save little here, and cost much */

static const char magic[4] = {'A', 'T', 'Z', '1'};

struct ctf_packer {
	ZSTD_CCtx *zstd;
	uint8_t *columns, *block;
	size_t words; /* room */
};

struct ctf_unpacker {
	ZSTD_DCtx *zstd;
	uint8_t *columns;
	size_t column_room;
	uint64_t *packet; /* words, so that it is aligned */
	size_t words;     /* room */
};

bool ctf_is_packed(const uint8_t *bytes, uint64_t size)
{
	return size >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

/* ---- writing ----------------------------------------------------------------- */

struct ctf_packer *ctf_packer_new(void)
{
	struct ctf_packer *p = xcalloc(1, sizeof(*p));

	p->zstd = ZSTD_createCCtx();
	if (p->zstd) {
		ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
	}
	return p;
}

void ctf_packer_free(struct ctf_packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	free(p->columns);
	free(p->block);
	free(p);
}

/*
 * Numbers of one and two bytes alternate at random, so there is no branch for them. It may write
 * one byte after the number.
 */
static inline uint8_t *put_number(uint8_t *at, uint64_t number)
{
	unsigned longer = number >= 0x80;

	if (number < 0x4000) {
		at[0] = (uint8_t)((number & 0x7f) | longer << 7);
		at[1] = (uint8_t)(number >> 7);
		return at + 1 + longer;
	}
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static size_t put_columns(uint8_t *columns, uint64_t begin, const uint64_t *words, size_t count)
{
	uint64_t clock = begin & ASSAY_TAGS_CLOCK_MASK;
	uint8_t *at = columns;

	for (size_t i = 0; i < count; i++) {
		uint64_t now = words[i] >> ASSAY_TAGS_TAG_BITS;

		at = put_number(at, (now - clock) & ASSAY_TAGS_CLOCK_MASK);
		clock = now;
	}
	for (size_t i = 0; i < count; i++)
		at = put_number(at, words[i] & ASSAY_TAGS_TAG_MASK);
	return (size_t)(at - columns);
}

static void packer_reserve(struct ctf_packer *p, size_t words)
{
	size_t columns = words * (CLOCK_BYTES + TAG_BYTES);

	if (words <= p->words)
		return;
	p->words = words;
	p->columns = xrealloc(p->columns, columns + 1, 1); /* see put_number() */
	p->block = xrealloc(p->block, 1,
	                    sizeof(struct ctf_packed_head) + sizeof(struct assay_tags_packet) +
	                            ZSTD_compressBound(columns));
}

const uint8_t *ctf_pack(struct ctf_packer *p, const struct assay_tags_packet *header,
                        const uint64_t *words, size_t count, size_t *size)
{
	struct ctf_packed_head head = {.words = (uint32_t)count};
	size_t before = sizeof(head) + sizeof(*header), packed;

	packer_reserve(p, count ? count : 1);
	head.unpacked = (uint32_t)put_columns(p->columns, header->begin, words, count);
	if (!p->zstd)
		return NULL;
	packed = ZSTD_compress2(p->zstd, p->block + before, ZSTD_compressBound(head.unpacked),
	                        p->columns, head.unpacked);
	if (ZSTD_isError(packed))
		return NULL;
	memcpy(head.magic, magic, sizeof(magic));
	head.packed = (uint32_t)packed;
	memcpy(p->block, &head, sizeof(head));
	memcpy(p->block + sizeof(head), header, sizeof(*header));
	*size = before + packed;
	return p->block;
}

/* ---- reading ----------------------------------------------------------------- */

struct ctf_unpacker *ctf_unpacker_new(void)
{
	struct ctf_unpacker *u = xcalloc(1, sizeof(*u));

	u->zstd = ZSTD_createDCtx();
	return u;
}

void ctf_unpacker_free(struct ctf_unpacker *u)
{
	if (!u)
		return;
	ZSTD_freeDCtx(u->zstd);
	free(u->columns);
	free(u->packet);
	free(u);
}

/* Returns the byte after the number; NULL: the number is damaged. */
static inline const uint8_t *take_number(const uint8_t *at, const uint8_t *end, unsigned bytes,
                                         uint64_t *number)
{
	*number = 0;
	for (unsigned i = 0; i < bytes && at < end; i++) {
		*number |= (uint64_t)(*at & 0x7f) << 7 * i;
		if (!(*at++ & 0x80))
			return at;
	}
	return NULL;
}

/* Fills the words of a packet from its columns. False: they are damaged. */
static bool take_columns(const uint8_t *at, size_t size, uint64_t begin, uint64_t *words,
                         size_t count)
{
	uint64_t clock = begin & ASSAY_TAGS_CLOCK_MASK, number;
	const uint8_t *end = at + size;

	for (size_t i = 0; i < count; i++) {
		at = take_number(at, end, CLOCK_BYTES, &number);
		if (!at)
			return false;
		clock = (clock + number) & ASSAY_TAGS_CLOCK_MASK;
		words[i] = clock << ASSAY_TAGS_TAG_BITS;
	}
	for (size_t i = 0; i < count; i++) {
		at = take_number(at, end, TAG_BYTES, &number);
		if (!at || number > ASSAY_TAGS_TAG_MASK)
			return false;
		words[i] |= number;
	}
	return at == end;
}

static void unpacker_reserve(struct ctf_unpacker *u, size_t words, size_t columns)
{
	size_t packet = sizeof(struct assay_tags_packet) / sizeof(*u->packet) + words;

	if (packet > u->words) {
		u->words = packet;
		u->packet = xrealloc(u->packet, packet, sizeof(*u->packet));
	}
	if (columns > u->column_room) {
		u->column_room = columns;
		u->columns = xrealloc(u->columns, columns, 1);
	}
}

static bool head_is_sound(const struct ctf_packed_head *h, const struct assay_tags_packet *p)
{
	uint64_t bits = (sizeof(*p) + (uint64_t)h->words * sizeof(uint64_t)) * 8;

	return h->words <= CTF_PACKED_WORDS && h->unpacked >= 2 * (uint64_t)h->words &&
	       h->unpacked <= (uint64_t)h->words * (CLOCK_BYTES + TAG_BYTES) &&
	       h->packed <= ZSTD_compressBound(h->unpacked) && p->magic == ASSAY_CTF_MAGIC &&
	       p->content_bits == bits && p->packet_bits == bits;
}

int ctf_unpack(struct ctf_unpacker *u, const uint8_t *bytes, uint64_t size,
               struct ctf_unpacked *block, const char **why)
{
	struct ctf_packed_head head;
	struct assay_tags_packet header;
	const uint64_t before = sizeof(head) + sizeof(header);
	size_t got;

	*block = (struct ctf_unpacked){0};
	*why = "no block of a compressed stream starts here";
	if (!ctf_is_packed(bytes, size))
		return size >= sizeof(magic) ? -1 : 0;
	if (size < before)
		return 0;
	memcpy(&head, bytes, sizeof(head));
	memcpy(&header, bytes + sizeof(head), sizeof(header));
	*why = "the head of a compressed block is damaged";
	if (!head_is_sound(&head, &header))
		return -1;
	block->missing = head.words;
	if (size - before < head.packed)
		return 0;
	unpacker_reserve(u, head.words, head.unpacked + 1u); /* a column of 0 bytes has a place */
	*why = "a compressed block is damaged";
	got = !u->zstd ? 0
	               : ZSTD_decompressDCtx(u->zstd, u->columns, head.unpacked, bytes + before,
	                                     head.packed);
	if (ZSTD_isError(got) || got != head.unpacked)
		return -1;
	memcpy(u->packet, &header, sizeof(header));
	if (!take_columns(u->columns, got, header.begin,
	                  u->packet + sizeof(header) / sizeof(*u->packet), head.words))
		return -1;
	*block = (struct ctf_unpacked){.packet = (const uint8_t *)u->packet,
	                               .size = (size_t)(header.content_bits / 8),
	                               .next = before + head.packed};
	return 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a stream file: packets become pieces of words. The file is mapped; words of assay's traces
 * are returned where they are, others are converted. Pages that were read are released, so that
 * memory is bounded for any file size. A compressed file is unpacked block by block. If another
 * program truncates the file while it is mapped, this program ends with SIGBUS; assay itself
 * renames an older trace instead. Uses: base, tags.
 */
#include "format/ctf/ctf_packed.h"
#include "format/ctf/ctf_packet.h"

#include "base/piece.h"
#include "base/read/file_map.h"
#include "base/read/regular_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECE PIECE_OF(131072u) /* words returned at once: 1 MB */
#define CONVERTED 32768u        /* the same for converted words, which stay in the cache */
#define AHEAD (2u << 20)        /* bytes */
#define GRAIN 65536u            /* alignment of released memory: a multiple of all page sizes */
#define TURN (1ull << ASSAY_TAGS_CLOCK_BITS)

struct ctf_reader {
	struct tag_reader reader;
	const struct ctf_trace *t;
	char *path;
	struct file_map map;
	uint64_t given_back, fetched; /* bytes of the file */
	/* Contents of the whole file or, if it is compressed, of the latest block's packet. */
	const uint8_t *bytes;
	uint64_t size, at;             /* at: the next packet's first byte */
	struct ctf_unpacker *unpacker; /* NULL: the file is not compressed */
	uint64_t block, next_block;    /* places of blocks in the file */
	uint64_t packets;              /* heads read */
	bool ended;
	/* The packet that is being read. */
	struct ctf_head head;
	uint64_t base;    /* its first byte */
	uint64_t event;   /* bit, from base, of its next event */
	uint64_t left;    /* events */
	uint64_t missing; /* events that should be in the packet and are not in the file */
	bool fresh, gap, cut;
	uint64_t lost;
	uint64_t now;                 /* time of the last event, all bits of the ticks */
	uint64_t discarded, sequence; /* fields of the previous packet */
	uint64_t *words;              /* room for CONVERTED words; NULL: not needed so far */
};

static int damaged(const struct ctf_reader *r, uint64_t at, const char *why, struct error *err)
{
	return error_set(err, EBADMSG,
	                 "%s: byte %llu: %s: the trace is damaged; its other streams can "
	                 "be read if this file is removed",
	                 r->path, (unsigned long long)(r->unpacker ? r->block : at), why);
}

/* The largest value of a field with `bits` bits. */
static uint64_t mask_of(uint32_t bits)
{
	return bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
}

static uint64_t events_in(const struct ctf_class_layout *c, uint64_t first, uint64_t content)
{
	if (content < first + c->event_bits)
		return 0;
	return (content - first - c->event_bits) / c->stride + 1;
}

/* Releases the file's pages before `from`, and prefetches those up to `to` and beyond. */
static void move_window(struct ctf_reader *r, uint64_t from, uint64_t to)
{
	uint64_t done = from & ~(uint64_t)(GRAIN - 1);
	uint64_t size = r->map.size;
	uint64_t until = size - r->fetched < AHEAD ? size : r->fetched + AHEAD;
	uint8_t *file = r->map.bytes;

	if (done >= r->given_back + AHEAD) {
		madvise(file + r->given_back, done - r->given_back, MADV_DONTNEED);
		r->given_back = done;
	}
	if (to <= r->fetched || until <= r->fetched)
		return;
#ifdef MADV_POPULATE_READ
	/* An optimisation: without the prefetch, pages are read one by one. */
	madvise(file + r->fetched, until - r->fetched, MADV_POPULATE_READ);
#endif
	r->fetched = until & ~(uint64_t)(GRAIN - 1);
	if (until == size)
		r->fetched = size;
}

/* Derives losses and gaps before this packet from its head. */
static void account(struct ctf_reader *r, const struct ctf_class_layout *c)
{
	const struct ctf_head *h = &r->head;
	bool first = r->packets == 0;
	uint64_t steps = (h->sequence - r->sequence) & mask_of(c->sequence.bits);

	r->gap = r->t->ours && (h->flags & ASSAY_TAGS_GAP);
	r->gap |= c->sequence.bits && !first && steps != 1;
	r->lost = 0;
	if (c->discarded.bits == 64 && h->discarded < r->discarded)
		r->gap = true; /* a counter never decreases, so this is a new counter */
	else if (c->discarded.bits)
		r->lost = (h->discarded - r->discarded) & mask_of(c->discarded.bits);
	r->discarded = h->discarded;
	r->sequence = h->sequence;
	r->packets++;
}

static void begin_clock(struct ctf_reader *r, const struct ctf_class_layout *c)
{
	if (c->begin.bits == 64)
		r->now = r->head.begin;
	else if (c->begin.bits)
		r->now += (r->head.begin - r->now) & mask_of(c->begin.bits);
	r->head.begin = r->now;
	if (c->end.bits == 64)
		return;
	/*
	 * If the end is missing or truncated, finish_piece() sets it to the last event at least.
	 */
	r->head.end = r->head.begin;
}

/* A file may end in zeros after a power failure. */
static bool all_zeros(const uint8_t *bytes, uint64_t size)
{
	return !*bytes && !memcmp(bytes, bytes + 1, size - 1);
}

/* The file ends within a packet; `missing` of its events are known to be lost. */
static int end_early(struct ctf_reader *r, uint64_t missing)
{
	r->cut = r->gap = true;
	r->at = r->size;
	r->left = r->lost = 0;
	r->missing = missing;
	r->fresh = false;
	return 1;
}

/* Unpacks the next block of a compressed file. 1: done; 0: the file ends; 2: it ends early. */
static int unpack_next(struct ctf_reader *r, struct error *err)
{
	const uint8_t *from = (const uint8_t *)r->map.bytes + r->next_block;
	uint64_t rest = r->map.size - r->next_block;
	struct ctf_unpacked block;
	const char *why;
	int rc;

	if (!rest)
		return 0;
	move_window(r, r->next_block, r->next_block + 1);
	r->block = r->next_block;
	rc = ctf_unpack(r->unpacker, from, rest, &block, &why);
	if (rc < 0 && !all_zeros(from, rest))
		return damaged(r, r->block, why, err);
	if (rc <= 0) {
		r->next_block = r->map.size;
		end_early(r, block.missing);
		return 2;
	}
	r->next_block += block.next;
	r->bytes = block.packet;
	r->size = block.size;
	r->at = 0;
	return 1;
}

/* Returns 1 if a packet with events follows; 0: no more packets. */
static int next_packet(struct ctf_reader *r, struct error *err)
{
	const struct ctf_class_layout *c;
	uint64_t rest, packet, content;
	struct ctf_head head;
	const char *why;
	int rc = r->unpacker ? unpack_next(r, err) : 1;

	if (rc != 1)
		return rc > 0 ? 1 : rc;
	rest = r->size - r->at;
	if (!rest)
		return 0;
	if (!r->unpacker)
		move_window(r, r->at, r->at + 1);
	rc = ctf_head_read(r->t, r->bytes + r->at, rest, &head, &why);
	if (rc < 0 && !all_zeros(r->bytes + r->at, rest))
		return damaged(r, r->at, why, err);
	r->base = r->at;
	r->cut = false;
	r->left = r->missing = 0;
	r->fresh = true;
	if (rc <= 0) /* incomplete head: the number of missing events is unknown */
		return end_early(r, 0);
	r->head = head;
	c = &r->t->classes.items[head.class];
	packet = r->head.packet_bits == UINT64_MAX ? rest : r->head.packet_bits / 8;
	content = r->head.content_bits == UINT64_MAX ? rest * 8 : r->head.content_bits;
	account(r, c);
	begin_clock(r, c);
	r->cut = packet > rest && content > rest * 8;
	r->left = events_in(c, head.first_bits, r->cut ? rest * 8 : content);
	r->missing = r->cut ? events_in(c, head.first_bits, content) - r->left : 0;
	r->event = head.first_bits;
	r->at += packet > rest ? rest : packet;
	return 1;
}

static void finish_piece(struct ctf_reader *r, struct tag_packet *p)
{
	p->end = r->now > p->end ? r->now : p->end;
	if (!r->left && !r->cut && r->head.end > p->end)
		p->end = r->head.end;
	r->fresh = false;
}

static void begin_piece(const struct ctf_reader *r, struct tag_packet *p)
{
	*p = (struct tag_packet){.begin = r->now, .pid = r->head.pid, .tid = r->head.tid};
	memcpy(p->thread, r->head.thread, sizeof(p->thread));
	memcpy(p->process, r->head.process, sizeof(p->process));
	if (!r->fresh)
		return;
	p->lost = r->lost;
	p->gap = r->gap;
	p->forked = r->t->ours && (r->head.flags & ASSAY_TAGS_FORKED);
}

/*
 * The times of a packet of assay ascend from its beginning, by less than one turn of the clock in
 * total: relative to the beginning, no word is less than the previous word. Returns the index of
 * the first word that breaks this rule.
 */
static size_t rising(const uint64_t *words, size_t count, uint64_t from)
{
	uint64_t base = from << ASSAY_TAGS_TAG_BITS, last = 0;
	size_t i = 0;

	for (; i < count; i++) {
		uint64_t x = (words[i] - base) | ASSAY_TAGS_TAG_MASK;

		if (x < last)
			break;
		last = x;
	}
	return i;
}

static int piece_of_words(struct ctf_reader *r, struct tag_packet *p, struct error *err)
{
	uint64_t at = r->base + r->event / 8;
	size_t count = r->left < PIECE ? (size_t)r->left : PIECE, good;
	uint64_t last;

	if (!r->unpacker)
		move_window(r, at, at + count * 8);
	begin_piece(r, p);
	p->words = (const uint64_t *)(const void *)(r->bytes + at);
	p->count = count;
	good = rising(p->words, count, r->now);
	if (good < count)
		return damaged(r, at + good * 8, "an event is earlier than the one before", err);
	last = p->words[count - 1] >> ASSAY_TAGS_TAG_BITS;
	r->now += (last - r->now) & ASSAY_TAGS_CLOCK_MASK;
	r->event += count * 64;
	r->left -= count;
	if (!r->left && !r->cut && r->now > r->head.end)
		return damaged(r, at + (count - 1) * 8, "an event is later than its packet's end",
		               err);
	finish_piece(r, p);
	return 1;
}

/* Reads the next event of another layout. */
static void take_event(const struct ctf_reader *r, const struct ctf_class_layout *c, uint64_t *tag,
                       uint64_t *time)
{
	uint64_t at = r->base + r->event / 8;
	const uint8_t *from = r->bytes + at;
	uint8_t near[160];

	if (r->size - at < sizeof(near)) { /* bytes after the end of the file must not be read */
		memset(near, 0, sizeof(near));
		memcpy(near, from, (size_t)(r->size - at));
		from = near;
	}
	*tag = ctf_bits(from, r->event % 8 + c->tag.at, c->tag.bits, c->tag.big);
	*time = ctf_bits(from, r->event % 8 + c->time.at, c->time.bits, c->time.big);
}

/* Extends `told`, the low `bits` of an event's time, to the whole time. */
static uint64_t whole_time(uint64_t now, uint64_t told, uint32_t bits)
{
	return bits < 64 ? now + ((told - now) & mask_of(bits)) : told;
}

/*
 * A piece ends before an event that is earlier than the previous one, or a turn or more later,
 * because words cannot represent that. `begin` of the next piece is then the time of its first
 * event.
 */
static int convert(struct ctf_reader *r, const struct ctf_class_layout *c, struct tag_packet *p,
                   struct error *err)
{
	uint64_t last = r->now, tag, time;

	for (; p->count < CONVERTED && r->left; r->left--, r->event += c->stride) {
		uint64_t word;

		take_event(r, c, &tag, &time);
		if (tag > ASSAY_TAGS_TAG_MASK)
			return damaged(r, r->base + r->event / 8,
			               "an event id is not a tag (2^24 or more)", err);
		time = whole_time(r->now, time, c->time.bits);
		if (time < r->now || time - r->now >= TURN) {
			if (p->count)
				break;
			p->begin = last = time;
		}
		r->now = time;
		last = time > last ? time : last;
		word = last << ASSAY_TAGS_TAG_BITS | tag;
		if (!word) /* a word of 0 is not an event: it is moved by one tick */
			word = ++last << ASSAY_TAGS_TAG_BITS | tag;
		r->words[p->count++] = word;
	}
	p->end = last;
	return 1;
}

static int piece_of_others(struct ctf_reader *r, const struct ctf_class_layout *c,
                           struct tag_packet *p, struct error *err)
{
	uint64_t at = r->base + r->event / 8;
	int rc;

	if (!r->words)
		r->words = xmalloc(CONVERTED * sizeof(*r->words));
	if (!r->unpacker)
		move_window(r, at, at + CONVERTED * (c->stride + 7) / 8);
	begin_piece(r, p);
	p->words = r->words;
	rc = convert(r, c, p, err);
	if (rc > 0)
		finish_piece(r, p);
	return rc;
}

/* A piece without words reports events that are missing at the end of the file. */
static int piece_of_nothing(struct ctf_reader *r, struct tag_packet *p)
{
	begin_piece(r, p);
	p->gap = true;
	p->lost += r->missing;
	r->ended = true;
	finish_piece(r, p);
	return 1;
}

static int next_piece(struct ctf_reader *r, struct tag_packet *p, struct error *err)
{
	const struct ctf_class_layout *c;
	int rc;

	if (r->ended)
		return 0;
	if (!r->left) {
		if (r->cut)
			return piece_of_nothing(r, p);
		rc = next_packet(r, err);
		if (rc <= 0)
			return rc;
		if (r->cut && !r->left)
			return piece_of_nothing(r, p);
	}
	if (!r->left) {
		begin_piece(r, p);
		finish_piece(r, p);
		return 1;
	}
	c = &r->t->classes.items[r->head.class];
	if (c->words && !((r->base + r->event / 8) % 8))
		return piece_of_words(r, p, err);
	return piece_of_others(r, c, p, err);
}

/* The caller reads the words of a piece before it gets the next piece, so one check covers both. */
static int reader_next(struct tag_reader *reader, struct tag_packet *p, struct error *err)
{
	struct ctf_reader *r = (struct ctf_reader *)reader;

	return file_map_error(&r->map, r->path, next_piece(r, p, err), err);
}

static void reader_close(struct tag_reader *reader)
{
	struct ctf_reader *r = (struct ctf_reader *)reader;

	file_map_close(&r->map);
	ctf_unpacker_free(r->unpacker);
	free(r->words);
	free(r->path);
	free(r);
}

int ctf_reader_open(struct tag_reader **reader, const struct ctf_trace *t, const char *path,
                    struct error *err)
{
	struct ctf_reader *r;
	struct file_map map = {0};
	struct stat st;
	int code = 0, fd = regular_file_open(path, &st);

	if (fd < 0)
		return error_set(err, -fd, "cannot read %s: %s", path, strerror(-fd));
	/* The mapping needs no descriptor; a trace may have ten thousand streams. */
	if (st.st_size)
		code = file_map_open(&map, fd, (size_t)st.st_size, PROT_READ, MAP_SHARED);
	close(fd);
	if (code)
		return error_set(err, -code, "cannot map %s: %s", path, strerror(-code));
	if (map.size)
		madvise(map.bytes, map.size, MADV_SEQUENTIAL);
	r = xcalloc(1, sizeof(*r));
	r->reader.next = reader_next;
	r->reader.close = reader_close;
	r->t = t;
	r->path = xstrdup(path);
	r->map = map;
	r->bytes = map.bytes;
	r->size = map.size;
	if (ctf_is_packed(map.bytes, map.size))
		r->unpacker = ctf_unpacker_new();
	*reader = &r->reader;
	return 0;
}

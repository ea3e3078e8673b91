/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buf.h"
#include "source/shared_files.h"
#include "source/tag_rings_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PACKET_LEAST 1024u /* bytes */
#define PACKET_MOST (1u << 20)
#define OFFSET_MOST (UINT64_C(1) << 48)
#define TICKS_MOST (UINT64_C(1) << 62) /* of what may be a time */

/* A packet that is to be given, by what its header said. */
struct item {
	uint64_t index;
	uint32_t ring, state;
	uint64_t sequence, begin;
	bool sure; /* it was there at the first of two looks */
};

struct tag_rings {
	char *path;
	int fd;
	struct assay_tags_header header;
	VEC(struct assay_tags_ring) rings;
	struct buf text;
	uint64_t damaged;

	VEC(uint32_t) states, earlier;
	VEC(struct item) items;
	size_t at;   /* of items */
	bool listed; /* items are tag_rings_next()'s */
	char *bytes; /* a packet */

	/* What of the packet stands behind a time when capture was off. */
	struct tag_rings_packet rest;
	bool has_rest;
};

/* Fewer bytes are given at the file's end alone. */
static size_t read_at(int fd, void *into, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, (char *)into + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* ---- header, rings, text ------------------------------------------------ */

static bool within(uint64_t offset, uint64_t size, uint64_t end)
{
	return offset <= end && size <= end - offset;
}

int tag_rings_header_read(int fd, struct assay_tags_header *h, const char *path, struct error *err)
{
	uint64_t end;
	struct stat st;

	if (fstat(fd, &st) || read_at(fd, h, sizeof(*h), 0) != sizeof(*h) ||
	    memcmp(h->magic, ASSAY_TAGS_MAGIC, sizeof(h->magic)) != 0)
		return error_set(err, EINVAL, "%s: no event tags are there (yet)", path);
	end = (uint64_t)st.st_size;
	if (h->version != ASSAY_TAGS_VERSION)
		return error_set(err, EPROTONOSUPPORT,
		                 "%s is of version %" PRIu32 ", which this assay does not know; "
		                 "take the assay that the program's libassay-tags came with",
		                 path, h->version);
	if (h->header_bytes < sizeof(*h) || h->packet_bytes < PACKET_LEAST ||
	    h->packet_bytes > PACKET_MOST || h->packet_bytes % 8 || h->rings_offset % 8 ||
	    h->packets_offset % 8 || h->packets_offset > OFFSET_MOST ||
	    h->packet_count > OFFSET_MOST / PACKET_MOST || h->ring_count > ASSAY_TAGS_RINGS ||
	    h->text_bytes > ASSAY_TAGS_TEXT || h->text_offset > OFFSET_MOST ||
	    !within(h->states_offset, h->packet_count * sizeof(uint32_t), end) ||
	    !within(h->rings_offset, h->ring_count * sizeof(struct assay_tags_ring), end))
		return error_set(err, EINVAL, "%s is damaged: its header names what is not in it",
		                 path);
	return 0;
}

int tag_rings_look(struct tag_rings *r, struct error *err)
{
	struct assay_tags_header h;
	size_t bytes;
	int rc = tag_rings_header_read(r->fd, &h, r->path, err);

	if (rc)
		return rc;
	/* What was allocated by them stays as it was. */
	if (h.packet_bytes != r->header.packet_bytes || h.packet_count != r->header.packet_count)
		return error_set(err, EINVAL, "%s is damaged: its header has changed", r->path);
	r->header = h;
	vec_reserve(&r->rings, h.ring_count);
	bytes = read_at(r->fd, r->rings.items, h.ring_count * sizeof(*r->rings.items),
	                h.rings_offset);
	r->rings.count = bytes / sizeof(*r->rings.items);
	return 0;
}

int tag_rings_open(struct tag_rings **rings, const char *path, struct error *err)
{
	struct tag_rings *r;
	struct stat st;
	int fd = shared_file_open(AT_FDCWD, path, O_RDWR, &st), rc;

	*rings = NULL;
	if (fd == -EACCES || fd == -EROFS)
		fd = shared_file_open(AT_FDCWD, path, O_RDONLY, &st);
	if (fd < 0)
		return error_set(err, -fd, "cannot open %s: %s", path, strerror(-fd));
	r = xcalloc(1, sizeof(*r));
	r->fd = fd;
	r->path = xstrdup(path);
	rc = tag_rings_header_read(fd, &r->header, path, err);
	if (!rc)
		rc = tag_rings_look(r, err);
	if (rc) {
		tag_rings_close(r);
		return rc;
	}
	r->bytes = xmalloc(r->header.packet_bytes);
	*rings = r;
	return 0;
}

void tag_rings_close(struct tag_rings *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r->path);
	free(r->bytes);
	buf_done(&r->text);
	vec_done(&r->rings);
	vec_done(&r->states);
	vec_done(&r->earlier);
	vec_done(&r->items);
	free(r);
}

const struct assay_tags_header *tag_rings_header(const struct tag_rings *r)
{
	return &r->header;
}

size_t tag_rings_count(const struct tag_rings *r)
{
	return r->rings.count;
}

const struct assay_tags_ring *tag_rings_at(const struct tag_rings *r, size_t i)
{
	return &r->rings.items[i];
}

uint64_t tag_rings_damaged(const struct tag_rings *r)
{
	return r->damaged;
}

const char *tag_rings_text(struct tag_rings *r, size_t *length)
{
	size_t size = (size_t)r->header.text_bytes, got;
	struct stat st;

	/* Nothing is allocated for what the file has not. */
	if (fstat(r->fd, &st) || !within(r->header.text_offset, size, (uint64_t)st.st_size))
		size = 0;
	buf_clear(&r->text);
	buf_pad(&r->text, '\0', size);
	got = size ? read_at(r->fd, r->text.data, size, r->header.text_offset) : 0;
	*length = got;
	return buf_text(&r->text);
}

/* ---- which packets there are -------------------------------------------- */

static void states_read(struct tag_rings *r)
{
	size_t count = (size_t)r->header.packet_count;

	vec_reserve(&r->states, count + 1);
	r->states.count = read_at(r->fd, r->states.items, count * sizeof(*r->states.items),
	                          r->header.states_offset) /
	                  sizeof(*r->states.items);
}

uint64_t tag_rings_used(struct tag_rings *r)
{
	uint64_t used = 0;

	states_read(r);
	vec_each (state, &r->states)
		used += *state != ASSAY_TAGS_FREE;
	return used;
}

static uint64_t place_of(const struct tag_rings *r, uint64_t index)
{
	return r->header.packets_offset + index * r->header.packet_bytes;
}

static bool is_sound(const struct tag_rings *r, const struct assay_tags_packet *p)
{
	uint64_t bits = p->content_bits;

	return p->magic == ASSAY_CTF_MAGIC && p->reserved[0] < ASSAY_TAGS_RINGS &&
	       p->begin < TICKS_MOST && p->end < TICKS_MOST && p->pid >= 0 && p->tid >= 0 &&
	       bits % 64 == 0 && bits / 8 <= r->header.packet_bytes &&
	       (!bits || bits / 8 >= sizeof(*p));
}

static bool header_at(struct tag_rings *r, uint64_t index, struct assay_tags_packet *p)
{
	return read_at(r->fd, p, sizeof(*p), place_of(r, index)) == sizeof(*p);
}

/* Another state than CLOSED and OPEN is one that nobody wrote, or of what is not there any more. */
static void item_add(struct tag_rings *r, uint64_t index, uint32_t state)
{
	struct assay_tags_packet p;
	bool read = header_at(r, index, &p);

	/* A thread has just taken it: nothing stands in it yet. */
	if (state == ASSAY_TAGS_OPEN && (!read || !p.magic))
		return;
	if (!read || !is_sound(r, &p)) {
		r->damaged++;
		return;
	}
	vec_push(&r->items, (struct item){.index = index,
	                                  .ring = (uint32_t)p.reserved[0],
	                                  .state = state,
	                                  .sequence = p.sequence,
	                                  .begin = p.begin});
}

static int in_order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void items_sort(struct tag_rings *r)
{
	if (r->items.count)
		qsort(r->items.items, r->items.count, sizeof(*r->items.items), in_order);
}

/* ---- a packet ----------------------------------------------------------- */

/* Takes out zeros and void words; gives how many slots were empty. */
static uint64_t words_close_up(uint64_t *words, size_t *count)
{
	size_t kept = 0, last = *count;
	uint64_t holes = 0;

	while (last && !words[last - 1])
		last--;
	for (size_t i = 0; i < last; i++) {
		holes += !words[i];
		if (words[i] && (words[i] & ASSAY_TAGS_TAG_MASK) != ASSAY_TAG_VOID)
			words[kept++] = words[i];
	}
	*count = kept;
	return holes;
}

static uint64_t time_after(uint64_t time, uint64_t word)
{
	return time + (((word >> ASSAY_TAGS_TAG_BITS) - time) & ASSAY_TAGS_CLOCK_MASK);
}

/*
 * Header and words belong together if nobody took the packet meanwhile: who does sets its
 * state first, then empties it from its begin on.
 */
static bool packet_copy(struct tag_rings *r, const struct item *item, struct tag_rings_packet *p)
{
	struct assay_tags_packet *h = (struct assay_tags_packet *)r->bytes, after;
	uint64_t bytes = r->header.packet_bytes;
	uint32_t state;

	if (read_at(r->fd, r->bytes, bytes, place_of(r, item->index)) != bytes || !is_sound(r, h) ||
	    !header_at(r, item->index, &after) ||
	    read_at(r->fd, &state, sizeof(state),
	            r->header.states_offset + item->index * sizeof(state)) != sizeof(state))
		return false;
	if (after.magic != h->magic || after.sequence != item->sequence ||
	    h->sequence != item->sequence || after.begin != item->begin ||
	    h->begin != item->begin || after.reserved[0] != item->ring ||
	    (item->state == ASSAY_TAGS_CLOSED && state == ASSAY_TAGS_OPEN))
		return false;
	*p = (struct tag_rings_packet){.ring = item->ring,
	                               .header = *h,
	                               .words = (uint64_t *)(h + 1),
	                               .open = item->state == ASSAY_TAGS_OPEN};
	p->count = ((h->content_bits && !p->open ? h->content_bits / 8 : bytes) - sizeof(*h)) / 8;
	return true;
}

/* Header and words fit again, after words were taken out. */
static void packet_complete(struct tag_rings_packet *p)
{
	p->header.content_bits = (sizeof(p->header) + p->count * 8) * 8;
	p->header.end =
	        p->count ? time_after(p->header.begin, p->words[p->count - 1]) : p->header.begin;
}

/*
 * Leaves out what came while capture was off: [off, on), or from off on. What comes
 * after that is a packet of its own, behind a gap.
 */
static void capture_apply(struct tag_rings *r, struct tag_rings_packet *p)
{
	uint64_t off = r->header.off_ticks, on = r->header.on_ticks, time = p->header.begin;
	size_t before = 0, after;

	if ((!off && !on) || p->header.end <= off || (on > off && time >= on))
		return;
	while (before < p->count && (time = time_after(time, p->words[before])) <= off)
		before++;
	for (after = before; after < p->count; after++) {
		uint64_t next = after == before ? time : time_after(time, p->words[after]);

		if (on > off && next >= on)
			break;
		time = next;
	}
	r->rest = *p;
	r->rest.words += after;
	r->rest.count -= after;
	r->rest.header.begin = time;
	r->rest.header.flags |= ASSAY_TAGS_GAP;
	r->rest.holes = 0;
	packet_complete(&r->rest);
	p->count = before;
	packet_complete(p);
	r->has_rest = r->rest.count > 0;
	if (!before && r->has_rest) {
		r->rest.holes = p->holes;
		*p = r->rest;
		r->has_rest = false;
	}
}

static bool packet_take(struct tag_rings *r, const struct item *item, struct tag_rings_packet *p)
{
	if (!packet_copy(r, item, p))
		return false;
	p->holes = words_close_up((uint64_t *)(r->bytes + sizeof(p->header)), &p->count);
	packet_complete(p);
	return true;
}

static bool rest_take(struct tag_rings *r, struct tag_rings_packet *p)
{
	if (!r->has_rest)
		return false;
	*p = r->rest;
	r->has_rest = false;
	return true;
}

/* ---- draining ----------------------------------------------------------- */

/*
 * One look at the states is no moment: a packet may be seen closed and the one before it,
 * closed earlier, not yet. After a second look all that come before those of the first
 * are there; what is later than they waits.
 */
static void drain_list(struct tag_rings *r)
{
	size_t kept = 0;

	r->items.count = r->at = 0;
	states_read(r);
	vec_reserve(&r->earlier, r->states.count + 1);
	r->earlier.count = r->states.count;
	if (r->states.count)
		memcpy(r->earlier.items, r->states.items,
		       r->states.count * sizeof(*r->states.items));
	states_read(r);
	for (size_t i = 0; i < r->states.count && i < r->earlier.count; i++) {
		size_t count = r->items.count;

		if (r->states.items[i] != ASSAY_TAGS_CLOSED)
			continue;
		item_add(r, i, ASSAY_TAGS_CLOSED);
		if (r->items.count > count)
			vec_last(&r->items)->sure = r->earlier.items[i] == ASSAY_TAGS_CLOSED;
	}
	items_sort(r);
	for (size_t i = 0, end; i < r->items.count; i = end) {
		size_t sure = i;

		for (end = i;
		     end < r->items.count && r->items.items[end].ring == r->items.items[i].ring;
		     end++)
			if (r->items.items[end].sure)
				sure = end + 1;
		while (i < sure)
			r->items.items[kept++] = r->items.items[i++];
	}
	r->items.count = kept;
}

/* The words were read: they may be overwritten from here on. One byte of it changes. */
static int give_back(struct tag_rings *r, uint64_t index, bool holes, struct error *err)
{
	uint32_t state = holes ? ASSAY_TAGS_RETIRED : ASSAY_TAGS_FREE;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (pwrite(r->fd, &state, sizeof(state),
	           (off_t)(r->header.states_offset + index * sizeof(state))) != sizeof(state))
		return error_set(err, EIO, "cannot give room back in %s", r->path);
	return 0;
}

int tag_rings_drain(struct tag_rings *r, struct tag_rings_packet *p, struct error *err)
{
	int rc;

	if (rest_take(r, p))
		return 1;
	if (r->listed)
		tag_rings_rewind(r);
	if (r->at >= r->items.count)
		drain_list(r);
	while (r->at < r->items.count) {
		const struct item *item = &r->items.items[r->at++];
		bool taken = packet_take(r, item, p);

		r->damaged += !taken;
		rc = give_back(r, item->index, taken && p->holes, err);
		if (rc)
			return rc;
		if (!taken)
			continue;
		capture_apply(r, p);
		return 1;
	}
	return 0;
}

/* ---- looking ------------------------------------------------------------ */

void tag_rings_rewind(struct tag_rings *r)
{
	r->items.count = r->at = 0;
	r->listed = r->has_rest = false;
}

static void next_list(struct tag_rings *r)
{
	tag_rings_rewind(r);
	states_read(r);
	for (size_t i = 0; i < r->states.count; i++) {
		uint32_t state = r->states.items[i];

		if (state == ASSAY_TAGS_CLOSED || state == ASSAY_TAGS_OPEN)
			item_add(r, i, state);
	}
	items_sort(r);
	r->listed = true;
}

int tag_rings_next(struct tag_rings *r, struct tag_rings_packet *p, struct error *err)
{
	if (rest_take(r, p))
		return 1;
	if (!r->listed)
		next_list(r);
	while (r->at < r->items.count) {
		/* WRAP: one that was taken meanwhile was the oldest. */
		if (!packet_take(r, &r->items.items[r->at++], p))
			continue;
		capture_apply(r, p);
		return 1;
	}
	return 0;
}

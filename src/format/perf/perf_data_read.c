/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records are sorted by time and address without copying them, and decoded in that order.
 * Compressed records are the exception: they are unpacked into blocks, which are kept until all of
 * their records are delivered.
 */
#include "base/text/plural.h"
#include "event/time_order.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_data_read.h"
#include "format/perf/perf_record_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	BLOCK_BYTES = 1 << 20,
	UNPACKED_MAX = 128 << 20, /* if more data waits, the oldest is delivered */
	RELEASE_BYTES = 8 << 20,  /* after reading this much, mapped pages are released */
};

/* Unpacked records, each preceded by 8 bytes with its offset in the file. */
struct block {
	uint8_t *bytes;
	size_t used, room;
	uint64_t newest_ns;
};

/* The record of a deferred call chain: the user's part of the chains with the cookie. */
struct deferred_chain {
	uint64_t cookie, offset;
};

struct delivery {
	struct perf_data_view *v;
	struct recording *r;
	const struct event_sink *sink;
	struct perf_data_read_options options;
	struct time_order order;
	struct perf_inflate *inflate;
	VEC(struct block) blocks;
	size_t unpacked_bytes;
	size_t unreleased; /* bytes read since pages were released */
	uint64_t damaged;
	const uint8_t *packed;               /* the record being unpacked */
	VEC(struct deferred_chain) deferred; /* by cookie and offset; only if a sample needs one */
	bool deferred_sought;
	VEC(uint64_t) chain; /* of the sample, with its deferred part */
};

static bool is_mapped(const struct delivery *d, const uint8_t *p)
{
	return p >= d->v->bytes && p < d->v->bytes + d->v->mapped_size;
}

static uint64_t file_offset(const struct delivery *d, const uint8_t *record)
{
	return is_mapped(d, record) ? (uint64_t)(record - d->v->bytes) : load_u64(record - 8);
}

static void warn_damaged(struct delivery *d, const struct event *e)
{
	if (!d->damaged++)
		recording_warn(d->r,
		               "%s: the record of type %" PRIu32 " at offset %" PRIu64
		               " has invalid contents; such records are skipped",
		               d->v->name, e->type, e->file_offset);
}

static bool is_outside(const struct recording *r, const struct event *e)
{
	return e->time_ns < r->from_ns || (r->to_ns && e->time_ns >= r->to_ns);
}

/* False if the sample is not delivered. */
static bool count_sample(struct delivery *d, const struct event *e)
{
	struct recording *r = d->r;

	if (is_outside(r, e))
		return d->options.outside_too;
	r->samples++;
	if (e->attr < r->attrs.count)
		r->attrs.items[e->attr].samples++;
	if (e->time_ns && (!r->first_sample_ns || e->time_ns < r->first_sample_ns))
		r->first_sample_ns = e->time_ns;
	if (e->time_ns > r->last_sample_ns)
		r->last_sample_ns = e->time_ns;
	return true;
}

/* Drops all pages that were read; a page that is used again is read again automatically. */
static void release_pages(struct delivery *d, size_t read)
{
	d->unreleased += read;
	if (!d->v->mapped || d->unreleased < RELEASE_BYTES)
		return;
	madvise((void *)(uintptr_t)d->v->bytes, d->v->mapped_size, MADV_DONTNEED);
	d->unreleased = 0;
}

static int compare_deferred(const void *pa, const void *pb)
{
	const struct deferred_chain *a = pa, *b = pb;

	if (a->cookie != b->cookie)
		return a->cookie < b->cookie ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void list_deferred(struct delivery *d, size_t from, size_t to)
{
	struct perf_record_walk walk = {.p = d->v->bytes + from, .end = d->v->bytes + to};
	const uint8_t *record;

	while ((record = perf_record_next(&walk))) {
		if (load_u32(record) == PERF_RECORD_CALLCHAIN_DEFERRED_TYPE &&
		    walk.record_size >= PERF_DEFERRED_FIXED)
			vec_push(&d->deferred,
			         (struct deferred_chain){load_u64(record + PERF_RECORD_HEADER_SIZE),
			                                 (uint64_t)(record - d->v->bytes)});
		release_pages(d, (size_t)(walk.p - record));
	}
}

/*
 * The kernel writes such a record when the thread returns to user space, long after the sample. So
 * the first sample that needs one makes a list of all; records that perf -z packed are not listed.
 */
static void find_deferred(struct delivery *d)
{
	d->deferred_sought = true;
	list_deferred(d, d->v->data, d->v->data_end);
	for (size_t i = 0; i < d->v->part_count; i++)
		list_deferred(d, d->v->parts[i].offset,
		              d->v->parts[i].offset + d->v->parts[i].size);
	if (d->deferred.count)
		qsort(d->deferred.items, d->deferred.count, sizeof(*d->deferred.items),
		      compare_deferred);
}

/* The first record with the cookie after the sample, or else the last one; NULL: there is none. */
static const uint8_t *deferred_of(const struct delivery *d, uint64_t cookie, uint64_t offset)
{
	size_t low = 0, high = d->deferred.count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct deferred_chain *c = &d->deferred.items[middle];

		if (c->cookie < cookie || (c->cookie == cookie && c->offset < offset))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == d->deferred.count || d->deferred.items[low].cookie != cookie)
		low--;
	if (low >= d->deferred.count || d->deferred.items[low].cookie != cookie)
		return NULL;
	return d->v->bytes + d->deferred.items[low].offset;
}

/* Puts the deferred part in the place of its mark and cookie, if the chain ends with these. */
static void join_deferred(struct delivery *d, struct event *e)
{
	struct event_sample *s = &e->sample;
	uint32_t kept = s->chain_count - 2;
	const uint8_t *record;
	uint64_t count, most;

	if (s->chain_count < 2 || s->chain[kept] != CHAIN_CONTEXT_USER_DEFERRED)
		return;
	if (!d->deferred_sought)
		find_deferred(d);
	record = deferred_of(d, s->chain[kept + 1], e->file_offset);
	if (!record) {
		d->r->deferred_missing++;
		return;
	}
	most = (load_u16(record + 6) - PERF_DEFERRED_FIXED) / sizeof(uint64_t);
	count = load_u64(record + PERF_RECORD_HEADER_SIZE + 8);
	if (count > most)
		count = most;
	d->chain.count = 0;
	vec_reserve(&d->chain, kept + 1 + count);
	memcpy(d->chain.items, s->chain, kept * sizeof(uint64_t));
	d->chain.items[kept++] = CHAIN_CONTEXT_USER;
	memcpy(d->chain.items + kept, record + PERF_DEFERRED_FIXED, count * sizeof(uint64_t));
	s->chain = d->chain.items;
	s->chain_count = kept + (uint32_t)count;
}

static int deliver_record(struct delivery *d, const uint8_t *record, uint64_t offset,
                          struct error *err)
{
	struct event e;
	enum perf_decoded decoded =
	        perf_decoder_decode(&d->v->decoder, record, load_u16(record + 6), &e);

	e.file_offset = offset;
	if (decoded != PERF_DECODED) {
		d->r->unknown_records++;
		if (decoded == PERF_DECODED_DAMAGED)
			warn_damaged(d, &e);
		return 0;
	}
	if (e.kind == EVENT_SAMPLE && !count_sample(d, &e))
		return 0;
	if (e.kind == EVENT_SAMPLE && e.sample.chain)
		join_deferred(d, &e);
	if (e.kind == EVENT_LOST && !is_outside(d->r, &e))
		*(e.lost.samples ? &d->r->lost_samples : &d->r->lost_records) += e.lost.count;
	if (e.kind == EVENT_OTHER && e.type == PERF_RECORD_LOST_SAMPLES && !is_outside(d->r, &e))
		d->r->rejected_samples += e.lost.count;
	return d->sink->event ? d->sink->event(d->sink->ctx, &e, err) : 0;
}

static int deliver_ordered(void *ctx, uint64_t position, struct error *err)
{
	const uint8_t *record = (const uint8_t *)(uintptr_t)position;
	int rc = deliver_record(ctx, record, file_offset(ctx, record), err);

	release_pages(ctx, load_u16(record + 6));
	return rc;
}

/* The end of an unpacked record of that size in its block, where the next one begins. */
static size_t unpacked_step(size_t size)
{
	return sizeof(uint64_t) + (size + 7) / 8 * 8;
}

/* Must skip the same records as take_record(): only kernel records with a time are sorted. */
static uint64_t next_ordered(void *ctx, uint64_t position, uint64_t end, uint64_t *time_ns)
{
	struct delivery *d = ctx;
	const uint8_t *record = (const uint8_t *)(uintptr_t)position;
	const uint8_t *stop = (const uint8_t *)(uintptr_t)end;

	if (!is_mapped(d, record)) {
		record += unpacked_step(load_u16(record + 6));
		*time_ns = record < stop
		                   ? perf_decoder_time(&d->v->decoder, record, load_u16(record + 6))
		                   : 0;
		return *time_ns ? (uintptr_t)record : 0;
	}
	for (struct perf_record_walk walk = {.p = record, .end = stop};
	     (record = perf_record_next(&walk));) {
		if ((uintptr_t)record == position || load_u32(record) >= PERF_USER_ATTR)
			continue;
		*time_ns = perf_decoder_time(&d->v->decoder, record, walk.record_size);
		if (*time_ns)
			return (uintptr_t)record;
	}
	return 0;
}

/* Frees the blocks whose newest record was delivered. */
static void drop_blocks(struct delivery *d)
{
	size_t kept = 0;

	vec_each (block, &d->blocks) {
		if (block->newest_ns > d->order.delivered_ns) {
			d->blocks.items[kept++] = *block;
			continue;
		}
		d->unpacked_bytes -= block->room;
		free(block->bytes);
	}
	d->blocks.count = kept;
}

static int end_round(struct delivery *d, struct error *err)
{
	int rc = time_order_round(&d->order, err);

	drop_blocks(d);
	return rc;
}

static const uint8_t *keep_unpacked(struct delivery *d, const uint8_t *record, size_t size,
                                    uint64_t time_ns)
{
	size_t need = unpacked_step(size);
	uint64_t offset = d->packed - d->v->bytes;
	struct block *block = d->blocks.count ? vec_last(&d->blocks) : NULL;
	uint8_t *to;

	if (!block || block->room - block->used < need) {
		block = vec_add(&d->blocks);
		block->room = BLOCK_BYTES;
		block->bytes = xmalloc(block->room);
		d->unpacked_bytes += block->room;
	}
	to = block->bytes + block->used;
	memcpy(to, &offset, sizeof(offset));
	memcpy(to + sizeof(offset), record, size);
	block->used += need;
	if (time_ns > block->newest_ns)
		block->newest_ns = time_ns;
	return to + sizeof(offset);
}

/*
 * Records of the kernel are sorted by time; records without a time are delivered immediately.
 * `end`: of the record and the data that belongs to it.
 */
static int take_kernel_record(struct delivery *d, const uint8_t *record, size_t size,
                              const uint8_t *end, struct error *err)
{
	uint64_t time_ns = perf_decoder_time(&d->v->decoder, record, size);

	if (!time_ns) {
		time_order_pass(&d->order, (uintptr_t)record, (uintptr_t)end);
		return deliver_record(d, record,
		                      is_mapped(d, record) ? (uint64_t)(record - d->v->bytes)
		                                           : (uint64_t)(d->packed - d->v->bytes),
		                      err);
	}
	if (!is_mapped(d, record)) {
		record = keep_unpacked(d, record, size, time_ns);
		end = record + unpacked_step(size);
	}
	time_order_push(&d->order, time_ns, (uintptr_t)record, (uintptr_t)end);
	return time_order_full(&d->order) ? time_order_relieve(&d->order, err) : 0;
}

static int take_unpacked(void *ctx, const uint8_t *record, size_t size, struct error *err)
{
	struct delivery *d = ctx;

	d->r->records++;
	if (load_u32(record) >= PERF_USER_ATTR) { /* recorders never pack these */
		d->r->unknown_records++;
		return 0;
	}
	return take_kernel_record(d, record, size, record + size, err);
}

/* Delivers the waiting blocks before the middle one, or all if that is not enough. */
static int drop_oldest(struct delivery *d, struct error *err)
{
	int rc = time_order_until(&d->order, d->blocks.items[d->blocks.count / 2].newest_ns, err);

	drop_blocks(d);
	if (rc || d->unpacked_bytes <= UNPACKED_MAX / 4 * 3)
		return rc;
	rc = time_order_finish(&d->order, err);
	drop_blocks(d);
	return rc;
}

static int take_packed(struct delivery *d, const uint8_t *record, size_t size, const char **why,
                       struct error *err)
{
	const uint8_t *packed = record + PERF_RECORD_HEADER_SIZE;
	size_t bytes = size - PERF_RECORD_HEADER_SIZE;
	int rc;

	if (load_u32(record) == PERF_USER_COMPRESSED2) { /* padded: has its own length */
		uint64_t used = bytes >= sizeof(used) ? load_u64(packed) : UINT64_MAX;

		if (used > bytes - sizeof(used)) {
			*why = "a compressed record is longer than it can be";
			return 0;
		}
		packed += sizeof(used);
		bytes = used;
	}
	if (!d->inflate)
		d->inflate = perf_inflate_new();
	d->packed = record;
	rc = perf_inflate(d->inflate, packed, bytes, take_unpacked, d, why, err);
	/* A file may unpack to a thousand times its size, so the waiting data is limited. */
	return !rc && d->unpacked_bytes > UNPACKED_MAX ? drop_oldest(d, err) : rc;
}

static int take_record(struct delivery *d, const uint8_t *record, const struct perf_record_walk *w,
                       const char **why, struct error *err)
{
	uint32_t type = load_u32(record);

	d->r->records++;
	if (type < PERF_USER_ATTR)
		return take_kernel_record(d, record, w->record_size, w->p, err);
	time_order_pass(&d->order, (uintptr_t)record, (uintptr_t)w->p);
	/* A round of one file is not a round of the others. */
	if (type == PERF_USER_FINISHED_ROUND)
		return d->v->part_count ? 0 : end_round(d, err);
	if (type == PERF_USER_COMPRESSED || type == PERF_USER_COMPRESSED2)
		return take_packed(d, record, w->record_size, why, err);
	if (type > PERF_USER_COMPRESSED2)
		d->r->unknown_records++;
	return 0;
}

/* A recorder that writes whole blocks leaves zeros at the end if it is killed. */
static bool only_zeros(const uint8_t *p, const uint8_t *end)
{
	while (p < end && !*p)
		p++;
	return p == end;
}

/* Adds a warning with the place where reading ended early. */
static void warn_ended(struct delivery *d, const uint8_t *record, const char *why)
{
	bool killed = d->r->truncated;

	d->r->truncated = true;
	if (killed && only_zeros(record, d->v->bytes + d->v->data_end))
		return;
	recording_warn(d->r, "%s: %s, at offset %zu of %zu: reading ends there", d->v->name, why,
	               (size_t)(record - d->v->bytes), d->v->mapped_size);
}

/* Reads the records of one file, which has its own stream of compressed records. */
static int take_part(struct delivery *d, size_t from, size_t to, struct error *err)
{
	struct perf_record_walk walk = {.p = d->v->bytes + from, .end = d->v->bytes + to};
	const uint8_t *record = walk.p;
	const char *why = NULL;
	int rc = 0;

	while (!rc && !why && (record = perf_record_next(&walk))) {
		rc = take_record(d, record, &walk, &why, err);
		release_pages(d, (size_t)(walk.p - record));
	}
	if (rc)
		return rc;
	if (why || walk.why)
		warn_ended(d, why ? record : walk.p, why ? why : walk.why);
	perf_inflate_free(d->inflate);
	d->inflate = NULL;
	return 0;
}

static int take_all(struct delivery *d, struct error *err)
{
	const struct perf_data_view *v = d->v;
	int rc = take_part(d, v->data, v->data_end, err);

	for (size_t i = 0; !rc && i < v->part_count; i++)
		rc = take_part(d, v->parts[i].offset, v->parts[i].offset + v->parts[i].size, err);
	return rc ? rc : time_order_finish(&d->order, err);
}

/* A bound outside of the recording's time has no effect. */
static void choose_part(struct delivery *d, const struct perf_data_read_options *options)
{
	const struct account *a = &d->r->account;

	d->options = *options;
	d->r->from_ns = a->present && options->from_ns <= a->start_ns ? 0 : options->from_ns;
	d->r->to_ns = a->present && options->to_ns >= a->end_ns ? 0 : options->to_ns;
}

int perf_data_deliver(struct perf_data_view *v, const struct perf_data_read_options *options,
                      struct recording *r, const struct event_sink *sink, struct error *err)
{
	struct delivery d = {.v = v, .r = r, .sink = sink};
	int rc = 0;

	if (options)
		choose_part(&d, options);
	if (!v->mapped_size)
		v->mapped_size = v->size;
	time_order_init(&d.order, &(struct time_order_source){.ctx = &d,
	                                                      .deliver = deliver_ordered,
	                                                      .next = next_ordered});
	if (sink->begin)
		rc = sink->begin(sink->ctx, r, err);
	if (!rc)
		rc = take_all(&d, err);
	r->out_of_order = d.order.late;
	if (!rc && sink->end)
		rc = sink->end(sink->ctx, r, err);
	vec_each (block, &d.blocks)
		free(block->bytes);
	vec_done(&d.blocks);
	vec_done(&d.deferred);
	vec_done(&d.chain);
	if (r->deferred_missing)
		recording_warn(
		        r,
		        "%s: the deferred user part of the call chains of %" PRIu64
		        " %s is missing: the records with it were lost, or packed by perf -z",
		        v->name, r->deferred_missing,
		        plural(r->deferred_missing, "sample", "samples"));
	if (r->rejected_samples)
		recording_warn(r,
		               "%s: the filter of perf record --filter rejected %" PRIu64
		               " %s, which are not lost",
		               v->name, r->rejected_samples,
		               plural(r->rejected_samples, "sample", "samples"));
	perf_inflate_free(d.inflate);
	time_order_done(&d.order);
	return rc;
}

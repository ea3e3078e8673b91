/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the files that samples hit. Addresses are compared regardless of the process: a forked
 * child has its parent's mappings, and a false hit only costs a copy.
 */
#include "session/keep/image_keeper_internal.h"

#include "base/clock.h"
#include "base/memory/sorted.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* If every sample is scanned, a file of this age counts as hit if it is unknown. */
#define YOUNG_NS UINT64_C(5000000000)
#define SWEEP_NS UINT64_C(1000000000)
#define RANGES_MAX 65536
#define KERNEL_FROM (UINT64_C(1) << 63)

/* Fields come in the order of their bits in sample_type; each has 8 bytes. */
void image_keeper_hits_init(struct image_keeper *k, const struct perf_event_attr *sampled)
{
	static const uint64_t before_chain[] = {
	        PERF_SAMPLE_TID, PERF_SAMPLE_TIME,      PERF_SAMPLE_ADDR,  PERF_SAMPLE_ID,
	        PERF_SAMPLE_CPU, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_PERIOD};
	uint64_t type = sampled->sample_type;

	k->ip_at = 8 + (type & PERF_SAMPLE_IDENTIFIER ? 8 : 0);
	if (!(type & PERF_SAMPLE_IP))
		k->ip_at = 0;
	if (!(type & PERF_SAMPLE_CALLCHAIN) || type & PERF_SAMPLE_READ)
		return;
	k->chain_at = k->ip_at + 8;
	for (size_t i = 0; i < sizeof(before_chain) / sizeof(*before_chain); i++)
		k->chain_at += type & before_chain[i] ? 8 : 0;
}

void image_keeper_hits_add(struct image_keeper *k, uint32_t file, const struct event_mmap *m,
                           int32_t pid)
{
	struct image_keeper_file *f = &k->files.items[file];

	if (f->fd < 0 || f->hit || (f->old && !f->at_risk))
		return;
	/* A process may map one file very often; such a file counts as hit. */
	if (k->ranges.count >= RANGES_MAX) {
		f->old = true;
		return;
	}
	vec_push(&k->ranges,
	         (struct image_keeper_range){
	                 .start = m->addr, .end = m->addr + m->size, .file = file, .pid = pid});
	f->ranges++;
	k->sorted = false;
}

static int compare_ranges(const void *pa, const void *pb)
{
	const struct image_keeper_range *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Sorts the ranges by their start, and sets the highest end up to each of them. */
static void sort_ranges(struct image_keeper *k)
{
	uint64_t reach = 0;

	qsort(k->ranges.items, k->ranges.count, sizeof(*k->ranges.items), compare_ranges);
	vec_each (r, &k->ranges) {
		if (r->end > reach)
			reach = r->end;
		r->reach = reach;
	}
	k->sorted = true;
}

/* Ranges of several processes may overlap: all that may hold the address are tried. */
static void look_up(struct image_keeper *k, uint64_t address)
{
	size_t begun = sorted_count(i, k->ranges.count, k->ranges.items[i].start <= address);

	/* Tries a few ranges backwards, since several programs may start at the same address. */
	for (size_t tries = 0; begun > 0 && tries < 64; tries++) {
		const struct image_keeper_range *r = &k->ranges.items[--begun];
		struct image_keeper_file *f = &k->files.items[r->file];

		/* Neither this range nor any earlier range reaches the address. */
		if (address >= r->reach)
			return;
		if (address >= r->end || f->hit)
			continue;
		f->hit = true;
		/* Copies the file at once, since stacks through it are about to be walked. */
		image_keeper_file_decide(k, f, false);
	}
}

void image_keeper_hits(struct image_keeper *k, const uint64_t *addresses, size_t count)
{
	if (!k || !k->ranges.count)
		return;
	if (!k->sorted)
		sort_ranges(k);
	for (size_t i = 0; i < count; i++)
		if (addresses[i] < KERNEL_FROM)
			look_up(k, addresses[i]);
}

static void scan_record(struct image_keeper *k, const uint8_t *record, size_t size)
{
	struct perf_event_header header;
	uint64_t ip, count, address;

	memcpy(&header, record, sizeof(header));
	if (header.type != PERF_RECORD_SAMPLE || size < k->ip_at + 8)
		return;
	memcpy(&ip, record + k->ip_at, 8);
	image_keeper_hits(k, &ip, 1);
	if (!k->chain_at || size < k->chain_at + 8)
		return;
	memcpy(&count, record + k->chain_at, 8);
	for (size_t at = k->chain_at + 8; count && at + 8 <= size; at += 8, count--) {
		memcpy(&address, record + at, 8);
		image_keeper_hits(k, &address, 1);
	}
}

void image_keeper_records(struct image_keeper *k, struct buf *cut, const void *records,
                          size_t bytes, image_keeper_record_fn *fn)
{
	const uint8_t *at = records, *end = at + bytes;
	struct perf_event_header header;
	size_t missing;

	if (cut->size >= sizeof(header)) {
		memcpy(&header, cut->data, sizeof(header));
		missing = header.size > cut->size ? header.size - cut->size : 0;
		missing = missing < bytes ? missing : bytes;
		buf_add(cut, at, missing);
		at += missing;
		if (cut->size >= header.size)
			fn(k, (const uint8_t *)cut->data, header.size);
	}
	buf_clear(cut);
	while ((size_t)(end - at) >= sizeof(header)) {
		memcpy(&header, at, sizeof(header));
		if (header.size < sizeof(header))
			return;
		if (header.size > (size_t)(end - at)) {
			buf_add(cut, at, (size_t)(end - at));
			return;
		}
		fn(k, at, header.size);
		at += header.size;
	}
}

void image_keeper_scan(struct image_keeper *k, const void *records, size_t bytes)
{
	if (!k || !k->ip_at || !k->ranges.count || (!k->eager && !k->at_risk)) {
		if (k)
			buf_clear(&k->cut);
		return;
	}
	image_keeper_records(k, &k->cut, records, bytes, scan_record);
}

static bool has_ended(int32_t pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

/* True if the process had already exited at the last sweep. All its samples have been read since
 * then. */
static bool is_over(struct image_keeper *k, struct image_keeper_range *r, bool sweep)
{
	const struct image_keeper_file *f = &k->files.items[r->file];

	if (f->fd < 0 || f->hit || (f->old && !f->at_risk))
		return true;
	if (!sweep)
		return false;
	if (r->ended)
		return true;
	r->ended = has_ended(r->pid);
	return false;
}

static void drop_ranges(struct image_keeper *k, bool sweep)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->ranges.count; i++) {
		struct image_keeper_range *r = &k->ranges.items[i];

		if (is_over(k, r, sweep))
			k->files.items[r->file].ranges--;
		else
			k->ranges.items[kept++] = *r;
	}
	k->ranges.count = kept;
}

void image_keeper_drained(struct image_keeper *k)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool sweep;

	if (!k || !k->ranges.count)
		return;
	for (size_t i = 0; i < k->ranges.count; i++) {
		struct image_keeper_file *f = &k->files.items[k->ranges.items[i].file];

		if (!f->at_risk && (!k->eager || now - f->since_ns > YOUNG_NS))
			f->old = true;
	}
	sweep = now - k->swept_ns > SWEEP_NS;
	if (sweep)
		k->swept_ns = now;
	drop_ranges(k, sweep);
	if (!sweep)
		return;
	/* Closes files whose processes have exited without a sample in the file. */
	vec_each (f, &k->files)
		if (f->at_risk && !f->hit && !f->old && !f->ranges)
			image_keeper_file_release(k, f);
	image_keeper_files_compact(k);
}

void image_keeper_hits_done(struct image_keeper *k)
{
	vec_done(&k->ranges);
	buf_done(&k->cut);
	buf_done(&k->news);
}

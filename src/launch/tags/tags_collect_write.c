/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/tags/tags_collect_internal.h"

#include <string.h>

#define NEAR_NS 50000 /* maximum shift of a switch; clocks agree much better */

static uint64_t near_ticks(const struct tags_collect *c)
{
	return (uint64_t)(NEAR_NS * c->rate);
}

static struct collect_stream *stream_of(struct collect_file *f, uint32_t ring)
{
	return vec_at(&f->streams, ring);
}

static int stream_make(struct tags_collect *c, struct collect_file *f, struct collect_stream *s,
                       struct error *err)
{
	int rc;

	if (s->made)
		return 0;
	collect_names(c, f);
	rc = ctf_writer_stream(c->writer, c->classes.items[f->class].number, false, &s->number,
	                       err);
	s->made = !rc;
	c->result.streams += !rc;
	return rc;
}

static void name_take(char into[17], const char from[16])
{
	memcpy(into, from, 16);
	into[16] = '\0';
}

/* Writes each piece as a packet; the first packet has the losses and gaps. */
static int write_pieces(struct tags_collect *c, struct collect_stream *s, struct tag_packet *p,
                        struct error *err)
{
	const struct tags_merged *m = &c->merged;
	int rc = 0;

	for (size_t i = 0; i < m->pieces.count && !rc; i++) {
		size_t first = m->pieces.items[i].first;
		bool last = i + 1 == m->pieces.count;

		p->begin = m->pieces.items[i].begin;
		p->words = m->words.items + first;
		p->count = (last ? m->words.count : m->pieces.items[i + 1].first) - first;
		p->end = last ? m->end : m->pieces.items[i + 1].begin;
		rc = ctf_writer_packet(c->writer, s->number, p, err);
		p->lost = 0;
		p->gap = p->forked = false;
	}
	if (!m->pieces.count && (p->lost || p->gap)) {
		p->begin = p->end = p->begin > s->end ? p->begin : s->end;
		p->words = NULL;
		p->count = 0;
		rc = ctf_writer_packet(c->writer, s->number, p, err);
		s->end = p->end;
	}
	return rc;
}

/* Skips switches before the first event of a thread. */
static void skip_early(struct tags_collect *c, int32_t tid, uint64_t begin)
{
	size_t count, early = 0;
	const struct tags_switch *s = tags_switches_of(c->switches, tid, &count);

	while (early < count && s[early].ticks <= begin)
		early++;
	tags_switches_take(c->switches, tid, early);
}

/* Merges switches up to `until`; 0: up to the last event. */
static void merge(struct tags_collect *c, struct collect_file *f, struct collect_stream *s,
                  const struct tag_rings_packet *p, uint64_t until)
{
	struct tags_merge m = {.begin = p->header.begin,
	                       .floor = s->end,
	                       .words = p->words,
	                       .count = p->count,
	                       .near = near_ticks(c)};
	int32_t tid = collect_tid(f, p->header.tid);

	if (c->switches && (!s->any || s->tid != p->header.tid))
		skip_early(c, tid, p->header.begin);
	if (c->switches)
		m.switches = tags_switches_of(c->switches, tid, &m.switch_count);
	/*
	 * Later switches are of the thread's next program, or of another thread with the same id.
	 */
	while (until && m.switch_count && m.switches[m.switch_count - 1].ticks > until)
		m.switch_count--;
	m.switch_count = tags_merge(&m, until != 0, &c->merged);
	if (c->switches)
		tags_switches_take(c->switches, tid, m.switch_count);
	if (c->merged.words.count)
		s->end = c->merged.end;
}

static struct tag_packet packet_make(struct collect_file *f, const struct tag_rings_packet *p)
{
	struct tag_packet packet = {.begin = p->header.begin,
	                            .pid = collect_pid(f, p->header.pid),
	                            .tid = collect_tid(f, p->header.tid),
	                            .gap = p->header.flags & ASSAY_TAGS_GAP,
	                            .forked = p->header.flags & ASSAY_TAGS_FORKED};

	name_take(packet.thread, p->header.thread);
	name_take(packet.process, p->header.process);
	return packet;
}

/* Words of the device itself do not count as events. */
static uint64_t count_events(const struct tag_rings_packet *p)
{
	uint64_t events = 0;

	for (size_t i = 0; i < p->count; i++)
		events += (p->words[i] & ASSAY_TAGS_TAG_MASK) < ASSAY_TAG_RESERVED;
	return events;
}

int collect_write(struct tags_collect *c, struct collect_file *f, struct tag_rings_packet *p,
                  struct error *err)
{
	struct collect_stream *s = stream_of(f, p->ring);
	struct tag_packet packet = packet_make(f, p);
	int rc = stream_make(c, f, s, err);

	if (rc)
		return rc;
	/*
	 * WRAP: packets between these two were overwritten. The rest of a split packet has the
	 * number of the packet.
	 */
	if (p->header.sequence != s->sequence + s->any && p->header.sequence != s->sequence)
		packet.gap = true;
	if (p->header.discarded > s->discarded) {
		packet.lost = p->header.discarded - s->discarded;
		s->discarded = p->header.discarded;
	}
	merge(c, f, s, p, 0);
	c->result.events += count_events(p);
	c->result.holes += p->holes;
	c->result.lost += packet.lost;
	s->any = true;
	s->tid = p->header.tid;
	s->sequence = p->header.sequence;
	s->last = p->header;
	return write_pieces(c, s, &packet, err);
}

int collect_write_waiting(struct tags_collect *c, struct collect_file *f, struct error *err)
{
	uint64_t known = c->switches ? tags_switches_known(c->switches) : UINT64_MAX;
	size_t kept = 0;
	int rc = 0;

	c->pass++;
	for (size_t i = 0; i < f->waiting.count; i++) {
		struct tag_rings_packet *w = &f->waiting.items[i];
		struct collect_stream *s = stream_of(f, w->ring);

		if (rc || s->blocked == c->pass ||
		    (known != UINT64_MAX && w->header.end + near_ticks(c) >= known)) {
			s->blocked = c->pass;
			f->waiting.items[kept++] = *w;
			continue;
		}
		rc = collect_write(c, f, w, err);
		c->held_bytes -= w->count * sizeof(uint64_t);
		free((void *)(uintptr_t)w->words);
	}
	f->waiting.count = kept;
	return rc;
}

/* ---- the end of a stream --------------------------------------------------- */

static int end_stream(struct tags_collect *c, struct collect_file *f, uint32_t ring, uint64_t lost,
                      struct error *err)
{
	struct collect_stream *s = stream_of(f, ring);
	struct tag_rings_packet p = {.ring = ring, .header = s->last};
	struct tag_packet packet;
	int rc;

	if (!s->any && !lost)
		return 0;
	if (!s->any) {
		p.header.pid = tag_rings_header(f->rings)->pid;
		p.header.begin = tag_rings_header(f->rings)->first.ticks;
	}
	rc = stream_make(c, f, s, err);
	if (rc)
		return rc;
	p.header.flags = 0;
	if (s->any)
		p.header.begin = s->end;
	packet = packet_make(f, &p);
	packet.lost = lost;
	c->result.lost += lost;
	s->any = true;
	s->tid = p.header.tid;
	merge(c, f, s, &p, f->ended ? f->ended_ticks : UINT64_MAX);
	return write_pieces(c, s, &packet, err);
}

int collect_write_end(struct tags_collect *c, struct collect_file *f, struct error *err)
{
	/* Events of threads without a ring are reported with the first ring. */
	uint64_t without = tag_rings_header(f->rings)->discarded;
	int rc = 0;

	for (uint32_t ring = 0; ring < tag_rings_count(f->rings) && !rc; ring++) {
		uint64_t all = tag_rings_at(f->rings, ring)->discarded;
		uint64_t told = stream_of(f, ring)->discarded;

		rc = end_stream(c, f, ring, without + (all > told ? all - told : 0), err);
		without = 0;
	}
	if (!rc && without)
		rc = end_stream(c, f, 0, without, err);
	return rc;
}

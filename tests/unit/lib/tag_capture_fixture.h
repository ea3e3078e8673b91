/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_capture_fixture: captures of event tags with given contents: streams of packets of words as a
 * recording, and the steps that the engine reports.
 *
 *	capture_init(&c); capture_stream(&c, device, pid, tid); capture_packet(&c, begin);
 *	capture_event(&c, time, tag)...; then c.recording is one. capture_done(&c).
 *
 * All streams have the names of NAMES. Uses: base, trace.
 */
#ifndef ASSAY_TESTS_TAG_CAPTURE_FIXTURE_H
#define ASSAY_TESTS_TAG_CAPTURE_FIXTURE_H

#include "base/memory/vec.h"
#include "tags/tag_engine.h"
#include "tags/tag_summary.h"

#include <string.h>

/*
 * Functions a to h; two that switch; one that idles and an interrupt; an inline tag with an even
 * number and one with an odd number.
 */
enum {
	TAG_A = 10,
	TAG_B = 12,
	TAG_C = 14,
	TAG_D = 16,
	TAG_SWTCH = 40,
	TAG_SWTCH2 = 42,
	TAG_PLACE = 50,
	TAG_ODD_PLACE = 53,
	TAG_UNKNOWN = 60,
	TAG_IDLES = 70,
	TAG_TIMER = 72,
};
#define EXIT(tag) ((tag) + 1u)

struct capture_packet {
	struct tag_packet packet;
	VEC(uint64_t) words;
};

struct capture_stream {
	VEC(struct capture_packet) packets;
};

struct capture {
	struct tag_recording recording; /* first member: readers cast it to this struct */
	VEC(struct capture_stream) streams;
	struct tag_names *names;
};

struct capture_reader {
	struct tag_reader reader; /* first member */
	const struct capture_stream *stream;
	size_t at;
};

static int capture_next(struct tag_reader *reader, struct tag_packet *packet, struct error *err)
{
	struct capture_reader *r = (struct capture_reader *)reader;

	(void)err;
	if (r->at == r->stream->packets.count)
		return 0;
	const struct capture_packet *p = &r->stream->packets.items[r->at++];

	*packet = p->packet;
	packet->words = p->words.items;
	packet->count = p->words.count;
	return 1;
}

static void capture_close(struct tag_reader *reader)
{
	free(reader);
}

static int capture_open(struct tag_recording *r, uint32_t stream, struct tag_reader **reader,
                        struct error *err)
{
	const struct capture *c = (const struct capture *)r;
	struct capture_reader *made = xcalloc(1, sizeof(*made));

	(void)err;
	made->reader.next = capture_next;
	made->reader.close = capture_close;
	made->stream = &c->streams.items[stream];
	*reader = &made->reader;
	return 0;
}

static void capture_name(struct capture *c, uint32_t tag, enum tag_kind kind, const char *name)
{
	tag_names_add(c->names, tag, kind, name, strlen(name), NULL);
}

static void capture_init(struct capture *c)
{
	static const char *const functions[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

	memset(c, 0, sizeof(*c));
	c->names = tag_names_new();
	for (uint32_t i = 0; i < 8; i++)
		capture_name(c, TAG_A + 2 * i, TAG_FUNCTION, functions[i]);
	capture_name(c, TAG_SWTCH, TAG_SWITCH, "swtch");
	capture_name(c, TAG_SWTCH2, TAG_SWITCH, "cpu_switch");
	capture_name(c, TAG_IDLES, TAG_IDLE, "idles");
	capture_name(c, TAG_TIMER, TAG_INTERRUPT, "timer");
	capture_name(c, TAG_PLACE, TAG_INLINE, "place");
	capture_name(c, TAG_ODD_PLACE, TAG_INLINE, "odd_place");
	vec_push(&c->recording.names, c->names);
	c->recording.clock.hz = 1000000;
	c->recording.open = capture_open;
}

static void capture_done(struct capture *c)
{
	vec_each (s, &c->streams) {
		vec_each (p, &s->packets)
			vec_done(&p->words);
		vec_done(&s->packets);
	}
	vec_done(&c->streams);
	vec_done(&c->recording.streams);
	vec_done(&c->recording.names);
	tag_names_free(c->names);
}

static struct tag_stream *capture_stream(struct capture *c, bool device, int32_t pid, int32_t tid)
{
	struct tag_stream *s = vec_add(&c->recording.streams);

	vec_add(&c->streams);
	s->id = (uint32_t)c->recording.streams.count - 1;
	s->device = device;
	s->names = c->names;
	s->pid = pid;
	s->tid = tid;
	return s;
}

/* A packet of the last stream, with the thread of the previous packet. */
static struct tag_packet *capture_packet(struct capture *c, uint64_t begin)
{
	struct capture_stream *s = vec_last(&c->streams);
	const struct tag_stream *of = vec_last(&c->recording.streams);
	int32_t pid = of->pid, tid = of->tid;

	if (s->packets.count) {
		pid = vec_last(&s->packets)->packet.pid;
		tid = vec_last(&s->packets)->packet.tid;
	}
	struct capture_packet *p = vec_add(&s->packets);

	p->packet.begin = p->packet.end = begin;
	p->packet.pid = pid;
	p->packet.tid = tid;
	return &p->packet;
}

static void capture_word(struct capture *c, uint64_t word)
{
	struct capture_packet *p = vec_last(&vec_last(&c->streams)->packets);

	vec_push(&p->words, word);
}

static void capture_event(struct capture *c, uint64_t time, uint32_t tag)
{
	capture_word(c, time << ASSAY_TAGS_TAG_BITS | tag);
	vec_last(&vec_last(&c->streams)->packets)->packet.end = time;
}

/* The reported steps. */
struct capture_steps {
	VEC(struct tag_step) told;
};

static inline void capture_keep(void *of, const struct tag_step *step)
{
	struct capture_steps *steps = of;

	vec_push(&steps->told, *step);
}

static inline void capture_run(struct capture *c, uint32_t stream, bool wall,
                               struct capture_steps *steps, struct tag_damage *damage)
{
	struct tag_engine *e =
	        tag_engine_new(&c->recording.streams.items[stream], wall, capture_keep, steps);
	struct tag_reader *reader;
	struct tag_packet packet;

	capture_open(&c->recording, stream, &reader, NULL);
	while (reader->next(reader, &packet, NULL) > 0)
		tag_engine_packet(e, &packet);
	reader->close(reader);
	tag_engine_end(e);
	if (damage)
		*damage = *tag_engine_damage(e);
	tag_engine_free(e);
}

/* The expected elapsed time: each tick is accounted once. */
static inline uint64_t capture_booked(const struct tag_summary *s)
{
	uint64_t sum = s->idle + s->own + s->gap + s->outside + s->unknown;

	vec_each (f, &s->functions)
		sum += f->net;
	return sum;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_trace_fixture: recordings of event tags in memory, given as words: "0 >main 10 >f 25 <f"
 * means main entered at 0, f at 10 and left at 25. "=mark" is an inline tag, "~b" and "~p" switch
 * out (blocked, preempted), "~i" switches in, "#N" is the event of tag N. memory_packet() begins a
 * new packet. One tick is a nanosecond unless hz is set.
 */
#ifndef ASSAY_TESTS_TAG_TRACE_FIXTURE_H
#define ASSAY_TESTS_TAG_TRACE_FIXTURE_H

#include "base/memory/buf.h"
#include "symbol/demangle/demangle.h"
#include "tags/tag_stream.h"
#include "view/tags/trace/tag_trace.h"

#include <stdio.h>
#include <string.h>

struct memory_packet {
	struct tag_packet packet;
	VEC(uint64_t) words;
};

struct memory_stream {
	VEC(struct memory_packet) packets;
};

struct memory {
	struct tag_recording r; /* first member: the recording is cast to memory */
	VEC(struct memory_stream) streams;
	struct tag_names *names;
	size_t packets_read, opened, closed;
};

struct memory_reader {
	struct tag_reader reader;
	struct memory *memory;
	uint32_t stream;
	size_t at;
};

static const struct {
	const char *name;
	uint32_t tag;
	enum tag_kind kind;
} memory_names[] = {
        {"main", 2, TAG_FUNCTION},
        {"f", 4, TAG_FUNCTION},
        {"g", 6, TAG_FUNCTION},
        {"h", 8, TAG_FUNCTION},
        {"mark", 10, TAG_INLINE},
        {"swtch", 12, TAG_SWITCH},
        {"clock_interrupt", 14, TAG_FUNCTION},
        {"_ZN3net5inputEi", 16, TAG_FUNCTION}, /* net::input(int) */
        {"helper@src/a.c", 18, TAG_FUNCTION},
        {"quote\"d", 20, TAG_FUNCTION},
};

static inline int memory_next(struct tag_reader *reader, struct tag_packet *packet,
                              struct error *err)
{
	struct memory_reader *r = (struct memory_reader *)reader;
	struct memory_stream *s = &r->memory->streams.items[r->stream];
	struct memory_packet *p;

	if (r->at == s->packets.count)
		return 0;
	p = &s->packets.items[r->at++];
	r->memory->packets_read++;
	*packet = p->packet;
	packet->words = p->words.items;
	packet->count = p->words.count;
	return 1;
}

static inline void memory_close(struct tag_reader *reader)
{
	((struct memory_reader *)reader)->memory->closed++;
	free(reader);
}

static inline int memory_open(struct tag_recording *recording, uint32_t stream,
                              struct tag_reader **reader, struct error *err)
{
	struct memory_reader *r = xcalloc(1, sizeof(*r));

	r->memory = (struct memory *)recording;
	r->memory->opened++;
	r->reader = (struct tag_reader){memory_next, memory_close};
	r->stream = stream;
	*reader = &r->reader;
	return 0;
}

static inline void memory_init(struct memory *m, uint64_t hz)
{
	struct error err = {0};

	memset(m, 0, sizeof(*m));
	m->r.clock = (struct tag_clock){hz, INT64_MIN};
	m->r.open = memory_open;
	m->names = tag_names_new();
	for (size_t i = 0; i < sizeof(memory_names) / sizeof(*memory_names); i++)
		if (tag_names_add(m->names, memory_names[i].tag, memory_names[i].kind,
		                  memory_names[i].name, strlen(memory_names[i].name), &err))
			printf("# %s\n", err.text);
	tag_names_show(m->names, demangle);
	vec_push(&m->r.names, m->names);
}

static inline void memory_done(struct memory *m)
{
	vec_each (s, &m->streams) {
		vec_each (p, &s->packets)
			vec_done(&p->words);
		vec_done(&s->packets);
	}
	vec_done(&m->streams);
	vec_done(&m->r.streams);
	vec_done(&m->r.names);
	tag_names_free(m->names);
}

static inline uint32_t memory_stream(struct memory *m, bool device, int32_t pid, int32_t tid,
                                     const char *process, const char *thread)
{
	struct tag_stream s = {.id = (uint32_t)m->r.streams.count,
	                       .device = device,
	                       .pid = pid,
	                       .tid = tid,
	                       .names = m->names,
	                       .begin = UINT64_MAX};

	snprintf(s.process, sizeof(s.process), "%s", process);
	snprintf(s.thread, sizeof(s.thread), "%s", thread);
	vec_push(&m->r.streams, s);
	vec_add(&m->streams);
	return s.id;
}

/* The stream's next packet, with its thread. */
static inline struct tag_packet *memory_packet(struct memory *m, uint32_t stream)
{
	const struct tag_stream *s = &m->r.streams.items[stream];
	struct memory_packet *p = vec_add(&m->streams.items[stream].packets);

	p->packet.pid = s->pid;
	p->packet.tid = s->tid;
	memcpy(p->packet.process, s->process, sizeof(s->process));
	memcpy(p->packet.thread, s->thread, sizeof(s->thread));
	p->packet.begin = UINT64_MAX;
	return &p->packet;
}

static inline void memory_event(struct memory *m, uint32_t stream, uint64_t time, uint32_t tag)
{
	struct tag_stream *s = &m->r.streams.items[stream];
	struct memory_packet *p;

	if (!m->streams.items[stream].packets.count)
		memory_packet(m, stream);
	p = vec_last(&m->streams.items[stream].packets);
	if (p->packet.begin == UINT64_MAX)
		p->packet.begin = time;
	if (s->begin == UINT64_MAX)
		s->begin = time;
	p->packet.end = time;
	vec_push(&p->words, time << 24 | tag);
}

static inline uint32_t memory_tag(const char *word)
{
	bool exit = word[0] == '<';

	if (word[0] == '#')
		return (uint32_t)strtoul(word + 1, NULL, 10);
	if (word[0] == '~')
		return word[1] == 'b'   ? ASSAY_TAG_SWITCH_BLOCKED
		       : word[1] == 'p' ? ASSAY_TAG_SWITCH_PREEMPTED
		                        : ASSAY_TAG_SWITCH_IN;
	for (size_t i = 0; i < sizeof(memory_names) / sizeof(*memory_names); i++)
		if (!strcmp(memory_names[i].name, word + 1))
			return memory_names[i].tag + exit;
	printf("# the fixture has no name %s\n", word);
	return 0xfffff;
}

/* Adds pairs of a time and an event. */
static inline void memory_play(struct memory *m, uint32_t stream, const char *events)
{
	char word[64];
	unsigned long long time;
	int used;

	while (sscanf(events, " %llu %63s%n", &time, word, &used) == 2) {
		memory_event(m, stream, time, memory_tag(word));
		events += used;
	}
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_steps_fixture: the steps that an engine reports for a given capture, as text, one on each
 * line:
 *
 *	> a 0 @10		entered at depth 0, at 10
 *	< a 0 @25 net 9 total 15	left; "wall W" if it differs from the total, "?" if
 * uncertain x, o			closed without an exit event, open ! unmatched, = inline,
 * out, in, gap, thread
 *
 * with "pN " before it if a process runs. begin(), PUT(), check_steps(), capture_done().
 */
#ifndef ASSAY_TESTS_TAG_STEPS_FIXTURE_H
#define ASSAY_TESTS_TAG_STEPS_FIXTURE_H

#include "base/memory/buf.h"
#include "check.h"
#include "tag_capture_fixture.h"
#include "tags/tag_engine_run.h"

#include <inttypes.h>

static inline const char *name_of(const struct capture *c, uint32_t tag)
{
	bool exit;
	const struct tag_name *name = tag_names_find(c->names, tag, &exit);

	return name ? name->name : "unknown";
}

static inline void step_text(struct buf *b, const struct capture *c, const struct tag_step *s)
{
	static const char *const signs[] = {
	        [TAG_STEP_ENTER] = ">",  [TAG_STEP_EXIT] = "<",         [TAG_STEP_UNMATCHED] = "!",
	        [TAG_STEP_INLINE] = "=", [TAG_STEP_SWITCH_OUT] = "out", [TAG_STEP_SWITCH_IN] = "in",
	        [TAG_STEP_GAP] = "gap",  [TAG_STEP_THREAD] = "thread",
	};
	bool closed = s->kind == TAG_STEP_CLOSED;

	if (s->process)
		buf_addf(b, "p%u ", s->process);
	buf_puts(b, !closed                     ? signs[s->kind]
	            : s->how == TAG_CLOSED_OPEN ? "o"
	            : s->how == TAG_CLOSED_CUT  ? "cut"
	                                        : "x");
	if (s->kind <= TAG_STEP_INLINE)
		buf_addf(b, " %s %u", name_of(c, s->tag), s->depth);
	buf_addf(b, " @%" PRIu64, s->time);
	if (s->kind == TAG_STEP_EXIT || closed)
		buf_addf(b, " net %" PRIu64 " total %" PRIu64, s->net, s->total);
	if ((s->kind == TAG_STEP_EXIT || closed) && s->wall != s->total)
		buf_addf(b, " wall %" PRIu64, s->wall);
	if (s->kind == TAG_STEP_UNMATCHED && s->net)
		buf_addf(b, " net %" PRIu64, s->net);
	if (s->kind == TAG_STEP_GAP)
		buf_addf(b, " lost %" PRIu64, s->lost);
	if (s->kind == TAG_STEP_THREAD)
		buf_addf(b, " %d/%d", s->pid, s->tid);
	buf_puts(b, s->preempted ? " preempted" : "");
	buf_puts(b, s->uncertain ? " ?\n" : "\n");
}

static struct tag_damage damage;

static inline void check_steps(struct capture *c, bool wall, const char *want)
{
	struct capture_steps steps = {0};
	struct buf b = {0};

	capture_run(c, 0, wall, &steps, &damage);
	vec_each (s, &steps.told)
		step_text(&b, c, s);
	CHECK_STR(buf_text(&b), want);
	buf_done(&b);
	vec_done(&steps.told);
}

/* The sums of a stream of one packet before its end. */
static inline struct tag_run *run_of(struct capture *c)
{
	struct tag_run *r = tag_run_new(&c->recording.streams.items[0], false, NULL, NULL, NULL);
	struct capture_packet *p = &c->streams.items[0].packets.items[0];

	p->packet.words = p->words.items;
	p->packet.count = p->words.count;
	tag_run_packet(r, &p->packet);
	return r;
}

/* Events of one stream: a packet that begins with the first event. */
struct moment {
	uint64_t time;
	uint32_t tag;
};

static inline void begin(struct capture *c, bool device)
{
	capture_init(c);
	capture_stream(c, device, 5, 5);
}

static inline void put(struct capture *c, const struct moment *m, size_t count)
{
	capture_packet(c, m->time);
	for (size_t i = 0; i < count; i++)
		capture_event(c, m[i].time, m[i].tag);
}

#define PUT(c, ...)                                                                                \
	put(c, (struct moment[]){__VA_ARGS__},                                                     \
	    sizeof((struct moment[]){__VA_ARGS__}) / sizeof(struct moment))

#endif

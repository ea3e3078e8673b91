/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/profiles/chrome_events.h"

#include "base/limit.h"
#include "base/read/json_read.h"
#include "format/profiles/profile_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NS_MAX ((int64_t)1 << 61) /* so that the sum of two values does not overflow */

/* The fields of one event. */
struct event_fields {
	struct buf kind, name, given; /* given: the name in args, for metadata */
	int64_t ns, duration_ns;
	int32_t pid, tid;
	bool timed;
};

struct events_reader {
	struct chrome_events *e;
	struct json_reader json;
	struct event_fields f;
	struct buf key, text;
	/* names of processes and threads: pid or track, and text */
	VEC(struct process_name {
		int32_t pid;
		uint32_t text;
	})
	processes;
};

/* Microseconds as ns: exact for up to three decimals. */
static int64_t to_ns(const char *text, size_t size)
{
	bool minus = size && *text == '-';
	int64_t v = 0;
	size_t i = minus;
	int decimals = -1;
	char copy[64];

	for (; i < size && (isdigit((unsigned char)text[i]) || (text[i] == '.' && decimals < 0));
	     i++) {
		if (text[i] == '.')
			decimals = 0;
		else if (decimals < 3 && v < NS_MAX / 10000)
			v = v * 10 + (text[i] - '0');
		else if (decimals < 3)
			return minus ? -NS_MAX : NS_MAX;
		decimals += text[i] != '.' && decimals >= 0 && decimals < 3;
	}
	if (i < size && size < sizeof(copy)) { /* an exponent */
		double ns;

		memcpy(copy, text, size);
		copy[size] = '\0';
		ns = strtod(copy, NULL) * 1000;
		return ns >= (double)NS_MAX    ? NS_MAX
		       : ns <= -(double)NS_MAX ? -NS_MAX
		                               : (int64_t)ns;
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
		v *= 10;
	return minus ? -v : v;
}

/* A number, or a text of a number; other texts have a number made of their characters. */
static int32_t read_id(struct events_reader *r)
{
	const char *text = NULL;
	struct buf copy = {0};
	char *end = NULL;
	size_t size;
	long id = 0;

	if (json_next_kind(&r->json) == '"') {
		json_read_text(&r->json, &copy);
		id = strtol(buf_text(&copy), &end, 10);
		if (*end || !copy.size)
			id = (long)(hash_bytes(buf_text(&copy), copy.size) >> 40);
	} else if (json_next_kind(&r->json) == '0') {
		if (json_read_number(&r->json, &text, &size)) {
			buf_add(&copy, text, size);
			id = strtol(buf_text(&copy), NULL, 10);
		}
	} else {
		json_skip(&r->json);
	}
	buf_done(&copy);
	return (int32_t)id;
}

static void read_text_or_skip(struct events_reader *r, struct buf *text)
{
	if (json_next_kind(&r->json) == '"')
		json_read_text(&r->json, text);
	else
		json_skip(&r->json);
}

/* True if the value is a time: a number, or a text of one. null is none, others are errors. */
static bool read_ns(struct events_reader *r, int64_t *ns)
{
	const char *at = r->json.at, *text;
	size_t size;

	switch (json_next_kind(&r->json)) {
	case '0':
		if (!json_read_number(&r->json, &text, &size))
			return false;
		break;
	case '"':
		if (!json_read_text(&r->json, &r->text))
			return false;
		text = buf_text(&r->text);
		size = r->text.size;
		break;
	default:
		text = "";
		size = 0;
		json_skip(&r->json);
		if (r->json.at - at >= 4 && !memcmp(r->json.at - 4, "null", 4))
			return false;
	}
	if (profile_number_kind(text, size) == PROFILE_NO_NUMBER && !r->json.why) {
		r->json.at = at;
		r->json.why = "a time is not a number of microseconds";
	}
	*ns = r->json.why ? 0 : to_ns(text, size);
	return !r->json.why;
}

static void read_arguments(struct events_reader *r)
{
	if (json_next_kind(&r->json) != '{') {
		json_skip(&r->json);
		return;
	}
	if (!json_enter(&r->json, '{'))
		return;
	while (json_member(&r->json, &r->key)) {
		if (!strcmp(buf_text(&r->key), "name"))
			read_text_or_skip(r, &r->f.given);
		else
			json_skip(&r->json);
	}
}

static void read_field(struct events_reader *r)
{
	const char *key = buf_text(&r->key);

	if (!strcmp(key, "ph")) {
		read_text_or_skip(r, &r->f.kind);
	} else if (!strcmp(key, "name")) {
		read_text_or_skip(r, &r->f.name);
	} else if (!strcmp(key, "ts")) {
		r->f.timed = read_ns(r, &r->f.ns);
	} else if (!strcmp(key, "dur")) {
		read_ns(r, &r->f.duration_ns);
	} else if (!strcmp(key, "pid")) {
		r->f.pid = read_id(r);
	} else if (!strcmp(key, "tid")) {
		r->f.tid = read_id(r);
	} else if (!strcmp(key, "args")) {
		read_arguments(r);
	} else {
		json_skip(&r->json);
	}
}

static uint32_t track_of(struct chrome_events *e, int32_t pid, int32_t tid)
{
	uint32_t next = (uint32_t)e->tracks.count + 1;
	uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
	uint32_t id = path_tree_step(&e->index, 0, key, next);

	if (id == next)
		vec_push(&e->tracks, (struct named_owner){.pid = pid, .tid = tid});
	return id - 1;
}

static void keep_name(struct events_reader *r)
{
	const struct event_fields *f = &r->f;
	uint32_t text = named_text(r->e->n, buf_text(&f->given)), track;

	if (!strcmp(buf_text(&f->name), "process_name")) {
		vec_push(&r->processes, (struct process_name){f->pid, text});
	} else if (!strcmp(buf_text(&f->name), "thread_name")) {
		track = track_of(r->e, f->pid, f->tid);
		r->e->tracks.items[track].thread = text;
	}
}

static void keep_event(struct events_reader *r)
{
	const struct event_fields *f = &r->f;
	char kind = f->kind.size == 1 ? *f->kind.data : '\0';

	if (kind == 'M') {
		keep_name(r);
		return;
	}
	if ((kind != 'B' && kind != 'E' && kind != 'X') || !f->timed) {
		r->e->skipped++;
		return;
	}
	vec_push(&r->e->events,
	         (struct chrome_event){
	                 .ns = f->ns,
	                 .duration_ns = f->duration_ns > 0 ? f->duration_ns : 0,
	                 .track = track_of(r->e, f->pid, f->tid),
	                 .name = kind == 'E' ? 0 : named_text(r->e->n, buf_text(&f->name)),
	                 .number = (uint32_t)r->e->events.count,
	                 .kind = kind});
}

static void read_events(struct events_reader *r)
{
	if (!json_enter(&r->json, '['))
		return;
	while (r->e->events.count < LIMIT_TRACE_EVENTS && json_item(&r->json)) {
		struct event_fields *f = &r->f;

		if (json_next_kind(&r->json) != '{') {
			json_skip(&r->json);
			continue;
		}
		buf_clear(&f->kind);
		buf_clear(&f->name);
		buf_clear(&f->given);
		f->ns = f->duration_ns = f->pid = f->tid = 0;
		f->timed = false;
		if (!json_enter(&r->json, '{'))
			return;
		while (json_member(&r->json, &r->key))
			read_field(r);
		if (!r->json.why)
			keep_event(r);
	}
}

/* Samples with stacks, as some writers add them, are no slices. */
static void count_samples(struct events_reader *r)
{
	if (!json_enter(&r->json, '['))
		return;
	for (; json_item(&r->json); r->e->samples++)
		json_skip(&r->json);
}

/* An object with traceEvents, or only the array, whose end may be missing. */
static void read_top(struct events_reader *r)
{
	if (json_next_kind(&r->json) == '[') {
		read_events(r);
		if (r->json.at >= r->json.end && r->json.depth <= 1)
			r->json.why = NULL;
		return;
	}
	if (!json_enter(&r->json, '{'))
		return;
	while (json_member(&r->json, &r->key)) {
		if (!strcmp(buf_text(&r->key), "traceEvents"))
			read_events(r);
		else if (!strcmp(buf_text(&r->key), "samples") && json_next_kind(&r->json) == '[')
			count_samples(r);
		else
			json_skip(&r->json);
		if (r->e->events.count >= LIMIT_TRACE_EVENTS)
			return;
	}
}

static void name_processes(struct events_reader *r)
{
	struct path_tree names = {0};

	vec_each (process, &r->processes)
		if (process->text)
			path_tree_step(&names, 0, (uint32_t)process->pid, process->text);
	vec_each (track, &r->e->tracks)
		track->process = path_tree_find(&names, 0, (uint32_t)track->pid);
	path_tree_done(&names);
}

int chrome_events_read(struct chrome_events *e, const char *name, const void *bytes, size_t size,
                       struct error *err)
{
	struct events_reader r = {.e = e};
	int ret = 0;

	json_reader_init(&r.json, bytes, size);
	read_top(&r);
	if (e->events.count >= LIMIT_TRACE_EVENTS)
		ret = error_set(err, EFBIG, "%s has more than %zu slices: it is not read", name,
		                LIMIT_TRACE_EVENTS);
	else if (r.json.why)
		ret = error_set(err, EBADMSG, "%s is damaged at byte %zu: %s", name,
		                (size_t)(r.json.at - r.json.begin), r.json.why);
	name_processes(&r);
	vec_done(&r.processes);
	buf_done(&r.f.kind);
	buf_done(&r.f.name);
	buf_done(&r.f.given);
	buf_done(&r.key);
	buf_done(&r.text);
	return ret;
}

void chrome_events_done(struct chrome_events *e)
{
	vec_done(&e->events);
	vec_done(&e->tracks);
	path_tree_done(&e->index);
}

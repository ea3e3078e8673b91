/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the places of fields from their types. Types have a fixed size, so each field has one
 * place in all packets of its class. Strings in the context (babeltrace2 writes texts as strings)
 * shift the fields after them. Uses: base, tags.
 */
#include "format/ctf/ctf_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BITS_MAX (65536ull * 8) /* of a header */
#define FIELDS_MAX 10000u

/* A walk over the fields of a struct. */
struct ctf_layout_walk {
	const struct ctf_metadata *m;
	uint64_t at;    /* bits */
	uint32_t align; /* the largest alignment so far */
	unsigned steps;
	/*
	 * Places of strings, if they are allowed; `at` is relative to the end of the last string.
	 */
	struct ctf_place *strings;
	uint32_t string_count;
	/* Names of the needed fields, and variables for their places. */
	const struct ctf_layout_wanted *wanted;
	size_t wanted_count;
	struct error *err;
};

struct ctf_layout_wanted {
	const char *name;
	struct ctf_place *place;
	bool text;
};

static int refuse(const struct ctf_metadata *m, size_t line, const char *what, struct error *err)
{
	return error_set(err, EINVAL, "%s:%zu: %s; " CTF_READ_KIND, m->path, line, what);
}

static bool is_big(const struct ctf_metadata *m, const struct ctf_type *t)
{
	return t->native ? m->big : t->big;
}

static int move_to(struct ctf_layout_walk *w, uint64_t align, size_t line)
{
	align = align ? align : 1;
	w->at = (w->at + align - 1) / align * align;
	w->align = align > w->align ? (uint32_t)align : w->align;
	if (w->string_count && align > 8)
		return refuse(w->m, line, "a field after a string with an alignment of its own",
		              w->err);
	if (w->at > BITS_MAX)
		return refuse(w->m, line, "a header of more than 64 KB", w->err);
	return 0;
}

/* Stores the place of a wanted integer, text or array of bytes. */
static int settle(struct ctf_layout_walk *w, const char *name, const struct ctf_type *t,
                  uint64_t count)
{
	const struct ctf_layout_wanted *found = NULL;
	bool big = is_big(w->m, t) && t->bits > 8;

	for (size_t i = 0; i < w->wanted_count; i++)
		if (!strcmp(name, w->wanted[i].name))
			found = &w->wanted[i];
	if (!found || found->place->bits || found->text != (count > 0 || t->kind == CTF_TEXT))
		return 0;
	if (t->kind == CTF_TEXT) {
		*found->place = w->strings[w->string_count - 1];
		return 0;
	}
	if (found->text && (t->bits != 8 || w->at % 8))
		return 0;
	if (big && (t->bits % 8 || w->at % 8))
		return refuse(w->m, t->line, "a big-endian integer whose size is not whole bytes",
		              w->err);
	*found->place = (struct ctf_place){.at = w->at,
	                                   .bits = t->bits,
	                                   .count = (uint32_t)count,
	                                   .strings = w->string_count,
	                                   .big = big};
	return 0;
}

static int walk_string(struct ctf_layout_walk *w, const char *name, const struct ctf_type *t)
{
	if (!w->strings)
		return refuse(w->m, t->line, "a string has no fixed size", w->err);
	if (w->string_count == CTF_STRINGS_MAX)
		return refuse(w->m, t->line, "a context of more than 8 strings", w->err);
	w->strings[w->string_count] =
	        (struct ctf_place){.at = w->at, .bits = 8, .strings = w->string_count};
	w->string_count++;
	w->at = 0;
	return settle(w, name, t, 0);
}

static int walk_type(struct ctf_layout_walk *w, const char *name, uint32_t id);

static int walk_array(struct ctf_layout_walk *w, const char *name, const struct ctf_type *t)
{
	const struct ctf_type *e = &w->m->types.items[t->element];
	int rc;

	if (e->kind != CTF_INTEGER)
		return refuse(w->m, t->line, "an array of arrays or structs", w->err);
	if (t->count > BITS_MAX)
		return refuse(w->m, t->line, "a header of more than 64 KB", w->err);
	rc = move_to(w, e->align, t->line);
	if (rc || !t->count)
		return rc;
	rc = settle(w, name, e, t->count);
	if (rc)
		return rc;
	/* Elements are aligned. */
	w->at += (t->count - 1) * ((e->bits + e->align - 1) / e->align * e->align) + e->bits;
	return move_to(w, 1, t->line);
}

static int walk_type(struct ctf_layout_walk *w, const char *name, uint32_t id)
{
	const struct ctf_type *t = &w->m->types.items[id];
	int rc;

	if (++w->steps > FIELDS_MAX)
		return refuse(w->m, t->line, "a header of more than 10000 fields", w->err);
	if (t->kind == CTF_ARRAY)
		return walk_array(w, name, t);
	rc = move_to(w, t->align, t->line);
	if (t->kind == CTF_TEXT)
		return rc ? rc : walk_string(w, name, t);
	if (t->kind == CTF_INTEGER) {
		rc = rc ? rc : settle(w, name, t, 0);
		w->at += t->bits;
		return rc ? rc : move_to(w, 1, t->line);
	}
	for (uint64_t i = 0; i < t->count && !rc; i++) {
		const struct ctf_field *f = &w->m->fields.items[t->first + i];

		rc = walk_type(w, ctf_text(w->m, f->name), f->type);
	}
	return rc;
}

/* The alignment of a type including its fields; it determines where a value of the type begins. */
static uint32_t align_of(const struct ctf_metadata *m, uint32_t id, unsigned *steps)
{
	const struct ctf_type *t = &m->types.items[id];
	uint32_t align = t->align ? t->align : 1;

	if (++*steps > FIELDS_MAX)
		return align;
	if (t->kind == CTF_ARRAY)
		return align_of(m, t->element, steps);
	for (uint64_t i = 0; t->kind == CTF_STRUCT && i < t->count; i++) {
		uint32_t a = align_of(m, m->fields.items[t->first + i].type, steps);

		align = a > align ? a : align;
	}
	return align;
}

static bool is_struct(const struct ctf_metadata *m, uint32_t id)
{
	return m->types.items[id].kind == CTF_STRUCT;
}

/* Walks a struct from the place of `w`; CTF_NONE: there is no struct. */
static int walk_scope(struct ctf_layout_walk *w, uint32_t id,
                      const struct ctf_layout_wanted *wanted, size_t count)
{
	unsigned steps = 0;
	size_t line;
	int rc;

	if (id == CTF_NONE)
		return 0;
	line = w->m->types.items[id].line;
	if (!is_struct(w->m, id))
		return refuse(w->m, line, "a header or context that is not a struct", w->err);
	w->wanted = wanted;
	w->wanted_count = count;
	rc = move_to(w, align_of(w->m, id, &steps), line);
	return rc ? rc : walk_type(w, "", id);
}

/* Checks that a struct has no fields. */
static int empty(const struct ctf_metadata *m, uint32_t id, const char *what, struct error *err)
{
	struct ctf_layout_walk w = {.m = m, .err = err};
	int rc = walk_scope(&w, id, NULL, 0);

	if (rc || !w.at)
		return rc;
	return refuse(m, m->types.items[id].line, what, err);
}

static bool same_class(const void *of, uint32_t class, const void *id)
{
	const struct ctf_trace *t = of;

	return t->classes.items[class].id == *(const uint64_t *)id;
}

uint32_t ctf_class_find(const struct ctf_trace *t, uint64_t id)
{
	return id_table_find(&t->by_id, hash_u64(id), same_class, t, &id);
}

static int read_event_header(struct ctf_class_layout *c, const struct ctf_metadata *m,
                             const struct ctf_class *of, uint32_t *clock, struct error *err)
{
	const struct ctf_layout_wanted wanted[] = {{"id", &c->tag, false},
	                                           {"timestamp", &c->time, false}};
	struct ctf_layout_walk w = {.m = m, .err = err, .align = 1};
	const struct ctf_type *t;
	int rc;

	if (of->event_header == CTF_NONE)
		return refuse(m, of->line, "a stream without event.header", err);
	rc = walk_scope(&w, of->event_header, wanted, 2);
	if (rc)
		return rc;
	t = &m->types.items[of->event_header];
	if (!c->tag.bits || !c->time.bits)
		return refuse(m, t->line, "an event header without the integers id and timestamp",
		              err);
	c->event_bits = w.at;
	c->stride = (w.at + w.align - 1) / w.align * w.align;
	c->first_bits = (c->fixed_bits + w.align - 1) / w.align * w.align;
	for (uint64_t i = 0; i < t->count; i++) {
		const struct ctf_field *f = &m->fields.items[t->first + i];

		if (!strcmp(ctf_text(m, f->name), "timestamp"))
			*clock = m->types.items[f->type].clock;
	}
	if (w.align > 8 && c->string_count)
		return refuse(m, t->line, "events after strings, with an alignment of their own",
		              err);
	if (c->event_bits > 1024)
		return refuse(m, t->line, "an event header of more than 128 bytes", err);
	if ((c->tag.big || c->time.big) && (c->stride % 8 || c->first_bits % 8))
		return refuse(m, t->line, "a big-endian integer whose size is not whole bytes",
		              err);
	c->words = m->ours && c->begin.bits == 64 && c->end.bits == 64 && !c->tag.big &&
	           !c->time.big && !c->tag.at && c->tag.bits == 24 && c->time.at == 24 &&
	           c->time.bits == 40 && c->stride == 64 && !(c->first_bits % 64) &&
	           !c->string_count;
	return 0;
}

static int read_class(struct ctf_trace *t, const struct ctf_metadata *m, const struct ctf_class *of,
                      uint32_t *clock, struct error *err)
{
	struct ctf_class_layout *c = vec_add(&t->classes);
	struct ctf_place cpu = {0};
	const struct ctf_layout_wanted wanted[] = {
	        {"timestamp_begin", &c->begin, false},
	        {"timestamp_end", &c->end, false},
	        {"content_size", &c->content, false},
	        {"packet_size", &c->packet, false},
	        {"events_discarded", &c->discarded, false},
	        {"packet_seq_num", &c->sequence, false},
	        {"pid", &c->pid, false},
	        {"tid", &c->tid, false},
	        {"flags", &c->flags, false},
	        {"cpu_id", &cpu, false},
	        {"thread", &c->thread, true},
	        {"process", &c->process, true},
	};
	struct ctf_layout_walk w = {
	        .m = m, .at = t->header_bits, .strings = c->strings, .err = err};
	int rc = walk_scope(&w, of->packet_context, wanted, sizeof(wanted) / sizeof(*wanted));

	c->id = of->id;
	c->fixed_bits = w.at;
	c->string_count = w.string_count;
	c->device = of->device || (cpu.bits && !c->tid.bits);
	if (m->ours && cpu.bits && !c->tid.bits)
		c->tid = cpu;
	if (!rc)
		rc = empty(m, of->event_context, "events with a context", err);
	if (!rc)
		rc = read_event_header(c, m, of, clock, err);
	if (!rc && ctf_class_find(t, of->id) != ID_NONE)
		rc = refuse(m, of->line, "a second stream block of the same id", err);
	id_table_add(&t->by_id, hash_u64(of->id), (uint32_t)t->classes.count - 1);
	return rc;
}

static int read_clock(struct ctf_trace *t, const struct ctf_metadata *m, uint32_t name, size_t line,
                      struct error *err)
{
	const struct ctf_clock *c = NULL;
	__int128 ns;

	for (size_t i = 0; i < m->clocks.count; i++)
		if (name == CTF_NONE
		            ? m->clocks.count == 1
		            : !strcmp(ctf_text(m, m->clocks.items[i].name), ctf_text(m, name)))
			c = &m->clocks.items[i];
	if (!c)
		return refuse(m, line, "timestamps are not mapped to a declared clock", err);
	t->clock.hz = c->hz;
	t->clock.offset_ns = INT64_MIN;
	ns = (__int128)c->offset_s * 1000000000 + (__int128)c->offset * 1000000000 / c->hz;
	if (c->has_offset && ns > INT64_MIN && ns <= INT64_MAX)
		t->clock.offset_ns = (int64_t)ns;
	return 0;
}

/* All streams must have the same clock; times of different clocks cannot be compared. */
static int read_classes(struct ctf_trace *t, const struct ctf_metadata *m, struct error *err)
{
	uint32_t clock = CTF_NONE;
	int rc = 0;

	if (!m->classes.count)
		return refuse(m, 1, "no stream block", err);
	for (size_t i = 0; i < m->classes.count && !rc; i++) {
		const struct ctf_class *of = &m->classes.items[i];
		uint32_t other = CTF_NONE;

		rc = read_class(t, m, of, &other, err);
		if (rc)
			break;
		if (i && (clock == CTF_NONE ? other != CTF_NONE
		                            : other == CTF_NONE || strcmp(ctf_text(m, clock),
		                                                          ctf_text(m, other))))
			return refuse(m, of->line, "streams of different clocks", err);
		clock = other;
	}
	if (!rc && m->classes.count > 1 && !t->stream_id.bits)
		rc = refuse(m, m->classes.items[1].line,
		            "several stream blocks, and packets without a stream id "
		            "(stream_id)",
		            err);
	return rc ? rc : read_clock(t, m, clock, m->classes.items[0].line, err);
}

static int read_events(const struct ctf_metadata *m, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < m->events.count && !rc; i++) {
		const struct ctf_event *e = &m->events.items[i];

		if (e->context != CTF_NONE)
			rc = empty(m, e->context, "an event with a context", err);
		if (!rc && e->payload != CTF_NONE)
			rc = empty(m, e->payload, "an event with fields", err);
	}
	return rc;
}

int ctf_trace_read(struct ctf_trace *t, const char *text, size_t length, const char *path,
                   struct error *err)
{
	const struct ctf_layout_wanted wanted[] = {{"magic", &t->magic, false},
	                                           {"stream_id", &t->stream_id, false}};
	struct ctf_metadata m;
	struct ctf_layout_walk w = {.m = &m, .err = err};
	int rc;

	*t = (struct ctf_trace){0};
	rc = ctf_tsdl_read(&m, text, length, path, err);
	if (!rc && !m.has_trace)
		rc = refuse(&m, 1, "no trace block", err);
	if (!rc)
		rc = walk_scope(&w, m.packet_header, wanted, 2);
	t->header_bits = w.at;
	if (!rc)
		rc = read_classes(t, &m, err);
	if (!rc)
		rc = read_events(&m, err);
	if (!rc)
		rc = ctf_events_name(t, &m, err);
	if (!rc) {
		t->switches = m.switches;
		t->switches_lost = m.switches_lost;
		t->trigger = m.trigger;
		t->ours = m.ours;
		t->command = m.command == CTF_NONE ? NULL : xstrdup(ctf_text(&m, m.command));
		t->host = m.host == CTF_NONE ? NULL : xstrdup(ctf_text(&m, m.host));
	}
	ctf_metadata_done(&m);
	if (rc)
		ctf_trace_done(t);
	return rc;
}

void ctf_trace_done(struct ctf_trace *t)
{
	for (size_t i = 0; i < t->names.count; i++)
		tag_names_free(t->names.items[i]);
	vec_done(&t->names);
	vec_done(&t->classes);
	id_table_done(&t->by_id);
	free(t->command);
	free(t->host);
	t->command = t->host = NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/speedscope.h"

#include "base/text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SPEEDSCOPE_SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	const struct symbolized_profile *n;
	struct spill *out;
	VEC(uint32_t) way;       /* scratch: frames, innermost first */
	VEC(uint32_t) processes; /* texts; their frames follow those of the functions */
	uint32_t *process_of;    /* by text: frame + 1; 0: none */
};

static void put_text(struct speedscope *s, const char *text)
{
	struct json j;

	json_init(&j, &s->out->buf);
	json_str(&j, text);
}

static const char *text_of(const struct speedscope *s, uint32_t text)
{
	return intern_text(&s->n->texts, text);
}

static void number_processes(struct speedscope *s)
{
	s->process_of = xcalloc(s->n->texts.texts.count, sizeof(*s->process_of));
	vec_each (o, &s->n->owners) {
		if (s->process_of[o->process])
			continue;
		s->process_of[o->process] =
		        (uint32_t)(s->n->functions.count + s->processes.count) + 1;
		vec_push(&s->processes, o->process);
	}
}

static void put_frames(struct speedscope *s)
{
	struct buf *b = &s->out->buf;
	bool more = false;

	buf_puts(b, "\"shared\":{\"frames\":[");
	vec_each (f, &s->n->functions) {
		buf_puts(b, more ? ",\n{\"name\":" : "\n{\"name\":");
		put_text(s, text_of(s, f->name));
		if (f->file) {
			buf_puts(b, ",\"file\":");
			put_text(s, text_of(s, f->file));
		}
		if (f->line)
			buf_addf(b, ",\"line\":%" PRIu32, f->line);
		buf_putc(b, '}');
		more = true;
		spill_some(s->out);
	}
	vec_each (process, &s->processes) {
		buf_puts(b, more ? ",\n{\"name\":" : "\n{\"name\":");
		put_text(s, *process ? text_of(s, *process) : "[unknown process]");
		buf_putc(b, '}');
		more = true;
	}
	buf_puts(b, "]}");
}

static void put_stack(struct speedscope *s, const struct named_row *row)
{
	const struct symbolized_profile *n = s->n;

	s->way.count = 0;
	for (uint32_t p = row->path; p != NAMED_ROOT; p = n->paths.items[p].parent) {
		const struct named_place *place = &n->places.items[n->paths.items[p].place];

		for (uint32_t i = 0; i < place->count; i++)
			vec_push(&s->way, n->lines.items[place->first + i].function);
	}
	vec_push(&s->way, s->process_of[n->owners.items[row->owner].process] - 1);
	buf_putc(&s->out->buf, '[');
	while (s->way.count > 1) /* the process is last in `way` */
		buf_addf(&s->out->buf, "%" PRIu32 ",", s->way.items[--s->way.count]);
	buf_addf(&s->out->buf, "%" PRIu32 "]", s->way.items[0]);
	spill_some(s->out);
}

static const char *unit_of(const struct named_value *v)
{
	static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds",
	                                    "seconds", "bytes"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(v->unit, known[i]))
			return known[i];
	return "none";
}

static void put_profile(struct speedscope *s, unsigned value, struct named_below *below)
{
	const struct named_value *v = &s->n->values[value];
	struct buf *b = &s->out->buf;
	int64_t sum = 0;
	bool more = false;

	buf_puts(b, "{\"type\":\"sampled\",\"name\":");
	put_text(s, v->name);
	buf_addf(b, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[", unit_of(v));
	vec_each (row, &s->n->rows) {
		if (row->values[value] < 0) {
			below->rows++;
			below->sum = named_add(below->sum, row->values[value]);
		}
		if (row->values[value] <= 0)
			continue;
		buf_puts(b, more ? ",\n" : "\n");
		put_stack(s, row);
		more = true;
	}
	buf_puts(b, "],\"weights\":[");
	more = false;
	vec_each (row, &s->n->rows)
		if (row->values[value] > 0) {
			buf_addf(b, more ? ",%" PRId64 : "%" PRId64, row->values[value]);
			sum = named_add(sum, row->values[value]);
			more = true;
			spill_some(s->out);
		}
	buf_addf(b, "],\"endValue\":%" PRId64 "}", sum);
}

struct named_below speedscope_write(const struct symbolized_profile *n, struct spill *out)
{
	struct speedscope s = {.n = n, .out = out};
	struct named_below below = {0};

	number_processes(&s);
	buf_puts(&out->buf, "{\"$schema\":\"" SPEEDSCOPE_SCHEMA
	                    "\",\"exporter\":\"assay-" ASSAY_VERSION "\",\"name\":");
	put_text(&s, n->command ? text_of(&s, n->command) : "assay");
	buf_addf(&out->buf, ",\"activeProfileIndex\":%u,\n", n->main_value);
	put_frames(&s);
	buf_puts(&out->buf, ",\n\"profiles\":[");
	for (unsigned i = 0; i < n->value_count; i++) {
		buf_puts(&out->buf, i ? ",\n" : "\n");
		put_profile(&s, i, &below);
	}
	buf_puts(&out->buf, "]}\n");
	free(s.process_of);
	vec_done(&s.way);
	vec_done(&s.processes);
	return below;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/paths_csv.h"

#include <inttypes.h>
#include <string.h>

struct csv {
	const struct symbolized_profile *n;
	struct buf *out;
	VEC(uint32_t) way; /* scratch: places, innermost first */
};

static void put_word(struct csv *c, const char *word)
{
	for (; *word; word++) {
		if (*word == '"')
			buf_putc(c->out, '"');
		buf_putc(c->out, *word);
	}
}

/* Appends a field; `join`: a ';' becomes ':', since it separates functions. */
static void put_escaped(struct csv *c, uint32_t text, bool join)
{
	size_t from = c->out->size;

	put_word(c, intern_text(&c->n->texts, text));
	for (size_t i = from; join && i < c->out->size; i++)
		if (c->out->data[i] == ';')
			c->out->data[i] = ':';
}

/* All texts are quoted, so that programs do not read a name such as "007" as a number. */
static void put_text(struct csv *c, uint32_t text)
{
	buf_putc(c->out, '"');
	put_escaped(c, text, false);
	buf_puts(c->out, "\",");
}

static uint32_t line_name(const struct csv *c, uint32_t line)
{
	return c->n->functions.items[c->n->lines.items[line].function].name;
}

static void put_path(struct csv *c, uint32_t path)
{
	const struct symbolized_profile *n = c->n;
	bool more = false;

	c->way.count = 0;
	for (uint32_t p = path; p != NAMED_ROOT; p = n->paths.items[p].parent)
		vec_push(&c->way, n->paths.items[p].place);
	if (c->way.count)
		put_text(c, line_name(c, n->places.items[c->way.items[0]].first));
	else
		buf_puts(c->out, "\"\",");
	buf_putc(c->out, '"');
	while (c->way.count) {
		const struct named_place *place = &n->places.items[c->way.items[--c->way.count]];

		for (uint32_t i = place->count; i-- > 0; more = true) {
			if (more)
				buf_putc(c->out, ';');
			put_escaped(c, line_name(c, place->first + i), true);
		}
	}
	buf_putc(c->out, '"');
}

/* The name of a column is the value's name, and its unit unless it is a count. */
static void put_heading(struct csv *c)
{
	buf_puts(c->out, "process,pid,thread,tid,function,path");
	for (unsigned i = 0; i < c->n->value_count; i++) {
		const struct named_value *v = &c->n->values[i];

		buf_puts(c->out, ",\"");
		put_word(c, v->name);
		if (!strcmp(v->unit, "nanoseconds")) {
			buf_puts(c->out, "_ns");
		} else if (*v->unit && strcmp(v->unit, "count") != 0) {
			buf_putc(c->out, '_');
			put_word(c, v->unit);
		}
		buf_putc(c->out, '"');
	}
	buf_putc(c->out, '\n');
}

void paths_csv_write(const struct symbolized_profile *n, struct spill *out)
{
	struct csv c = {.n = n, .out = &out->buf};

	put_heading(&c);
	vec_each (row, &n->rows) {
		const struct named_owner *o = &n->owners.items[row->owner];

		put_text(&c, o->process);
		buf_addf(c.out, "%" PRId32 ",", o->pid);
		put_text(&c, o->thread);
		buf_addf(c.out, "%" PRId32 ",", o->tid);
		put_path(&c, row->path);
		for (unsigned i = 0; i < n->value_count; i++)
			buf_addf(c.out, ",%" PRId64, row->values[i]);
		buf_putc(c.out, '\n');
		spill_some(out);
	}
	vec_done(&c.way);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/paths_csv.h"

#include "base/text/medium_text.h"

#include <inttypes.h>
#include <string.h>

struct csv {
	const struct symbolized_profile *n;
	struct buf *out;
	VEC(uint32_t) way; /* scratch: places, innermost first */
	struct buf path;   /* scratch: a path, a heading */
};

/* All texts are quoted, so that programs do not read a name such as "007" as a number. */
static void put_text(struct csv *c, const char *text)
{
	medium_csv_field(c->out, text, strlen(text), true);
	buf_putc(c->out, ',');
}

static const char *text_of(const struct csv *c, uint32_t text)
{
	return intern_text(&c->n->texts, text);
}

/* A ';' in a name becomes ':', since it separates functions. */
static void join(struct buf *path, const char *name)
{
	for (; *name; name++)
		buf_putc(path, *name == ';' ? ':' : *name);
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
		put_text(c, text_of(c, line_name(c, n->places.items[c->way.items[0]].first)));
	else
		put_text(c, "");
	buf_clear(&c->path);
	while (c->way.count) {
		const struct named_place *place = &n->places.items[c->way.items[--c->way.count]];

		for (uint32_t i = place->count; i-- > 0; more = true) {
			if (more)
				buf_putc(&c->path, ';');
			join(&c->path, text_of(c, line_name(c, place->first + i)));
		}
	}
	medium_csv_field(c->out, buf_text(&c->path), c->path.size, true);
}

/* The name of a column is the value's name, and its unit unless it is a count. */
static void put_heading(struct csv *c)
{
	buf_puts(c->out, "process,pid,thread,tid,function,path");
	for (unsigned i = 0; i < c->n->value_count; i++) {
		const struct named_value *v = &c->n->values[i];

		buf_clear(&c->path);
		buf_puts(&c->path, v->name);
		if (!strcmp(v->unit, "nanoseconds"))
			buf_puts(&c->path, "_ns");
		else if (*v->unit && strcmp(v->unit, "count") != 0)
			buf_addf(&c->path, "_%s", v->unit);
		buf_putc(c->out, ',');
		medium_csv_field(c->out, buf_text(&c->path), c->path.size, true);
	}
	buf_putc(c->out, '\n');
}

void paths_csv_write(const struct symbolized_profile *n, struct spill *out)
{
	struct csv c = {.n = n, .out = &out->buf};

	put_heading(&c);
	vec_each (row, &n->rows) {
		const struct named_owner *o = &n->owners.items[row->owner];

		put_text(&c, text_of(&c, o->process));
		buf_addf(c.out, "%" PRId32 ",", o->pid);
		put_text(&c, text_of(&c, o->thread));
		buf_addf(c.out, "%" PRId32 ",", o->tid);
		put_path(&c, row->path);
		for (unsigned i = 0; i < n->value_count; i++)
			buf_addf(c.out, ",%" PRId64, row->values[i]);
		buf_putc(c.out, '\n');
		spill_some(out);
	}
	vec_done(&c.way);
	buf_done(&c.path);
}

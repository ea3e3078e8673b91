/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of rows: call paths, or their ends. */
#include "view/calls/call_rows.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define TAIL_PIPE 60 /* width of a path's end if there is no terminal */
#define TAIL_LEAST 16
#define STEPS_MAX 64 /* maximum number of functions of a path's end */
#define CELL 11      /* width of a column of times, with the gap */

void call_marks(const struct call_function *f, uint32_t open, bool inherited, struct buf *out)
{
	if (f->counted)
		buf_puts(out, "  counted, not timed");
	/* A thread is outside of all functions until it ends, so no mark is needed. */
	if (f->kind == CALL_OUTSIDE)
		return;
	if (open > 1)
		buf_addf(out, "  open so far (%" PRIu32 ")", open);
	else if (open)
		buf_puts(out, "  open so far");
	if (inherited)
		buf_puts(out, "  inherited");
}

static void add_name(const struct call_rows *r, uint32_t path, struct buf *out)
{
	call_names_text(r->report->names, r->process->paths.items[path].function, out);
}

/* The complete path: "main > sort > cmp". */
static void add_whole_path(struct call_rows *r, uint32_t path, size_t depth, struct buf *out)
{
	vec_reserve(&r->chain, depth + 1);
	call_rows_chain(r, path, r->chain.items, depth);
	for (size_t i = 0; i < depth; i++) {
		buf_puts(out, i ? " > " : "");
		add_name(r, r->chain.items[i], out);
	}
}

/* "fib x3": a direct recursion is named once. Returns the first path of the recursion. */
static uint32_t add_step(const struct call_rows *r, uint32_t path, struct buf *out)
{
	uint32_t start = r->starts[path];
	uint32_t times = r->depths[path] - r->depths[start] + 1;

	add_name(r, path, out);
	if (times > 1)
		buf_addf(out, " x%" PRIu32, times);
	return start;
}

/* The width that the other columns leave. */
static size_t room_for_path(const struct row_source *s)
{
	const struct call_rows *r = s->model;
	unsigned width = r->report->request.reader.wide || !s->width ? UINT_MAX : s->width;
	size_t others = 0;

	if (!s->width)
		return TAIL_PIPE;
	vec_each (c, &s->columns)
		others += column_is_for(c, MEDIA_READERS) && c->room <= width;
	others = CELL * (others - 1);
	return s->width > others + TAIL_LEAST ? s->width - others : TAIL_LEAST;
}

/*
 * The end of the path with its depth, "... sort > cmp  (7)": the function, and as many callers
 * before it as fit into `room`.
 */
static void add_tail(const struct call_rows *r, uint32_t path, size_t room, size_t marks,
                     struct buf *out)
{
	const struct call_path *paths = r->process->paths.items;
	uint32_t steps[STEPS_MAX], count = 0, above = path;
	struct buf name = {0};
	size_t used = 0;
	char number[32];

	marks += (size_t)snprintf(number, sizeof(number), "  (%" PRIu32 ")", r->depths[path]);
	room = room > marks + TAIL_LEAST ? room - marks : TAIL_LEAST;
	while (above && count < STEPS_MAX) {
		uint32_t next;

		buf_clear(&name);
		next = paths[add_step(r, above, &name)].parent;
		used += name.size + (count ? strlen(" > ") : 0);
		if (count && used + (next ? strlen("... ") : 0) > room)
			break;
		steps[count++] = above;
		above = next;
	}
	buf_puts(out, above ? "... " : "");
	for (uint32_t i = count; i--;) {
		add_step(r, steps[i], out);
		buf_puts(out, i ? " > " : number);
	}
	buf_done(&name);
}

struct cell call_path_cell(const struct row_source *s, const struct column *c, uint32_t row,
                           struct buf *text)
{
	struct call_rows *r = s->model;
	const struct call_row *of = call_rows_at(s, row);
	const struct call_function *f = &r->report->paths->functions.items[of->function];
	size_t depth = of->path == CALL_PATH_NONE ? 0 : r->depths[of->path];
	struct buf marks = {0};

	/* In tables of callers and callees, `open` is not of the row's function, so it is not
	 * shown. */
	if (r->kind == CALL_ROWS_PATHS || r->kind == CALL_ROWS_FUNCTIONS)
		call_marks(f, of->open, of->inherited, &marks);
	if (of->self)
		buf_puts(text, "[self]");
	else if (!depth)
		call_names_text(r->report->names, of->function, text);
	else if (r->report->request.full_paths)
		add_whole_path(r, of->path, depth, text);
	else
		add_tail(r, of->path, room_for_path(s), marks.size, text);
	buf_add(text, buf_text(&marks), marks.size);
	buf_done(&marks);
	return cell_text(buf_text(text));
}

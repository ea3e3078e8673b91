/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/tree_view.h"

#include "base/text/display_width.h"

#include <string.h>

#define OPEN_SHARE 0.1 /* of the whole: such nodes are open at first */
#define INDENT_MAX 40
#define LAST_ROOM 30

static const struct column *last_column(const struct view_tree *t)
{
	const struct column *last = NULL;

	vec_each (c, &t->source->columns)
		if (column_is_for(c, MEDIA_READERS))
			last = c;
	return last;
}

static void name_of(const struct view_tree *t, uint32_t node, struct buf *out)
{
	const struct view_node *n = &t->nodes.items[node];
	const struct column *last = last_column(t);

	if (last)
		table_view_text(t->source, last, node, out);
	buf_puts(out, n->inlined ? " (inlined)" : "");
	if (n->levels)
		buf_addf(out, " (recursion, %u levels)", n->levels);
	if (t->marks)
		t->marks(t, node, out);
}

static bool is_turned(const struct tree_view *v, uint64_t path)
{
	vec_each (turned, &v->turned)
		if (*turned == path)
			return true;
	return false;
}

static bool is_large(const struct view_tree *t, uint32_t node)
{
	double all, part;

	if (!t->measures || node == TREE_ROOT)
		return true;
	all = cell_number(view_tree_total_of(t, TREE_ROOT, 0));
	part = cell_number(view_tree_total_of(t, node, 0));
	return all > 0 && part >= OPEN_SHARE * all;
}

/* The nodes to which the filter applies: those that match and all above them; NULL: all. */
static bool *matching(const struct tree_view *v)
{
	size_t count = v->tree->nodes.count;
	struct buf name = {0};
	bool *match;

	if (!v->filter.text)
		return NULL;
	match = xcalloc(count + 1, sizeof(*match));
	/* Callers come before callees. */
	for (size_t i = count; i-- > 0;) {
		const struct view_node *n = &v->tree->nodes.items[i];

		buf_clear(&name);
		if (!match[i] && !n->empty) {
			name_of(v->tree, (uint32_t)i, &name);
			match[i] = line_filter_has(&v->filter, buf_text(&name));
		}
		if (match[i])
			match[n->parent] = true;
	}
	buf_done(&name);
	return match;
}

/* Appends the lines of the open nodes, depth first. */
static void list_nodes(struct tree_view *v, const bool *match)
{
	VEC(uint64_t) paths = {0}; /* of the nodes on the way */
	struct view_tree_walk w = {0};
	struct buf name = {0};
	bool shown, open;

	v->lines.count = 0;
	do {
		const struct view_node *n = &v->tree->nodes.items[w.node];
		struct tree_view_line line = {.node = w.node, .depth = w.depth};

		shown = !n->empty && (!match || match[w.node]);
		open = false;
		if (!shown)
			continue;
		buf_clear(&name);
		name_of(v->tree, w.node, &name);
		paths.count = w.depth;
		line.path = hash_pair(w.depth ? paths.items[w.depth - 1] : 1,
		                      hash_bytes(buf_text(&name), name.size));
		vec_push(&paths, line.path);
		open = match || v->all || is_large(v->tree, w.node);
		open ^= is_turned(v, line.path);
		line.open = open;
		line.leaf = n->first_child == ID_NONE;
		vec_push(&v->lines, line);
	} while (view_tree_step(v->tree, &w, shown && open));
	buf_done(&name);
	vec_done(&paths);
}

static void list_lines(struct tree_view *v)
{
	bool *match = matching(v);

	list_nodes(v, match);
	free(match);
	for (size_t i = 0; v->selected && i < v->lines.count; i++)
		if (v->lines.items[i].path == v->selected)
			v->scroll.at = i;
	scroll_fit(&v->scroll, v->lines.count, v->scroll.page);
}

void tree_view_show(struct tree_view *v, const struct view_tree *tree)
{
	v->tree = tree;
	list_lines(v);
}

void tree_view_done(struct tree_view *v)
{
	line_filter_done(&v->filter);
	vec_done(&v->lines);
	vec_done(&v->turned);
	vec_done(&v->widths);
	*v = (struct tree_view){0};
}

int tree_view_filter(struct tree_view *v, const char *text, struct error *err)
{
	int status = line_filter_set(&v->filter, text, err);

	if (!status)
		list_lines(v);
	return status;
}

static struct tree_view_line *selected(struct tree_view *v)
{
	return v->scroll.at < v->lines.count ? &v->lines.items[v->scroll.at] : NULL;
}

void tree_view_move(struct tree_view *v, long lines)
{
	scroll_by(&v->scroll, lines);
	v->selected = selected(v) ? selected(v)->path : 0;
}

void tree_view_go(struct tree_view *v, size_t line)
{
	scroll_to(&v->scroll, line);
	tree_view_move(v, 0);
}

static void turn(struct tree_view *v, uint64_t path)
{
	for (size_t i = 0; i < v->turned.count; i++)
		if (v->turned.items[i] == path) {
			v->turned.items[i] = *vec_last(&v->turned);
			v->turned.count--;
			return;
		}
	vec_push(&v->turned, path);
}

static void select_parent(struct tree_view *v, unsigned depth)
{
	size_t line = v->scroll.at;

	while (line && v->lines.items[line].depth >= depth)
		line--;
	tree_view_go(v, line);
}

void tree_view_turn(struct tree_view *v, int open)
{
	const struct tree_view_line *line = selected(v);

	if (!line)
		return;
	if (open < 0 && (!line->open || line->leaf)) {
		select_parent(v, line->depth);
		return;
	}
	if (line->leaf || (open > 0 && line->open))
		return;
	v->selected = line->path;
	turn(v, line->path);
	list_lines(v);
}

void tree_view_turn_all(struct tree_view *v)
{
	v->all = !v->all;
	v->turned.count = 0;
	list_lines(v);
}

uint32_t tree_view_node(const struct tree_view *v)
{
	return v->scroll.at < v->lines.count ? v->lines.items[v->scroll.at].node : ID_NONE;
}

static void measure(struct tree_view *v)
{
	const struct row_source *s = v->tree->source;
	struct buf text = {0};

	while (v->widths.count < s->columns.count)
		vec_push(&v->widths, 0);
	for (size_t c = 0; c < s->columns.count; c++) {
		const struct column *column = &s->columns.items[c];
		size_t width =
		        column_is_for(column, MEDIA_READERS) ? display_width(column->title) : 0;

		scroll_each(at, &v->scroll)
		{
			if (!width || column == last_column(v->tree))
				break;
			buf_clear(&text);
			table_view_text(s, column, v->lines.items[at].node, &text);
			if (display_width(buf_text(&text)) > width)
				width = display_width(buf_text(&text));
		}
		if (width > v->widths.items[c])
			v->widths.items[c] = (unsigned)width;
	}
	buf_done(&text);
}

static void draw_name(const struct tree_view *v, const struct tree_view_line *line,
                      struct canvas *c, unsigned y)
{
	unsigned from = y < c->height ? c->lines[y].used : 0;
	unsigned indent = line->depth < INDENT_MAX ? line->depth : INDENT_MAX;
	struct buf name = {0};

	canvas_move(c, y, from + indent);
	canvas_add(c, y, CANVAS_DIM, line->leaf ? " " : line->open ? "-" : "+", 1);
	canvas_move(c, y, from + indent + 2);
	if (line->depth > INDENT_MAX) {
		buf_addf(&name, "[%u] ", line->depth);
	}
	name_of(v->tree, line->node, &name);
	canvas_add(c, y, CANVAS_PLAIN, buf_text(&name), c->width);
	buf_done(&name);
}

void tree_view_draw(struct tree_view *v, struct canvas *c, unsigned line, unsigned lines)
{
	struct table_view_layout layout = {.source = v->tree->source};

	scroll_fit(&v->scroll, v->lines.count, lines > 1 ? lines - 1 : 1);
	measure(v);
	table_view_lay_out(&layout, &v->widths, LAST_ROOM, c, line);
	scroll_each(at, &v->scroll)
	{
		unsigned y = line + 1 + (unsigned)(at - v->scroll.top);

		table_view_cells(&layout, v->lines.items[at].node, c, y, CANVAS_PLAIN);
		draw_name(v, &v->lines.items[at], c, y);
		if (at == v->scroll.at)
			canvas_over(c, y, CANVAS_SELECTED);
	}
	if (!v->lines.count)
		canvas_add(c, line + 1, CANVAS_DIM,
		           v->filter.text ? "no node matches the filter" : "no samples", c->width);
	table_view_layout_done(&layout);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen_page.h"

#include "base/text/display_width.h"
#include "output/document_output.h"

#include <string.h>

#define TAB_WIDTH 28 /* of a title */
#define TAB_GAP 2
#define SMALL_TABLE 30 /* rows */

const char *screen_page_row_text(const struct screen_page_row *row, const char *column)
{
	vec_each (cell, &row->cells)
		if (!strcmp(cell->column, column))
			return cell->text;
	return NULL;
}

void screen_page_row_done(struct screen_page_row *row)
{
	vec_each (cell, &row->cells)
		free(cell->text);
	vec_done(&row->cells);
}

static void tab_done(struct screen_page_tab *t)
{
	free(t->title);
	vec_done(&t->sections);
	table_view_done(&t->table);
	tree_view_done(&t->tree);
	text_view_done(&t->text);
}

static bool is_empty(const struct section *s)
{
	return s->kind == SECTION_NOTES && !s->notes.count;
}

static const char *title_of(const struct section *s)
{
	return s->title && *s->title      ? s->title
	       : s->kind == SECTION_TREE  ? "Tree"
	       : s->kind == SECTION_TABLE ? "Table"
	                                  : "Text";
}

/* A long title up to its first comma: "Functions, over all processes". */
static char *short_title(const char *title)
{
	size_t length = strlen(title) > TAB_WIDTH ? strcspn(title, ",") : strlen(title);

	return xasprintf("%.*s", (int)length, title);
}

/* A short table whose rows have an order of their own, such as the account, is part of the text. */
static enum screen_page_tab_kind kind_of(const struct section *s)
{
	bool small = s->kind == SECTION_TABLE && s->rows->source->fixed &&
	             s->rows->order.count <= SMALL_TABLE;

	return small                      ? SCREEN_PAGE_TEXT
	       : s->kind == SECTION_TABLE ? SCREEN_PAGE_TABLE
	       : s->kind == SECTION_TREE  ? SCREEN_PAGE_TREE
	                                  : SCREEN_PAGE_TEXT;
}

/* The tabs of the sections for readers, without contents. */
static void list_tabs(const struct document *d, struct screen_page *p)
{
	struct screen_page_tab *text = NULL;

	vec_each (s, &d->sections) {
		enum screen_page_tab_kind kind = kind_of(s);

		if (!(s->media & MEDIA_READERS) || is_empty(s))
			continue;
		if (kind == SCREEN_PAGE_TEXT && text) {
			vec_push(&text->sections, s);
			continue;
		}
		text = vec_add(&p->tabs);
		text->kind = kind;
		text->title = short_title(title_of(s));
		vec_push(&text->sections, s);
		if (kind != SCREEN_PAGE_TEXT)
			text = NULL;
	}
}

/* The position, filter and order of the tab with the same title. */
static void inherit(struct screen_page_tab *tab, struct screen_page *old)
{
	vec_each (from, &old->tabs) {
		if (from->kind != tab->kind || strcmp(from->title, tab->title) != 0)
			continue;
		tab->table = from->table;
		tab->tree = from->tree;
		tab->text = from->text;
		from->table = (struct table_view){0};
		from->tree = (struct tree_view){0};
		from->text = (struct text_view){0};
		return;
	}
}

static void fill(struct screen_page_tab *tab)
{
	const struct section *s = tab->sections.items[0];

	if (tab->kind == SCREEN_PAGE_TABLE)
		table_view_show(&tab->table, s->rows);
	else if (tab->kind == SCREEN_PAGE_TREE)
		tree_view_show(&tab->tree, s->tree);
}

/* The tab that was shown before, by its title, else the one that the document asks for. */
static size_t choose(const struct screen_page *p, const char *shown)
{
	const char *first = p->made.first;

	for (size_t i = 0; shown && i < p->tabs.count; i++)
		if (!strcmp(p->tabs.items[i].title, shown))
			return i;
	for (size_t i = 0; !p->began && first && i < p->tabs.count; i++)
		if (!strncmp(p->tabs.items[i].title, first, strlen(first)))
			return i;
	for (size_t i = 0; !p->began && i < p->tabs.count; i++)
		if (p->tabs.items[i].kind != SCREEN_PAGE_TEXT)
			return i;
	return p->at < p->tabs.count ? p->at : 0;
}

void screen_page_show(struct screen_page *p, const struct screen_page_document *made)
{
	struct screen_page old = *p;
	const char *shown = old.at < old.tabs.count ? old.tabs.items[old.at].title : NULL;

	*p = (struct screen_page){.made = *made, .at = old.at, .began = old.began};
	list_tabs(made->document, p);
	vec_each (tab, &p->tabs) {
		inherit(tab, &old);
		fill(tab);
	}
	p->at = choose(p, shown);
	p->began = true;
	screen_page_done(&old);
}

void screen_page_forget(struct screen_page *p)
{
	if (p->made.free)
		p->made.free(p->made.owner);
	free(p->made.title);
	p->made = (struct screen_page_document){0};
	vec_each (tab, &p->tabs) {
		tab->sections.count = 0;
		tab->table.rows = NULL;
		tab->tree.tree = NULL;
	}
}

void screen_page_done(struct screen_page *p)
{
	vec_each (tab, &p->tabs)
		tab_done(tab);
	vec_done(&p->tabs);
	if (p->made.free)
		p->made.free(p->made.owner);
	free(p->made.title);
	p->made = (struct screen_page_document){0};
}

struct screen_page_tab *screen_page_tab(struct screen_page *p)
{
	return p->made.document && p->at < p->tabs.count ? &p->tabs.items[p->at] : NULL;
}

void screen_page_next_tab(struct screen_page *p, int step)
{
	if (p->tabs.count)
		p->at = (p->at + (step > 0 ? 1 : p->tabs.count - 1)) % p->tabs.count;
}

static void add_cell(struct screen_page_row *row, const char *column, const char *text)
{
	struct screen_page_cell cell = {column, xstrdup(text)};

	vec_push(&row->cells, cell);
}

static void add_cells(struct screen_page_row *row, const struct row_source *s, uint32_t id)
{
	struct buf text = {0};

	vec_each (column, &s->columns) {
		if (column->unit != &unit_text || !column->name || !column->get)
			continue;
		buf_clear(&text);
		table_view_text(s, column, id, &text);
		add_cell(row, column->name, buf_text(&text));
	}
	buf_done(&text);
}

bool screen_page_row(struct screen_page *p, struct screen_page_row *row)
{
	struct screen_page_tab *tab = screen_page_tab(p);
	const struct view_node *n;
	uint32_t id;

	*row = (struct screen_page_row){0};
	if (!tab || tab->kind == SCREEN_PAGE_TEXT)
		return false;
	id = tab->kind == SCREEN_PAGE_TABLE ? table_view_row(&tab->table)
	                                    : tree_view_node(&tab->tree);
	if (id == ID_NONE)
		return false;
	if (tab->kind == SCREEN_PAGE_TABLE) {
		add_cells(row, tab->table.rows->source, id);
		return true;
	}
	n = &tab->tree.tree->nodes.items[id];
	if (n->name && id != TREE_ROOT)
		add_cell(row, n->is_owner ? "process" : "function", n->name);
	add_cells(row, tab->tree.tree->source, id);
	return true;
}

int screen_page_filter(struct screen_page *p, const char *text, struct error *err)
{
	struct screen_page_tab *tab = screen_page_tab(p);

	if (!tab)
		return 0;
	switch (tab->kind) {
	case SCREEN_PAGE_TABLE:
		return table_view_filter(&tab->table, text, err);
	case SCREEN_PAGE_TREE:
		return tree_view_filter(&tab->tree, text, err);
	default:
		return text_view_filter(&tab->text, text, err);
	}
}

const char *screen_page_filter_text(struct screen_page *p)
{
	struct screen_page_tab *tab = screen_page_tab(p);

	return !tab                             ? NULL
	       : tab->kind == SCREEN_PAGE_TABLE ? tab->table.filter.text
	       : tab->kind == SCREEN_PAGE_TREE  ? tab->tree.filter.text
	                                        : tab->text.filter.text;
}

void screen_page_move(struct screen_page *p, long lines)
{
	struct screen_page_tab *tab = screen_page_tab(p);

	if (tab && tab->kind == SCREEN_PAGE_TABLE)
		table_view_move(&tab->table, lines);
	else if (tab && tab->kind == SCREEN_PAGE_TREE)
		tree_view_move(&tab->tree, lines);
	else if (tab)
		text_view_move(&tab->text, lines);
}

void screen_page_go(struct screen_page *p, size_t line)
{
	struct screen_page_tab *tab = screen_page_tab(p);

	if (tab && tab->kind == SCREEN_PAGE_TABLE)
		table_view_go(&tab->table, line);
	else if (tab && tab->kind == SCREEN_PAGE_TREE)
		tree_view_go(&tab->tree, line);
	else if (tab)
		text_view_move(&tab->text, (long)line - (long)tab->text.scroll.top);
}

const struct scroll *screen_page_scroll(struct screen_page *p)
{
	static const struct scroll none;
	struct screen_page_tab *tab = screen_page_tab(p);

	return !tab                             ? &none
	       : tab->kind == SCREEN_PAGE_TABLE ? &tab->table.scroll
	       : tab->kind == SCREEN_PAGE_TREE  ? &tab->tree.scroll
	                                        : &tab->text.scroll;
}

/* ---- drawing ------------------------------------------------------------- */

static unsigned tab_width(const struct screen_page_tab *tab)
{
	size_t width = display_width(tab->title);

	return width < TAB_WIDTH ? (unsigned)width : TAB_WIDTH;
}

/* The first tab that is drawn, so that the shown one is on the screen. */
static size_t first_tab(const struct screen_page *p, unsigned width)
{
	size_t first = p->at;
	unsigned used = p->at < p->tabs.count ? tab_width(&p->tabs.items[p->at]) : 0;

	while (first && used + tab_width(&p->tabs.items[first - 1]) + 2 * TAB_GAP < width)
		used += tab_width(&p->tabs.items[--first]) + TAB_GAP;
	return first;
}

void screen_page_draw_tabs(struct screen_page *p, struct canvas *c, unsigned line)
{
	size_t first = first_tab(p, c->width);

	if (first)
		canvas_add(c, line, CANVAS_DIM, "<", 1);
	for (size_t i = first; i < p->tabs.count && line < c->height; i++) {
		unsigned width = tab_width(&p->tabs.items[i]);

		if (c->lines[line].used + 1 >= c->width)
			break;
		canvas_move(c, line, c->lines[line].used + 1);
		canvas_add(c, line, i == p->at ? CANVAS_TAB : CANVAS_DIM, p->tabs.items[i].title,
		           width);
		canvas_move(c, line, c->lines[line].used + TAB_GAP - 1);
	}
}

size_t screen_page_tab_at(const struct screen_page *p, unsigned width, unsigned column)
{
	size_t first = first_tab(p, width);
	unsigned used = first != 0;

	for (size_t i = first; i < p->tabs.count; i++) {
		used += tab_width(&p->tabs.items[i]) + TAB_GAP;
		if (column < used)
			return i;
	}
	return p->tabs.count;
}

/* The sections as text of the width of the screen. */
static void make_text(struct screen_page_tab *tab, unsigned width)
{
	struct document part = {0};
	const struct document_text_options o = {.style = {.width = width}};
	struct buf text = {0};

	if (tab->text_width == width && tab->text.text.size)
		return;
	vec_each (s, &tab->sections)
		vec_push(&part.sections, **s);
	document_text_print(&part, &o, NULL, &text);
	text_view_show(&tab->text, buf_text(&text));
	tab->text_width = width;
	vec_done(&part.sections);
	buf_done(&text);
}

void screen_page_draw(struct screen_page *p, struct canvas *c, unsigned line, unsigned lines)
{
	struct screen_page_tab *tab = screen_page_tab(p);

	if (!tab)
		return;
	if (tab->kind == SCREEN_PAGE_TABLE) {
		table_view_draw(&tab->table, c, line, lines);
	} else if (tab->kind == SCREEN_PAGE_TREE) {
		tree_view_draw(&tab->tree, c, line, lines);
	} else {
		make_text(tab, c->width);
		text_view_draw(&tab->text, c, line, lines);
	}
}

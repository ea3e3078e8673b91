/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/browser.h"

#include "tui/prompt.h"

#include <string.h>

#define SKIP 16  /* columns by which long names are moved */
#define WHEEL 3  /* lines */
#define PAGES 32 /* on top of each other */

struct browser_page {
	struct screen_page page;
	enum page_about about;
	struct screen_page_row row;
};

struct browser {
	struct browser_host host;
	VEC(struct browser_page) pages;
	struct prompt prompt;
	enum key_action asking; /* ACTION_FILTER, ACTION_SNAPSHOT: for what the prompt is */
	char *filter_before;
	struct buf message;
	struct text_view help;
	bool helping, over;
	unsigned body; /* the first line of the page, when it was drawn */
};

struct browser *browser_new(const struct browser_host *host)
{
	struct browser *b = xcalloc(1, sizeof(*b));
	struct browser_page *first = vec_add(&b->pages);

	b->host = *host;
	first->about = PAGE_ALL;
	return b;
}

static void pop(struct browser *b)
{
	struct browser_page *top = vec_last(&b->pages);

	screen_page_done(&top->page);
	screen_page_row_done(&top->row);
	b->pages.count--;
}

void browser_free(struct browser *b)
{
	if (!b)
		return;
	while (b->pages.count)
		pop(b);
	vec_done(&b->pages);
	prompt_done(&b->prompt);
	text_view_done(&b->help);
	buf_done(&b->message);
	free(b->filter_before);
	free(b);
}

static struct browser_page *top_of(struct browser *b)
{
	return vec_last(&b->pages);
}

bool browser_is_over(const struct browser *b)
{
	return b->over;
}

void browser_say(struct browser *b, const char *text)
{
	buf_clear(&b->message);
	buf_puts(&b->message, text);
}

void browser_forget(struct browser *b)
{
	vec_each (p, &b->pages)
		screen_page_forget(&p->page);
}

void browser_refresh(struct browser *b)
{
	struct browser_page *top = top_of(b);
	struct screen_page_document made = {0};
	struct error err = {0};

	if (b->host.make(b->host.ctx, top->about, &top->row, &made, &err))
		browser_say(b, err.text);
	else
		screen_page_show(&top->page, &made);
}

static void push(struct browser *b, enum page_about about)
{
	struct browser_page next = {.about = about};
	struct screen_page_document made = {0};
	struct error err = {0};

	if (b->pages.count == PAGES) {
		browser_say(b, "there are too many pages; Esc goes back");
		return;
	}
	if (about != PAGE_PATHS && about != PAGE_WAITS &&
	    !screen_page_row(&top_of(b)->page, &next.row)) {
		browser_say(b, "no line is selected");
		return;
	}
	if (b->host.make(b->host.ctx, about, &next.row, &made, &err)) {
		browser_say(b, err.text);
		screen_page_row_done(&next.row);
		return;
	}
	screen_page_show(&next.page, &made);
	vec_push(&b->pages, next);
}

static void go_back(struct browser *b)
{
	struct error err = {0};

	if (screen_page_filter_text(&top_of(b)->page)) {
		screen_page_filter(&top_of(b)->page, "", &err);
		return;
	}
	if (b->pages.count == 1)
		return;
	pop(b);
	if (!top_of(b)->page.made.document)
		browser_refresh(b);
}

/* From the page of waits, and from those above it. */
static bool leave_waits(struct browser *b)
{
	bool is_there = false;

	vec_each (p, &b->pages)
		is_there |= p->about == PAGE_WAITS;
	if (!is_there)
		return false;
	while (top_of(b)->about != PAGE_WAITS)
		pop(b);
	pop(b);
	if (!top_of(b)->page.made.document)
		browser_refresh(b);
	return true;
}

static void show_help(struct browser *b)
{
	struct buf text = {0};

	buf_puts(&text, "Keys\n\n");
	key_help(b->host.live, &text);
	if (b->host.help) {
		buf_putc(&text, '\n');
		b->host.help(b->host.ctx, &text);
	}
	text_view_show(&b->help, buf_text(&text));
	buf_done(&text);
	b->helping = true;
}

static void ask_filter(struct browser *b)
{
	const char *now = screen_page_filter_text(&top_of(b)->page);

	free(b->filter_before);
	b->filter_before = xstrdup(now ? now : "");
	b->asking = ACTION_FILTER;
	prompt_open(&b->prompt, "filter: ", now);
}

static void ask_snapshot(struct browser *b)
{
	struct buf name = {0};

	b->host.propose(b->host.ctx, &name);
	b->asking = ACTION_SNAPSHOT;
	prompt_open(&b->prompt, "write to: ", buf_text(&name));
	buf_done(&name);
}

/* The filter follows what is typed; an expression that is not complete has no effect yet. */
static void typed(struct browser *b, enum prompt_result result)
{
	const char *text = buf_text(&b->prompt.text);
	struct error err = {0};

	if (b->asking == ACTION_SNAPSHOT) {
		if (result == PROMPT_ENTERED && *text)
			b->host.act(b->host.ctx, ACTION_SNAPSHOT, text, &b->message);
		return;
	}
	if (result == PROMPT_CANCELLED)
		text = b->filter_before;
	if (screen_page_filter(&top_of(b)->page, text, &err) && result == PROMPT_ENTERED)
		browser_say(b, err.text);
}

static void sideways(struct browser *b, int direction)
{
	struct screen_page_tab *tab = screen_page_tab(&top_of(b)->page);

	if (tab && tab->kind == SCREEN_PAGE_TREE)
		tree_view_turn(&tab->tree, direction);
	else if (tab && tab->kind == SCREEN_PAGE_TABLE)
		table_view_skip(&tab->table, direction * SKIP);
}

static void open_row(struct browser *b)
{
	struct screen_page_tab *tab = screen_page_tab(&top_of(b)->page);

	if (tab && tab->kind == SCREEN_PAGE_TREE)
		tree_view_turn(&tab->tree, 0);
	else
		push(b, PAGE_ROW);
}

static void sort(struct browser *b, int step)
{
	struct screen_page_tab *tab = screen_page_tab(&top_of(b)->page);

	if (tab && tab->kind == SCREEN_PAGE_TABLE)
		table_view_sort(&tab->table, step);
	else
		browser_say(b, "only tables have an order");
}

static void turn_all(struct browser *b)
{
	struct screen_page_tab *tab = screen_page_tab(&top_of(b)->page);

	if (tab && tab->kind == SCREEN_PAGE_TREE)
		tree_view_turn_all(&tab->tree);
}

static void move(struct browser *b, enum key_action action)
{
	struct screen_page *p = &top_of(b)->page;
	const struct scroll *s = screen_page_scroll(p);
	long page = s->page > 1 ? (long)s->page - 1 : 1;

	switch (action) {
	case ACTION_UP:
		screen_page_move(p, -1);
		break;
	case ACTION_DOWN:
		screen_page_move(p, 1);
		break;
	case ACTION_PAGE_UP:
		screen_page_move(p, -page);
		break;
	case ACTION_PAGE_DOWN:
		screen_page_move(p, page);
		break;
	case ACTION_FIRST:
		screen_page_go(p, 0);
		break;
	default:
		screen_page_go(p, s->count ? s->count - 1 : 0);
		break;
	}
}

static void act(struct browser *b, enum key_action action)
{
	static const enum page_about pages[] = {[ACTION_CALLERS] = PAGE_CALLERS,
	                                        [ACTION_CALLEES] = PAGE_CALLEES,
	                                        [ACTION_TREE] = PAGE_PATHS,
	                                        [ACTION_CODE] = PAGE_CODE,
	                                        [ACTION_WAITS] = PAGE_WAITS};

	switch (action) {
	case ACTION_UP ... ACTION_LAST:
		move(b, action);
		break;
	case ACTION_LEFT:
	case ACTION_RIGHT:
		sideways(b, action == ACTION_LEFT ? -1 : 1);
		break;
	case ACTION_TOGGLE_ALL:
		turn_all(b);
		break;
	case ACTION_NEXT_TABLE:
	case ACTION_PREVIOUS_TABLE:
		screen_page_next_tab(&top_of(b)->page, action == ACTION_NEXT_TABLE ? 1 : -1);
		break;
	case ACTION_SORT_NEXT:
	case ACTION_SORT_PREVIOUS:
		sort(b, action == ACTION_SORT_NEXT ? 1 : -1);
		break;
	case ACTION_FILTER:
		ask_filter(b);
		break;
	case ACTION_OPEN:
		open_row(b);
		break;
	case ACTION_CALLERS:
	case ACTION_CALLEES:
	case ACTION_TREE:
	case ACTION_CODE:
		push(b, pages[action]);
		break;
	case ACTION_WAITS:
		if (!leave_waits(b))
			push(b, PAGE_WAITS);
		break;
	case ACTION_BACK:
		go_back(b);
		break;
	case ACTION_SNAPSHOT:
		ask_snapshot(b);
		break;
	case ACTION_PAUSE:
	case ACTION_WINDOW:
		b->host.act(b->host.ctx, action, NULL, &b->message);
		break;
	case ACTION_HELP:
		show_help(b);
		break;
	case ACTION_QUIT:
		b->over = true;
		break;
	case ACTION_NOTHING:
		break;
	}
}

static void click(struct browser *b, const struct key_event *key, unsigned width)
{
	struct screen_page *p = &top_of(b)->page;
	struct screen_page_tab *tab = screen_page_tab(p);
	const struct scroll *s = screen_page_scroll(p);
	size_t line;

	if (b->body && key->line + 1 == b->body) {
		size_t at = screen_page_tab_at(p, width, key->column);

		if (at < p->tabs.count)
			p->at = at;
		return;
	}
	/* The first line of a table has the titles. */
	if (!tab || tab->kind == SCREEN_PAGE_TEXT || key->line <= b->body)
		return;
	line = s->top + key->line - b->body - 1;
	if (line >= s->count)
		return;
	if (line == s->at)
		open_row(b);
	else
		screen_page_go(p, line);
}

/* While the help is shown, keys scroll it; all others close it. */
static void help_key(struct browser *b, uint32_t key)
{
	const struct scroll *s = &b->help.scroll;

	switch (key_action_of(key, b->host.live)) {
	case ACTION_UP:
		text_view_move(&b->help, -1);
		break;
	case ACTION_DOWN:
		text_view_move(&b->help, 1);
		break;
	case ACTION_PAGE_UP:
		text_view_move(&b->help, -(long)s->page);
		break;
	case ACTION_PAGE_DOWN:
		text_view_move(&b->help, (long)s->page);
		break;
	default:
		b->helping = key == KEY_CODE_RESIZE;
		break;
	}
}

void browser_key(struct browser *b, const struct key_event *key, unsigned width, unsigned height)
{
	if (key->key == KEY_CODE_HANGUP) {
		b->over = true;
		return;
	}
	if (key->key == KEY_CODE_RESIZE)
		return;
	buf_clear(&b->message);
	if (b->prompt.label) {
		typed(b, prompt_key(&b->prompt, key->key));
		return;
	}
	if (b->helping) {
		help_key(b, key->key);
		return;
	}
	if (key->key == KEY_CODE_CLICK)
		click(b, key, width);
	else if (key->key == KEY_CODE_WHEEL_UP || key->key == KEY_CODE_WHEEL_DOWN)
		screen_page_move(&top_of(b)->page, key->key == KEY_CODE_WHEEL_UP ? -WHEEL : WHEEL);
	else
		act(b, key_action_of(key->key, b->host.live));
}

/* ---- drawing ------------------------------------------------------------- */

/* Draws the lines above the page; returns their number. */
static unsigned draw_head(struct browser *b, struct canvas *c)
{
	struct buf text = {0};
	unsigned line = 0;
	char *at, *end;

	b->host.head(b->host.ctx, c->width, &text);
	for (at = text.data; at && *at; at = end + 1) {
		end = strchr(at, '\n');
		if (!end)
			break;
		*end = '\0';
		canvas_add(c, line, line ? CANVAS_PLAIN : CANVAS_BOLD, at, c->width);
		line++;
	}
	buf_done(&text);
	return line;
}

static void draw_last_line(struct browser *b, struct canvas *c, unsigned line)
{
	const char *filter = screen_page_filter_text(&top_of(b)->page);
	struct buf text = {0};

	if (b->prompt.label) {
		prompt_draw(&b->prompt, c, line);
		return;
	}
	if (b->message.size) {
		canvas_add(c, line, CANVAS_BOLD, buf_text(&b->message), c->width);
		return;
	}
	if (filter)
		buf_addf(&text, "filter: %s", filter);
	key_hints(b->host.live, b->pages.count > 1 || filter,
	          c->width > text.size ? c->width - (unsigned)text.size : 0, &text);
	canvas_add(c, line, CANVAS_DIM, buf_text(&text), c->width);
	buf_done(&text);
}

/* Titles of the pages on the way to this one, before its tabs. */
static void draw_way(struct browser *b, struct canvas *c, unsigned line)
{
	struct buf text = {0};

	for (size_t i = 1; i < b->pages.count; i++) {
		const char *title = b->pages.items[i].page.made.title;

		if (i + 1 == b->pages.count && title)
			canvas_add(c, line, CANVAS_BOLD, title, c->width);
	}
	buf_done(&text);
}

void browser_draw(struct browser *b, struct canvas *c)
{
	unsigned line = draw_head(b, c), last = c->height ? c->height - 1 : 0;

	if (b->helping) {
		text_view_draw(&b->help, c, line, last > line ? last - line : 0);
		canvas_add(c, last, CANVAS_DIM, "Up Down scroll  any other key closes", c->width);
		return;
	}
	if (b->pages.count > 1)
		draw_way(b, c, line++);
	screen_page_draw_tabs(&top_of(b)->page, c, line++);
	b->body = line;
	screen_page_draw(&top_of(b)->page, c, line, last > line ? last - line : 0);
	draw_last_line(b, c, last);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen_page: a document on the screen: each table, each tree and the text between them is a tab.
 *
 * A new struct is all zeros. screen_page_show() takes a document over; if it is the same report a
 * second later, tabs with the same title keep their position, filter and order.
 * screen_page_forget() frees the document and keeps these. screen_page_done() frees all. No
 * function fails. One thread. Uses: base, view, output, tui.
 */
#ifndef ASSAY_TUI_SCREEN_PAGE_H
#define ASSAY_TUI_SCREEN_PAGE_H

#include "tui/table_view.h"
#include "tui/text_view.h"
#include "tui/tree_view.h"
#include "view/document/document.h"

/* A document and what it refers to. */
struct screen_page_document {
	struct document *document;
	char *title;       /* of the page; NULL: none */
	const char *first; /* the beginning of the title of the tab that is shown
	                    * first; NULL: the first table or tree */
	void (*free)(void *owner);
	void *owner;
};

/* The texts of the selected row, by the names of their columns. */
struct screen_page_cell {
	const char *column; /* valid as long as the document */
	char *text;
};

struct screen_page_row {
	VEC(struct screen_page_cell) cells;
};

/* NULL: the row has no such column. */
const char *screen_page_row_text(const struct screen_page_row *row, const char *column);
void screen_page_row_done(struct screen_page_row *row);

enum screen_page_tab_kind { SCREEN_PAGE_TEXT, SCREEN_PAGE_TABLE, SCREEN_PAGE_TREE };

struct screen_page_tab {
	char *title;
	enum screen_page_tab_kind kind;
	VEC(const struct section *) sections; /* of text: several */
	struct table_view table;
	struct tree_view tree;
	struct text_view text;
	unsigned text_width; /* for which the text was made; 0: not yet */
};

struct screen_page {
	struct screen_page_document made; /* zeros: there is none now */
	VEC(struct screen_page_tab) tabs;
	size_t at;
	bool began; /* the first tab was chosen */
};

void screen_page_show(struct screen_page *p, const struct screen_page_document *made);
void screen_page_forget(struct screen_page *p);
void screen_page_done(struct screen_page *p);

/* The tab that is shown; NULL: there is none. */
struct screen_page_tab *screen_page_tab(struct screen_page *p);
void screen_page_next_tab(struct screen_page *p, int step);
/* The selected row; false: there is none. The caller calls screen_page_row_done(). */
bool screen_page_row(struct screen_page *p, struct screen_page_row *row);
int screen_page_filter(struct screen_page *p, const char *text, struct error *err);
/* The filter of the tab; NULL: none. */
const char *screen_page_filter_text(struct screen_page *p);
void screen_page_move(struct screen_page *p, long lines);
/* Selects a line of the list, or the first or last one. */
void screen_page_go(struct screen_page *p, size_t line);
/* The lines of the tab's list, its selected line, and how many fit. */
const struct scroll *screen_page_scroll(struct screen_page *p);

void screen_page_draw_tabs(struct screen_page *p, struct canvas *c, unsigned line);
/* The tab whose title is at that column; tabs.count: none. */
size_t screen_page_tab_at(const struct screen_page *p, unsigned width, unsigned column);
void screen_page_draw(struct screen_page *p, struct canvas *c, unsigned line, unsigned lines);

#endif

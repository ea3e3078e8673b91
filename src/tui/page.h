/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page: a document on the screen: each table, each tree and the text between them is a tab.
 *
 * A new struct is all zeros. page_show() takes a document over; if it is the same report a second
 * later, tabs with the same title keep their position, filter and order. page_forget() frees the
 * document and keeps these. page_done() frees all. No function fails. One thread. Uses: base, view,
 * output, tui.
 */
#ifndef ASSAY_TUI_PAGE_H
#define ASSAY_TUI_PAGE_H

#include "tui/table_view.h"
#include "tui/text_view.h"
#include "tui/tree_view.h"
#include "view/document/document.h"

/* A document and what it refers to. */
struct page_document {
	struct document *document;
	char *title;          /* of the page; NULL: none */
	const char *first;    /* the beginning of the title of the tab that is shown
	                       * first; NULL: the first table or tree */
	void (*free)(void *owner);
	void *owner;
};

/* The texts of the selected row, by the names of their columns. */
struct page_cell {
	const char *column; /* valid as long as the document */
	char *text;
};

struct page_row {
	VEC(struct page_cell) cells;
};

/* NULL: the row has no such column. */
const char *page_row_text(const struct page_row *row, const char *column);
void page_row_done(struct page_row *row);

enum page_tab_kind { PAGE_TEXT, PAGE_TABLE, PAGE_TREE };

struct page_tab {
	char *title;
	enum page_tab_kind kind;
	VEC(const struct section *) sections; /* of text: several */
	struct table_view table;
	struct tree_view tree;
	struct text_view text;
	unsigned text_width; /* for which the text was made; 0: not yet */
};

struct page {
	struct page_document made; /* zeros: there is none now */
	VEC(struct page_tab) tabs;
	size_t at;
	bool began; /* the first tab was chosen */
};

void page_show(struct page *p, const struct page_document *made);
void page_forget(struct page *p);
void page_done(struct page *p);

/* The tab that is shown; NULL: there is none. */
struct page_tab *page_tab(struct page *p);
void page_next_tab(struct page *p, int step);
/* The selected row; false: there is none. The caller calls page_row_done(). */
bool page_row(struct page *p, struct page_row *row);
int page_filter(struct page *p, const char *text, struct error *err);
/* The filter of the tab; NULL: none. */
const char *page_filter_text(struct page *p);
void page_move(struct page *p, long lines);
/* Selects a line of the list, or the first or last one. */
void page_go(struct page *p, size_t line);
/* The lines of the tab's list, its selected line, and how many fit. */
const struct scroll *page_scroll(struct page *p);

void page_draw_tabs(struct page *p, struct canvas *c, unsigned line);
/* The tab whose title is at that column; tabs.count: none. */
size_t page_tab_at(const struct page *p, unsigned width, unsigned column);
void page_draw(struct page *p, struct canvas *c, unsigned line, unsigned lines);

#endif

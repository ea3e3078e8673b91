/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * browser: the screen: a stack of pages (page.h), with the lines above and below them, and keys.
 *
 * The browser knows documents and no kind of recording. The host makes a document for each page:
 * the first one, and others about a row, such as the callers of a function. The screen is drawn on
 * a canvas; the caller shows it on a terminal and passes keys on.
 *
 *	browser_new(host); browser_refresh()	the first page
 *	browser_key(), browser_draw()		any number of times
 *	browser_forget()			the host's model is about to change; then
 *	browser_refresh()			makes the document of the page again
 *	browser_free()
 *
 * Errors of the host are shown in the last line. One thread. Uses: base, view, output, tui.
 */
#ifndef ASSAY_TUI_BROWSER_H
#define ASSAY_TUI_BROWSER_H

#include "tui/keys.h"
#include "tui/screen_page.h"

/* What a page is about. */
enum page_about {
	PAGE_ALL,     /* the first page */
	PAGE_ROW,     /* what a row consists of */
	PAGE_CALLERS, /* of the row's function */
	PAGE_CALLEES,
	PAGE_PATHS, /* the whole call tree */
	PAGE_CODE,  /* instructions of the row's function */
	PAGE_WAITS, /* for what threads wait */
};

struct browser_host {
	void *ctx;
	bool live; /* a session runs: there are keys for it */
	/* Makes the document of a page; `row` is empty for PAGE_ALL, PAGE_PATHS and
	 * PAGE_WAITS. */
	int (*make)(void *ctx, enum page_about about, const struct screen_page_row *row,
	            struct screen_page_document *made, struct error *err);
	/* Appends the lines above the page, each with a line feed. */
	void (*head)(void *ctx, unsigned width, struct buf *out);
	/* ACTION_PAUSE, ACTION_WINDOW, ACTION_SNAPSHOT; appends what is shown in the last line.
	 * `text`: the file name for a snapshot. NULL: not live. */
	void (*act)(void *ctx, enum key_action action, const char *text, struct buf *message);
	/* Appends the name that the prompt for a snapshot proposes. */
	void (*propose)(void *ctx, struct buf *out);
	/* Appends lines for the help. NULL: none. */
	void (*help)(void *ctx, struct buf *out);
};

struct browser;

struct browser *browser_new(const struct browser_host *host); /* copied */
void browser_free(struct browser *b);

void browser_forget(struct browser *b);
void browser_refresh(struct browser *b);
void browser_key(struct browser *b, const struct key_event *key, unsigned width, unsigned height);
void browser_draw(struct browser *b, struct canvas *c);
/* The user wants to leave. */
bool browser_is_over(const struct browser *b);
/* Shows a sentence in the last line until the next key. */
void browser_say(struct browser *b, const char *text);

#endif

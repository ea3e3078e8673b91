/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keys: the keys of the screen and what they do, as one table.
 *
 * A key is a Unicode character, or one of the codes below. Help and the line of hints come from the
 * table. Any thread. Uses: base.
 */
#ifndef ASSAY_TUI_KEYS_H
#define ASSAY_TUI_KEYS_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum key_code {
	KEY_CODE_FIRST = 0x110000,
	KEY_CODE_UP = KEY_CODE_FIRST,
	KEY_CODE_DOWN,
	KEY_CODE_LEFT,
	KEY_CODE_RIGHT,
	KEY_CODE_PAGE_UP,
	KEY_CODE_PAGE_DOWN,
	KEY_CODE_HOME,
	KEY_CODE_END,
	KEY_CODE_ENTER,
	KEY_CODE_ESCAPE,
	KEY_CODE_BACKSPACE,
	KEY_CODE_TAB,
	KEY_CODE_BACK_TAB,
	KEY_CODE_RESIZE,
	KEY_CODE_CLICK, /* a mouse button, at a position */
	KEY_CODE_WHEEL_UP,
	KEY_CODE_WHEEL_DOWN,
	KEY_CODE_HANGUP, /* the terminal is gone */
};

struct key_event {
	uint32_t key;
	unsigned column, line; /* of KEY_CODE_CLICK */
};

enum key_action {
	ACTION_NOTHING,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_FIRST,
	ACTION_LAST,
	ACTION_LEFT,  /* collapses a node; shows the beginning of names */
	ACTION_RIGHT, /* expands a node; shows more of the names */
	ACTION_TOGGLE_ALL,
	ACTION_NEXT_TABLE,
	ACTION_PREVIOUS_TABLE,
	ACTION_SORT_NEXT,
	ACTION_SORT_PREVIOUS,
	ACTION_FILTER,
	ACTION_OPEN,
	ACTION_CALLERS,
	ACTION_CALLEES,
	ACTION_TREE,
	ACTION_CODE,
	ACTION_WAITS,
	ACTION_BACK,
	ACTION_PAUSE,
	ACTION_WINDOW,
	ACTION_SNAPSHOT,
	ACTION_HELP,
	ACTION_QUIT,
};

/* `live`: the screen is of a running session, which has keys of its own. */
enum key_action key_action_of(uint32_t key, bool live);
/* Appends a line for each action: its keys, and what it does. */
void key_help(bool live, struct buf *out);
/* Appends the line of hints, as many as fit into `width` columns. `deep`: there is a way back. */
void key_hints(bool live, bool deep, unsigned width, struct buf *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/keys.h"

#include <stddef.h>
#include <string.h>

#define KEYS_MAX 4

struct key_row {
	enum key_action action;
	uint32_t keys[KEYS_MAX]; /* 0: none */
	const char *names, *help;
	const char *hint; /* in the line of hints; NULL: not there */
	bool live;        /* of a running session */
};

static const struct key_row rows[] = {
        {ACTION_UP, {KEY_CODE_UP, 'k'}, "Up k", "the line above", NULL, false},
        {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, "Down j", "the line below", NULL, false},
        {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, 'B' - '@'}, "PgUp", "a screen up", NULL, false},
        {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, 'F' - '@'}, "PgDn", "a screen down", NULL, false},
        {ACTION_FIRST, {KEY_CODE_HOME}, "Home", "the first line", NULL, false},
        {ACTION_LAST, {KEY_CODE_END, 'G'}, "End G", "the last line", NULL, false},
        {ACTION_NEXT_TABLE, {KEY_CODE_TAB}, "Tab", "the next table", "Tab next", false},
        {ACTION_PREVIOUS_TABLE, {KEY_CODE_BACK_TAB}, "Shift-Tab", "the table before", NULL, false},
        {ACTION_OPEN,
         {KEY_CODE_ENTER},
         "Enter",
         "what the line consists of: callers of a function, functions of a process; "
         "in a tree: open or close the node",
         "Enter open",
         false},
        {ACTION_CODE,
         {'a'},
         "a",
         "annotate: instructions and source lines of the function",
         "a code",
         false},
        {ACTION_CALLERS, {'c'}, "c", "the callers of the function", NULL, false},
        {ACTION_CALLEES, {'e'}, "e", "the functions that it calls", NULL, false},
        {ACTION_TREE, {'t', 'g'}, "t g", "the whole call tree", "t tree", false},
        {ACTION_RIGHT,
         {KEY_CODE_RIGHT, 'l'},
         "Right l",
         "open the node of a tree; more of long names",
         NULL,
         false},
        {ACTION_LEFT,
         {KEY_CODE_LEFT, 'h'},
         "Left h",
         "close the node; the beginning of long names",
         NULL,
         false},
        {ACTION_TOGGLE_ALL, {'*'}, "*", "open or close all nodes of the tree", NULL, false},
        {ACTION_FILTER,
         {'/'},
         "/",
         "show the lines that match a regular expression; an empty one shows all",
         "/ filter",
         false},
        {ACTION_SORT_NEXT, {'>', '.'}, ">", "sort by the next column", "<> sort", false},
        {ACTION_SORT_PREVIOUS, {'<', ','}, "<", "sort by the column before", NULL, false},
        {ACTION_PAUSE, {' '}, "Space", "pause the screen; sampling continues", "Space pause", true},
        {ACTION_WINDOW,
         {'T'},
         "T",
         "the time that is shown: 1 s, 10 s, 60 s, or since the start",
         "T time",
         true},
        {ACTION_WAITS,
         {'w'},
         "w",
         "for what threads wait (--waits), and back to the functions",
         "w waits",
         true},
        {ACTION_SNAPSHOT, {'s'}, "s", "write the records to a perf.data file", "s save", true},
        {ACTION_BACK, {KEY_CODE_ESCAPE, KEY_CODE_BACKSPACE}, "Esc", "back", NULL, false},
        {ACTION_HELP, {'?', 'H'}, "? H", "this help", NULL, false},
        {ACTION_QUIT, {'q', 'Q'}, "q ^C", "quit", NULL, false},
};

#define ROWS (sizeof(rows) / sizeof(*rows))

enum key_action key_action_of(uint32_t key, bool live)
{
	for (size_t i = 0; i < ROWS; i++)
		for (size_t k = 0; k < KEYS_MAX && rows[i].keys[k]; k++)
			if (rows[i].keys[k] == key && (live || !rows[i].live))
				return rows[i].action;
	return ACTION_NOTHING;
}

void key_help(bool live, struct buf *out)
{
	for (size_t i = 0; i < ROWS; i++)
		if (live || !rows[i].live)
			buf_addf(out, "  %-12s%s\n", rows[i].names, rows[i].help);
}

static void add_hint(struct buf *out, const char *hint, size_t end)
{
	const char *gap = out->size ? "  " : "";

	if (out->size + strlen(gap) + strlen(hint) <= end)
		buf_addf(out, "%s%s", gap, hint);
}

void key_hints(bool live, bool deep, unsigned width, struct buf *out)
{
	size_t end = out->size + width;

	add_hint(out, deep ? "Esc back" : "q quit", end);
	add_hint(out, "? help", end);
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].hint && (live || !rows[i].live))
			add_hint(out, rows[i].hint, end);
}

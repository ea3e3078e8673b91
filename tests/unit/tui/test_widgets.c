/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The widgets of the screen: canvas, tables, scrolling, prompt, filter, keys. */
#include "canvas_lines.h"
#include "tui/keys.h"
#include "tui/line_filter.h"
#include "tui/prompt.h"
#include "tui/scroll.h"
#include "tui/table_view.h"
#include "tui/text_view.h"

static void texts_are_cut_at_their_room(void)
{
	struct canvas c;

	canvas_init(&c, 20, 4);
	canvas_add(&c, 0, CANVAS_PLAIN, "abcdef", 4);
	canvas_move(&c, 0, 6);
	canvas_add_right(&c, 0, CANVAS_PLAIN, "12", 4);
	canvas_move(&c, 0, 12);
	canvas_add(&c, 0, CANVAS_PLAIN, "to the right edge", 100);
	check_line(&c, 0, "abc~    12  to the ~");
	/* A cut wide character leaves a column. */
	canvas_add(&c, 1, CANVAS_PLAIN, "関数関数", 6);
	canvas_add(&c, 1, CANVAS_PLAIN, "|", 1);
	check_line(&c, 1, "関数~|");
	CHECK_EQ(c.lines[1].used, 6);
	/* Beyond the screen nothing happens. */
	canvas_add(&c, 4, CANVAS_PLAIN, "x", 1);
	canvas_over(&c, 4, CANVAS_SELECTED);
	canvas_done(&c);
}

static void foreign_bytes_are_escaped(void)
{
	struct canvas c;

	canvas_init(&c, 60, 1);
	canvas_add(&c, 0, CANVAS_PLAIN, "\033[7m\xff\n\xc2\x9bx", 60);
	check_line(&c, 0, "\\x1b[7m\\xff\\n\\x9bx");
	canvas_done(&c);
}

static void long_names_are_cut(void)
{
	struct buf name = {0};
	struct canvas c;

	buf_pad(&name, 'n', 4000);
	canvas_init(&c, 80, 1);
	canvas_add(&c, 0, CANVAS_PLAIN, buf_text(&name), 4000);
	CHECK_EQ(c.lines[0].used, 80);
	CHECK_EQ(c.lines[0].spans.items[0].bytes, 80);
	canvas_done(&c);
	buf_done(&name);
}

static void the_selected_line_stays_on_the_screen(void)
{
	struct scroll s = {0};

	scroll_fit(&s, 100, 10);
	scroll_by(&s, 15);
	CHECK_EQ(s.at, 15);
	CHECK_EQ(s.top, 6);
	scroll_by(&s, -8);
	CHECK_EQ(s.at, 7);
	CHECK_EQ(s.top, 6);
	scroll_by(&s, -3);
	CHECK_EQ(s.top, 4);
	scroll_by(&s, 1000);
	CHECK_EQ(s.at, 99);
	CHECK_EQ(s.top, 90);
	/* The list gets shorter, the screen larger. */
	scroll_fit(&s, 5, 10);
	CHECK_EQ(s.at, 4);
	CHECK_EQ(s.top, 0);
	scroll_fit(&s, 0, 10);
	CHECK_EQ(s.at, 0);
	scroll_by(&s, 1);
	CHECK_EQ(s.at, 0);
}

static void the_view_moves_without_the_selection(void)
{
	struct scroll s = {0};

	scroll_fit(&s, 100, 10);
	scroll_to(&s, 5);
	scroll_view(&s, 3);
	CHECK_EQ(s.top, 3);
	CHECK_EQ(s.at, 5);
	scroll_view(&s, 10);
	CHECK_EQ(s.top, 13);
	CHECK_EQ(s.at, 13);
	scroll_view(&s, -1000);
	CHECK_EQ(s.top, 0);
	CHECK_EQ(s.at, 9);
}

static void a_filter_is_an_expression(void)
{
	struct line_filter f = {0};
	struct error err = {0};

	CHECK(line_filter_has(&f, "anything"));
	CHECK_EQ(line_filter_set(&f, "^mem(cpy|set)", &err), 0);
	CHECK(line_filter_has(&f, "MEMCPY"));
	CHECK(!line_filter_has(&f, "my_memcpy"));
	CHECK_EQ(line_filter_set(&f, "Mem", &err), 0);
	CHECK(!line_filter_has(&f, "memcpy"));
	/* An error leaves the filter. */
	CHECK(line_filter_set(&f, "a(", &err) != 0);
	CHECK(strstr(err.text, "'a(': ") != NULL);
	CHECK(line_filter_has(&f, "Mem"));
	CHECK_EQ(line_filter_set(&f, "", &err), 0);
	CHECK(line_filter_has(&f, "anything"));
	line_filter_done(&f);
}

static void a_prompt_takes_utf8(void)
{
	struct prompt p = {0};
	struct canvas c;

	prompt_open(&p, "filter: ", "ab");
	CHECK_EQ(prompt_key(&p, 0x95a2), PROMPT_TYPES);
	CHECK_STR(buf_text(&p.text), "ab関");
	canvas_init(&c, 20, 1);
	prompt_draw(&p, &c, 0);
	check_line(&c, 0, "filter: ab関");
	CHECK_EQ(c.cursor_column, 12);
	canvas_done(&c);
	prompt_key(&p, KEY_CODE_BACKSPACE);
	CHECK_STR(buf_text(&p.text), "ab");
	prompt_key(&p, KEY_CODE_LEFT); /* no character */
	CHECK_STR(buf_text(&p.text), "ab");
	CHECK_EQ(prompt_key(&p, KEY_CODE_ENTER), PROMPT_ENTERED);
	CHECK(!p.label);
	prompt_open(&p, "x", NULL);
	CHECK_EQ(prompt_key(&p, KEY_CODE_ESCAPE), PROMPT_CANCELLED);
	prompt_done(&p);
}

static void keys_of_a_session_are_for_sessions(void)
{
	struct buf help = {0};

	CHECK_EQ(key_action_of('j', false), ACTION_DOWN);
	CHECK_EQ(key_action_of(KEY_CODE_DOWN, true), ACTION_DOWN);
	CHECK_EQ(key_action_of(' ', true), ACTION_PAUSE);
	CHECK_EQ(key_action_of(' ', false), ACTION_NOTHING);
	CHECK_EQ(key_action_of('s', false), ACTION_NOTHING);
	CHECK_EQ(key_action_of(0, true), ACTION_NOTHING);
	CHECK_EQ(key_action_of('q', false), ACTION_QUIT);
	key_help(false, &help);
	CHECK(strstr(buf_text(&help), "annotate") != NULL);
	CHECK(!strstr(buf_text(&help), "pause"));
	buf_done(&help);
}

/* As many hints as fit, each whole. */
static void hints_fit_the_line(void)
{
	struct buf all = {0}, some = {0};

	key_hints(true, false, 1000, &all);
	CHECK(strstr(buf_text(&all), "q quit  ? help  ") == buf_text(&all));
	CHECK(strstr(buf_text(&all), "s save") != NULL);
	key_hints(true, true, 20, &some);
	CHECK_STR(buf_text(&some), "Esc back  ? help");
	buf_done(&all);
	buf_done(&some);
}

static void text_scrolls_and_is_filtered(void)
{
	struct text_view v = {0};
	struct error err = {0};
	struct canvas c;

	text_view_show(&v, "one\ntwo\n\nthree\nfour");
	canvas_init(&c, 10, 3);
	text_view_draw(&v, &c, 0, 3);
	check_line(&c, 0, "one");
	check_line(&c, 2, "");
	canvas_done(&c);
	text_view_move(&v, 10);
	canvas_init(&c, 10, 3);
	text_view_draw(&v, &c, 0, 3);
	check_line(&c, 0, "");
	check_line(&c, 2, "four");
	canvas_done(&c);
	CHECK_EQ(text_view_filter(&v, "o", &err), 0);
	canvas_init(&c, 10, 3);
	text_view_draw(&v, &c, 0, 3);
	check_line(&c, 0, "one");
	check_line(&c, 1, "two");
	check_line(&c, 2, "four");
	canvas_done(&c);
	text_view_done(&v);
}

static struct cell number_of(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	return cell_int((int64_t)c->argument + row);
}

static struct cell name_of(const struct row_source *s, const struct column *c, uint32_t row,
                           struct buf *text)
{
	return cell_text("a_function");
}

static void the_column_of_the_order_is_always_shown(void)
{
	static const struct column columns[] = {
	        {"one", "one", "one", &unit_count, ROLE_SUM, .get = number_of, .argument = 1000},
	        {"two", "two", "two", &unit_count, ROLE_SUM, .get = number_of, .argument = 2000},
	        {"three", "three", "three", &unit_count, ROLE_SUM, .get = number_of,
	         .argument = 3000},
	        {"four", "four", "four", &unit_count, ROLE_SUM, .get = number_of, .argument = 4000,
	         .room = 200},
	        {"name", "name", "name", &unit_text, .get = name_of}};
	static const char *const by[] = {"four"};
	struct row_source *s = row_source_new(NULL);
	struct table_view v = {0};
	struct row_set *rows;
	struct canvas c;

	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
	s->rows = 2;
	rows = row_set_new(s, &(struct row_request){.by = by, .by_count = 1});
	table_view_show(&v, rows);
	canvas_init(&c, 42, 3);
	table_view_draw(&v, &c, 0, 3);
	check_line(&c, 0, "  one   fourv name");
	check_line(&c, 1, "1,001  4,001  a_function");
	canvas_done(&c);
	table_view_done(&v);
	row_set_free(rows);
}

int main(void)
{
	RUN(texts_are_cut_at_their_room);
	RUN(foreign_bytes_are_escaped);
	RUN(long_names_are_cut);
	RUN(the_selected_line_stays_on_the_screen);
	RUN(the_view_moves_without_the_selection);
	RUN(a_filter_is_an_expression);
	RUN(a_prompt_takes_utf8);
	RUN(keys_of_a_session_are_for_sessions);
	RUN(hints_fit_the_line);
	RUN(text_scrolls_and_is_filtered);
	RUN(the_column_of_the_order_is_always_shown);
	return check_end();
}

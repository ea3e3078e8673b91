/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages, tables and trees on the screen, driven by keys: documents are made by the test. */
#include "canvas_lines.h"
#include "tui/browser.h"

#include <errno.h>

#define ROWS 30

struct model {
	uint32_t samples[ROWS];
	int made;             /* documents that exist */
	unsigned generation;  /* counts documents */
	enum page_about last; /* the last request */
	char function[64];
	struct buf acted;
};

static struct cell samples_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	return cell_int(((const struct model *)s->model)->samples[row]);
}

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	buf_addf(text, row == 3 ? "\033evil%u" : "f%02u", row);
	return cell_text(buf_text(text));
}

static struct row_set *rows_of(struct model *m)
{
	static const struct column columns[] = {
	        {.name = "samples",
	         .title = "samples",
	         .unit = &unit_count,
	         .role = ROLE_SUM,
	         .get = samples_cell},
	        {.name = "json", .key = "json", .unit = &unit_text}, /* for programs alone */
	        {.name = "function", .title = "function", .unit = &unit_text, .get = name_cell},
	};
	static const char *const by[] = {"samples"};
	struct row_source *s = row_source_new(m);
	struct row_request q = {.by = by, .by_count = 1};

	row_source_columns(s, columns, 3);
	s->rows = ROWS;
	return row_set_new(s, &q);
}

/* main calls work, which has all samples. */
static uint32_t parent_of(void *ctx, uint32_t path)
{
	return path - 1;
}

static void steps_of(void *ctx, uint32_t path, struct tree_builder_steps *out)
{
	static const char *const names[] = {"", "main", "work"};

	vec_push(&out->all, (struct tree_builder_step){.function = path, .name = names[path]});
}

static struct cell node_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct view_tree *t = s->model;

	return cell_text(row ? t->nodes.items[row].name : "all");
}

static struct view_tree *tree_of(void)
{
	static const struct view_tree_model model = {.parent = parent_of, .steps = steps_of};
	static const char *const by[] = {"total"};
	struct view_tree *t = view_tree_new(&model, NULL, 3, 1);
	static const struct column columns[] = {
	        {.name = "total", .title = "total", .unit = &unit_count, .get = view_tree_total},
	        {.name = "function", .title = "call tree", .unit = &unit_text, .get = node_cell},
	};

	view_tree_add(t, view_tree_at(t, 0, TREE_ROOT, 2), 0, cell_int(7));
	row_source_columns(t->source, columns, 2);
	view_tree_finish(t, by, 1);
	return t;
}

struct made {
	struct model *model;
	struct document document;
};

static void made_free(void *owner)
{
	struct made *made = owner;

	document_done(&made->document);
	made->model->made--;
	free(made);
}

static int make(void *ctx, enum page_about about, const struct screen_page_row *row,
                struct screen_page_document *out, struct error *err)
{
	struct model *m = ctx;
	struct made *made;
	const char *function = screen_page_row_text(row, "function");

	m->last = about;
	snprintf(m->function, sizeof(m->function), "%s", function ? function : "");
	if (about == PAGE_CODE)
		return error_set(err, ENOENT, "there is no code");
	made = xcalloc(1, sizeof(*made));
	made->model = m;
	m->made++;
	m->generation++;
	document_init(&made->document);
	if (about == PAGE_ALL) {
		document_line(&made->document, "fact", "a line of text");
		document_table(&made->document, MEDIA_READERS, "Functions, over all the processes",
		               NULL, rows_of(m));
	} else {
		document_tree(&made->document, MEDIA_READERS, "Call tree", NULL, tree_of(), 0, 0);
	}
	*out = (struct screen_page_document){.document = &made->document,
	                                     .title = xstrdup("the way"),
	                                     .first = "Functions",
	                                     .free = made_free,
	                                     .owner = made};
	return 0;
}

static void head(void *ctx, unsigned width, struct buf *out)
{
	buf_puts(out, "head\n");
}

static void act(void *ctx, enum key_action action, const char *text, struct buf *message)
{
	struct model *m = ctx;

	buf_addf(&m->acted, "%d:%s ", (int)action, text ? text : "");
	buf_puts(message, "done");
}

static void propose(void *ctx, struct buf *out)
{
	buf_puts(out, "x.data");
}

static struct browser *browser_of(struct model *m)
{
	const struct browser_host host = {
	        .ctx = m, .live = true, .make = make, .head = head, .act = act, .propose = propose};
	struct browser *b = browser_new(&host);
	struct canvas c;

	for (uint32_t i = 0; i < ROWS; i++)
		m->samples[i] = 1000 - i;
	browser_refresh(b);
	canvas_init(&c, 40, 12);
	browser_draw(b, &c);
	canvas_done(&c);
	return b;
}

static void press(struct browser *b, uint32_t key)
{
	const struct key_event event = {.key = key};

	browser_key(b, &event, 40, 12);
}

static void type(struct browser *b, const char *text)
{
	for (; *text; text++)
		press(b, (unsigned char)*text);
}

static struct canvas draw(struct browser *b)
{
	struct canvas c;

	canvas_init(&c, 40, 12);
	browser_draw(b, &c);
	return c;
}

#define CHECK_SCREEN(b, line, want)                                                                \
	do {                                                                                       \
		struct canvas c_ = draw(b);                                                        \
		check_line(&c_, line, want);                                                       \
		canvas_done(&c_);                                                                  \
	} while (0)

static void finish(struct browser *b, struct model *m)
{
	browser_free(b);
	CHECK_EQ(m->made, 0);
	buf_done(&m->acted);
}

static void the_first_page_has_its_tab(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);

	CHECK_SCREEN(b, 0, "head");
	CHECK_SCREEN(b, 1, " Text  Functions");
	CHECK_SCREEN(b, 2, "samplesv function");
	CHECK_SCREEN(b, 3, "  1,000  f00");
	CHECK_SCREEN(b, 6, "    997  \\x1bevil3");
	CHECK_SCREEN(b, 11, "q quit  ? help  Tab next  Enter open");
	press(b, KEY_CODE_TAB);
	CHECK_SCREEN(b, 2, "fact        a line of text");
	press(b, KEY_CODE_BACK_TAB);
	CHECK_SCREEN(b, 3, "  1,000  f00");
	finish(b, &m);
}

static void the_selection_moves_and_stays_after_a_refresh(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);
	struct canvas c;

	press(b, KEY_CODE_DOWN);
	press(b, 'j');
	c = draw(b);
	CHECK_EQ(selected_line(&c), 5);
	canvas_done(&c);
	/* f02 becomes the first: it stays selected. */
	m.samples[2] = 5000;
	browser_forget(b);
	CHECK_EQ(m.made, 0);
	browser_refresh(b);
	c = draw(b);
	CHECK_EQ(selected_line(&c), 3);
	check_line(&c, 3, "  5,000  f02");
	canvas_done(&c);
	press(b, KEY_CODE_END);
	CHECK_SCREEN(b, 10, "    971  f29");
	finish(b, &m);
}

static void a_filter_is_applied_while_it_is_typed(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);

	type(b, "/f1[2");
	CHECK_SCREEN(b, 11, "filter: f1[2");
	CHECK_SCREEN(b, 3, "    990  f10"); /* the expression before: f1 */
	type(b, "3]");
	CHECK_SCREEN(b, 3, "    988  f12");
	CHECK_SCREEN(b, 4, "    987  f13");
	CHECK_SCREEN(b, 5, "");
	press(b, KEY_CODE_ENTER);
	CHECK_SCREEN(b, 11, "filter: f1[23]  Esc back  ? help  a code");
	/* Escape while typing restores the filter; then it removes it. */
	type(b, "/x");
	press(b, KEY_CODE_ESCAPE);
	CHECK_SCREEN(b, 3, "    988  f12");
	press(b, KEY_CODE_ESCAPE);
	CHECK_SCREEN(b, 3, "  1,000  f00");
	type(b, "/none");
	CHECK_SCREEN(b, 3, "no line matches the filter");
	press(b, KEY_CODE_ESCAPE);
	type(b, "/(");
	press(b, KEY_CODE_ENTER);
	CHECK_SCREEN(b, 3, "  1,000  f00");
	finish(b, &m);
}

static void columns_sort(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);

	m.samples[9] = 9999;
	browser_forget(b);
	browser_refresh(b);
	CHECK_SCREEN(b, 3, "  9,999  f09");
	press(b, '>');
	CHECK_SCREEN(b, 2, "samples  functionv");
	CHECK_SCREEN(b, 3, "    997  \\x1bevil3");
	CHECK_SCREEN(b, 4, "  1,000  f00");
	press(b, '<');
	CHECK_SCREEN(b, 3, "  9,999  f09");
	finish(b, &m);
}

static void a_row_opens_a_page_and_escape_goes_back(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);

	press(b, KEY_CODE_DOWN);
	press(b, KEY_CODE_ENTER);
	CHECK_EQ(m.last, PAGE_ROW);
	CHECK_STR(m.function, "f01");
	CHECK_SCREEN(b, 1, "the way");
	CHECK_SCREEN(b, 3, "total  call tree");
	CHECK_SCREEN(b, 4, "    7  - all");
	CHECK_SCREEN(b, 5, "    7   - main");
	CHECK_SCREEN(b, 6, "    7      work");
	/* The node closes and opens. */
	press(b, KEY_CODE_DOWN);
	press(b, KEY_CODE_ENTER);
	CHECK_SCREEN(b, 5, "    7   + main");
	CHECK_SCREEN(b, 6, "");
	press(b, KEY_CODE_RIGHT);
	CHECK_SCREEN(b, 6, "    7      work");
	press(b, 'c');
	CHECK_EQ(m.last, PAGE_CALLERS);
	CHECK_STR(m.function, "main");
	press(b, KEY_CODE_ESCAPE);
	press(b, KEY_CODE_ESCAPE);
	CHECK_SCREEN(b, 4, "    999  f01");
	finish(b, &m);
}

static void errors_are_in_the_last_line(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);

	press(b, 'a');
	CHECK_EQ(m.last, PAGE_CODE);
	CHECK_SCREEN(b, 11, "there is no code");
	CHECK_SCREEN(b, 3, "  1,000  f00");
	press(b, KEY_CODE_DOWN);
	CHECK_SCREEN(b, 11, "q quit  ? help  Tab next  Enter open");
	finish(b, &m);
}

static void keys_of_the_session_reach_the_host(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);
	struct buf want = {0};

	press(b, ' ');
	CHECK_SCREEN(b, 11, "done");
	press(b, 'T');
	press(b, 's');
	CHECK_SCREEN(b, 11, "write to: x.data");
	type(b, "2");
	press(b, KEY_CODE_ENTER);
	press(b, 's');
	press(b, KEY_CODE_ESCAPE);
	buf_addf(&want, "%d: %d: %d:x.data2 ", ACTION_PAUSE, ACTION_WINDOW, ACTION_SNAPSHOT);
	CHECK_STR(buf_text(&m.acted), buf_text(&want));
	CHECK(!browser_is_over(b));
	press(b, 'q');
	CHECK(browser_is_over(b));
	buf_done(&want);
	finish(b, &m);
}

/* The key opens the page of waits, and leaves it from the pages above it, too. */
static void the_key_of_waits_goes_there_and_back(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);

	press(b, 'w');
	CHECK_EQ(m.last, PAGE_WAITS);
	press(b, 't');
	CHECK_EQ(m.last, PAGE_PATHS);
	press(b, 'w');
	press(b, 'w');
	CHECK_EQ(m.last, PAGE_WAITS);
	press(b, KEY_CODE_ESCAPE);
	finish(b, &m);
}

static void the_mouse_selects_and_opens(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);
	const struct key_event tab = {.key = KEY_CODE_CLICK, .column = 2, .line = 1};
	const struct key_event row = {.key = KEY_CODE_CLICK, .column = 5, .line = 4};
	const struct key_event wheel = {.key = KEY_CODE_WHEEL_DOWN};
	struct canvas c = draw(b);

	canvas_done(&c);
	browser_key(b, &row, 40, 12);
	c = draw(b);
	CHECK_EQ(selected_line(&c), 4);
	canvas_done(&c);
	browser_key(b, &wheel, 40, 12);
	c = draw(b);
	CHECK_EQ(selected_line(&c), 7);
	canvas_done(&c);
	browser_key(b, &row, 40, 12);
	browser_key(b, &row, 40, 12);
	CHECK_STR(m.function, "f01");
	press(b, KEY_CODE_ESCAPE);
	c = draw(b);
	canvas_done(&c);
	browser_key(b, &tab, 40, 12);
	CHECK_SCREEN(b, 2, "fact        a line of text");
	finish(b, &m);
}

static void help_lists_the_keys_and_closes(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);

	press(b, '?');
	CHECK_SCREEN(b, 1, "Keys");
	CHECK_SCREEN(b, 3, "  Up k        the line above");
	press(b, KEY_CODE_DOWN);
	CHECK_SCREEN(b, 2, "  Up k        the line above");
	press(b, 'x');
	CHECK_SCREEN(b, 3, "  1,000  f00");
	finish(b, &m);
}

/* A screen of any size is drawn without writing beyond it. */
static void any_size_is_drawn(void)
{
	struct model m = {0};
	struct browser *b = browser_of(&m);

	for (unsigned height = 0; height < 14; height++)
		for (unsigned width = 0; width < 60; width += 3) {
			struct canvas c;

			canvas_init(&c, width, height);
			browser_draw(b, &c);
			for (unsigned y = 0; y < height; y++)
				vec_each (span, &c.lines[y].spans)
					CHECK(span->column + span->width <= width);
			canvas_done(&c);
		}
	finish(b, &m);
}

int main(void)
{
	RUN(the_first_page_has_its_tab);
	RUN(the_selection_moves_and_stays_after_a_refresh);
	RUN(a_filter_is_applied_while_it_is_typed);
	RUN(columns_sort);
	RUN(a_row_opens_a_page_and_escape_goes_back);
	RUN(errors_are_in_the_last_line);
	RUN(keys_of_the_session_reach_the_host);
	RUN(the_key_of_waits_goes_there_and_back);
	RUN(the_mouse_selects_and_opens);
	RUN(help_lists_the_keys_and_closes);
	RUN(any_size_is_drawn);
	return check_end();
}

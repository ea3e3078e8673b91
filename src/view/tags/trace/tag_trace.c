/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/trace/tag_trace.h"

#include "view/tags/trace/tag_trace_merge.h"
#include "view/tags/trace/tag_trace_select.h"
#include "view/tags/trace/tag_trace_window.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const struct {
	const char *name;
	double ns;
} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"\302\265s", 1e3}, {"ns", 1}};

/* Parses a number followed by a unit; any other text fails. */
static bool parse_time(const char *text, uint64_t *ns)
{
	size_t number = strspn(text, "0123456789.");
	long double value;
	char *end;

	if (!number || text[0] == '.')
		return false;
	value = strtold(text, &end);
	if (end != text + number)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].name) && value * units[i].ns < 9e18L) {
			*ns = (uint64_t)llroundl(value * units[i].ns);
			return true;
		}
	return false;
}

int tag_point_parse(struct tag_point *p, const char *text, struct error *err)
{
	const char *mark = strrchr(text, '#');
	size_t digits = mark ? strspn(mark + 1, "0123456789") : 0;

	*p = (struct tag_point){.given = true, .nth = 1};
	if (parse_time(text, &p->ns))
		return 0;
	p->function = text;
	p->length = strlen(text);
	/* A C++ lambda's name contains a # too, but not followed by digits at the end. */
	if (digits && !mark[1 + digits]) {
		p->length = (size_t)(mark - text);
		p->nth = digits < 19 ? strtoull(mark + 1, NULL, 10) : UINT64_MAX;
	}
	if (!p->length || !p->nth)
		return error_set(err, EINVAL,
		                 "'%s' is not a valid point in time: use a time since the start "
		                 "(1.5s, 200ms, 10us, 5ns), a function (f), or its nth call (f#3)",
		                 text);
	return 0;
}

struct tag_trace_run {
	struct tag_trace trace;
	struct tag_window window;
	struct tag_trace_result *result;
	const struct tag_trace_options *options;
};

static int count_line(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	struct tag_trace_run *r = of;

	if (r->options->lines && r->result->lines == r->options->lines) {
		r->result->cut = true;
		return 1;
	}
	r->result->lines++;
	return r->options->line(r->options->of, t, line);
}

static void push_inside(void *of, const struct trace_line *line)
{
	tag_window_push(of, line);
}

/* Processes one line of the merge: adds it to the window or drops it. */
static void pass(struct tag_trace_run *r, struct tag_select *select, struct trace_line *line)
{
	struct tag_open *open;
	unsigned what = tag_select_line(select, line, &open);

	if (what & TAG_BEGINS && r->options->from.given)
		tag_select_inside(select, line, push_inside, &r->window);
	if (line->kind == TRACE_LINE_EXIT && open && open->number != TRACE_LINE_NONE)
		line->known = tag_window_resolve(&r->window, open->number, line);
	if (what & TAG_SHOWN) {
		uint64_t number = tag_window_push(&r->window, line);

		if (line->kind == TRACE_LINE_ENTER)
			open->number = number;
	}
	tag_window_turn(&r->window);
	/* After --to, lines are read only to find the times of waiting entries. */
	if (what & TAG_OVER && !r->window.waiting)
		r->window.stopped = true;
}

int tag_trace_run(struct tag_recording *recording, const struct tag_trace_options *o,
                  struct tag_trace_result *result, struct error *err)
{
	struct tag_trace_run r = {.trace.recording = recording, .result = result, .options = o};
	struct tag_select *select = NULL;
	struct tag_merge *merge;
	struct trace_line line;
	int ret;

	memset(result, 0, sizeof(*result));
	ret = tag_select_new(&select, &r.trace, o, err);
	if (ret)
		return ret;
	tag_window_init(&r.window, &r.trace, o->window, count_line, &r);
	merge = tag_merge_new(&r.trace, o->wall);
	while (!r.window.stopped && (ret = tag_merge_next(merge, &line, err)) > 0)
		pass(&r, select, &line);
	tag_window_flush(&r.window);
	tag_select_result(select, result);
	tag_merge_damage(merge, &result->damage);
	result->missing = tag_merge_missing(merge);
	result->events = tag_merge_events(merge);
	tag_merge_free(merge);
	tag_window_done(&r.window);
	tag_select_free(select);
	vec_done(&r.trace.whos);
	return ret < 0 ? ret : 0;
}

const struct tag_name *tag_trace_name(const struct tag_trace *t, const struct trace_line *line)
{
	const struct tag_identity *who = &t->whos.items[line->who];
	const struct tag_names *names = t->recording->streams.items[who->stream].names;
	bool exit;

	return names ? tag_names_find(names, line->tag, &exit) : NULL;
}

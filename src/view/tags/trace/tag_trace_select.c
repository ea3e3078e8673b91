/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/trace/tag_trace_select.h"

#include "base/memory/hash.h"
#include "base/memory/sorted.h"
#include "symbol/demangle/demangle.h"
#include "view/tags/tag_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct trace_select_hit {
	const struct tag_names *names;
	uint32_t tag;
};

/* The tags that match a name from the command line. */
struct trace_select_wanted {
	VEC(struct trace_select_hit) hits; /* sorted by names, then by tag */
	uint32_t tag;                      /* N of "tag N", whatever its name; otherwise ID_NONE */
};

/* --function: the outermost selected call that a process of a stream is in. */
struct trace_inside {
	uint64_t call;
	uint32_t process, depth;
};

struct trace_select_lane {
	VEC(struct tag_open)
	open;        /* by call, ascending; calls that ended out of order are
	              * marked */
	size_t gone; /* number of marked calls */
	VEC(struct trace_inside) inside;
	size_t leaving; /* index in `open` + 1 */
};

struct tag_select {
	const struct tag_trace *t;
	const struct tag_trace_options *o;
	struct trace_select_wanted from, to, functions;
	uint64_t from_ticks, to_ticks, from_seen, to_seen;
	uint64_t to_call;
	uint32_t to_stream; /* ID_NONE: that call was not entered yet */
	bool started, over;
	bool met; /* a thread matches --thread and --process */
	struct trace_select_lane *lanes;
	VEC(unsigned char) chosen; /* per who: 0: not decided yet; 1: no; 2: yes */
};

static int compare_hits(const void *pa, const void *pb)
{
	const struct trace_select_hit *a = pa, *b = pb;

	if (a->names != b->names)
		return (uintptr_t)a->names < (uintptr_t)b->names ? -1 : 1;
	return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static bool wants(const struct trace_select_wanted *w, const struct tag_names *names, uint32_t tag)
{
	struct trace_select_hit key = {names, tag};

	return tag == w->tag || (w->hits.count && bsearch(&key, w->hits.items, w->hits.count,
	                                                  sizeof(key), compare_hits));
}

/* The name of a static function in a names file ends in @FILE. */
static bool is_called(const struct tag_name *n, const char *text)
{
	const char *at = strchr(n->name, '@');
	size_t length = at ? (size_t)(at - n->name) : strlen(n->name);
	char *plain, *bare;
	bool is;

	if (!strcmp(n->name, text) || (n->shown && !strcmp(n->shown, text)) ||
	    (strlen(text) == length && !memcmp(n->name, text, length)))
		return true;
	if (n->name[0] != '_')
		return false;
	bare = xstrndup(n->name, length);
	plain = demangle(bare);
	is = plain && demangle_matches(plain, text);
	free(plain);
	free(bare);
	return is;
}

static int want(struct trace_select_wanted *w, const struct tag_recording *r, const char *text,
                struct error *err)
{
	size_t before = w->hits.count;
	char *end;

	vec_each (names, &r->names)
		for (size_t i = 0; i < tag_names_count(*names); i++) {
			const struct tag_name *n = tag_names_at(*names, i);

			if (is_called(n, text))
				vec_push(&w->hits, (struct trace_select_hit){*names, n->tag});
		}
	if (w->hits.count == before) {
		if (tag_report_refuse_left_out(r, text, err))
			return -ENOENT;
		if (strncmp(text, "tag ", 4) || text[4] < '0' || text[4] > '9')
			return error_set(err, ENOENT,
			                 "%s: no function has the name '%s'; 'assay report' lists "
			                 "the functions that were called%s",
			                 r->path ? r->path : "the recording", text,
			                 text[0] >= '0' && text[0] <= '9'
			                         ? " (a number needs a unit to be a time: s, ms, "
			                           "us or ns)"
			                         : "");
		w->tag = (uint32_t)strtoul(text + 4, &end, 10);
	}
	if (w->hits.count)
		qsort(w->hits.items, w->hits.count, sizeof(struct trace_select_hit), compare_hits);
	return 0;
}

static int want_point(struct trace_select_wanted *w, const struct tag_recording *r,
                      const struct tag_point *p, struct error *err)
{
	char *name;
	int ret;

	w->tag = ID_NONE;
	if (!p->given || !p->function)
		return 0;
	name = xstrndup(p->function, p->length);
	ret = want(w, r, name, err);
	free(name);
	return ret;
}

int tag_select_new(struct tag_select **out, const struct tag_trace *t,
                   const struct tag_trace_options *o, struct error *err)
{
	struct tag_select *s = xcalloc(1, sizeof(*s));
	unsigned __int128 hz = t->recording->clock.hz;
	int ret;

	s->t = t;
	s->o = o;
	s->started = !o->from.given;
	s->to_stream = s->functions.tag = ID_NONE;
	/* Rounds from_ticks up and to_ticks down, so that no tick outside the range is selected. */
	s->from_ticks = (uint64_t)((o->from.ns * hz + 999999999u) / 1000000000u);
	s->to_ticks = (uint64_t)(o->to.ns * hz / 1000000000u);
	s->lanes = xcalloc(t->recording->streams.count + 1, sizeof(*s->lanes));
	ret = want_point(&s->from, t->recording, &o->from, err);
	if (!ret)
		ret = want_point(&s->to, t->recording, &o->to, err);
	for (size_t i = 0; !ret && i < o->function_count; i++)
		ret = want(&s->functions, t->recording, o->functions[i], err);
	if (ret) {
		tag_select_free(s);
		s = NULL;
	}
	*out = s;
	return ret;
}

void tag_select_free(struct tag_select *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->t->recording->streams.count; i++) {
		vec_done(&s->lanes[i].open);
		vec_done(&s->lanes[i].inside);
	}
	vec_done(&s->from.hits);
	vec_done(&s->to.hits);
	vec_done(&s->functions.hits);
	vec_done(&s->chosen);
	free(s->lanes);
	free(s);
}

static bool among(const char *const *list, size_t count, int64_t number, const char *name)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, number);
	for (size_t i = 0; i < count; i++)
		if ((name && !strcmp(list[i], name)) || !strcmp(list[i], digits))
			return true;
	return !count;
}

/* Applies --thread and --process. The number of a device's process is its place in the trace. */
static bool chosen(struct tag_select *s, uint32_t id, uint32_t process)
{
	const struct tag_trace_options *o = s->o;
	const struct tag_identity *who = &s->t->whos.items[id];
	bool device = s->t->recording->streams.items[who->stream].device;

	if (!*vec_at(&s->chosen, id))
		s->chosen.items[id] =
		        1 +
		        (among(o->threads, o->thread_count, who->tid, who->thread) &&
		         (device || among(o->processes, o->process_count, who->pid, who->process)));
	return s->chosen.items[id] == 2 && (!device || !o->process_count ||
	                                    among(o->processes, o->process_count, process,
	                                          who->process[0] ? who->process : NULL));
}

static struct tag_open *enter(struct trace_select_lane *lane, const struct trace_line *line)
{
	vec_push(&lane->open, (struct tag_open){.call = line->call,
	                                        .time = line->time,
	                                        .number = TRACE_LINE_NONE,
	                                        .tag = line->tag,
	                                        .depth = line->depth,
	                                        .process = line->process,
	                                        .who = line->who});
	return vec_last(&lane->open);
}

static struct tag_open *find(struct trace_select_lane *lane, uint64_t call)
{
	struct tag_open *open = lane->open.items;
	size_t count = lane->open.count, at;

	if (count && open[count - 1].call == call)
		return &open[count - 1];
	at = sorted_count(i, count, open[i].call < call);
	return at < count && open[at].call == call ? &open[at] : NULL;
}

/* Removes the call whose exit was the previous line. */
static void leave(struct trace_select_lane *lane)
{
	struct tag_open *left = &lane->open.items[lane->leaving - 1];
	size_t kept = 0;

	for (size_t i = 0; i < lane->inside.count; i++)
		if (lane->inside.items[i].call == left->call)
			lane->inside.items[i--] = lane->inside.items[--lane->inside.count];
	left->left = true;
	lane->gone++;
	lane->leaving = 0;
	while (lane->open.count && vec_last(&lane->open)->left) {
		lane->open.count--;
		lane->gone--;
	}
	if (lane->gone < 64 || lane->gone < lane->open.count / 2)
		return;
	vec_each (open, &lane->open)
		if (!open->left)
			lane->open.items[kept++] = *open;
	lane->open.count = kept;
	lane->gone = 0;
}

static const struct trace_inside *inside_of(const struct trace_select_lane *lane, uint32_t process)
{
	vec_each (inside, &lane->inside)
		if (inside->process == process)
			return inside;
	return NULL;
}

/* Whether --function and --depth show a line at *depth; sets *depth to the depth to show. */
static bool at_depth(const struct tag_select *s, const struct trace_select_lane *lane,
                     uint32_t process, bool is_call, uint32_t *depth)
{
	const struct trace_inside *inside = inside_of(lane, process);
	uint64_t limit = s->o->depth;

	if (s->o->function_count) {
		if (!inside || *depth < inside->depth)
			return false;
		*depth -= inside->depth;
	}
	if (!limit || *depth < limit)
		return true;
	if (is_call)
		return false;
	*depth = (uint32_t)limit; /* switches and gaps are shown at any depth */
	return true;
}

/* Counts calls of the functions of --from and --to; returns bits as tag_select_line(). */
static unsigned range(struct tag_select *s, const struct trace_line *line, bool mine)
{
	const struct tag_trace_options *o = s->o;
	const struct tag_identity *who = &s->t->whos.items[line->who];
	const struct tag_names *names = s->t->recording->streams.items[who->stream].names;
	bool call = mine && (line->kind == TRACE_LINE_ENTER || line->kind == TRACE_LINE_INLINE);
	uint64_t past = line->time > s->t->begin ? line->time - s->t->begin : 0;
	bool was = s->started, last = false;

	if (o->from.given && o->from.function && call && wants(&s->from, names, line->tag))
		s->started |= ++s->from_seen == o->from.nth;
	else if (o->from.given && !o->from.function && past >= s->from_ticks)
		s->started = true;
	if (o->to.given && !o->to.function && past > s->to_ticks)
		s->over = true;
	if (s->over)
		return TAG_OVER;
	if (o->to.given && o->to.function && call && wants(&s->to, names, line->tag) &&
	    ++s->to_seen == o->to.nth) {
		s->to_stream = who->stream;
		s->to_call = line->call;
		last = line->kind == TRACE_LINE_INLINE;
	}
	last |= line->kind == TRACE_LINE_EXIT && s->to_stream == who->stream &&
	        s->to_call == line->call;
	s->over = last;
	return (s->started ? TAG_SHOWN : 0) | (s->started && !was ? TAG_BEGINS : 0);
}

unsigned tag_select_line(struct tag_select *s, struct trace_line *line, struct tag_open **open)
{
	const struct tag_identity *who = &s->t->whos.items[line->who];
	struct trace_select_lane *lane = &s->lanes[who->stream];
	bool mine = chosen(s, line->who, line->process);
	unsigned what = range(s, line, mine);

	*open = NULL;
	s->met |= mine;
	if (lane->leaving)
		leave(lane);
	if (line->kind == TRACE_LINE_ENTER) {
		const struct tag_names *names = s->t->recording->streams.items[who->stream].names;

		*open = enter(lane, line);
		if (s->o->function_count && !inside_of(lane, line->process) &&
		    wants(&s->functions, names, line->tag))
			vec_push(&lane->inside,
			         (struct trace_inside){line->call, line->process, line->depth});
	} else if (line->kind == TRACE_LINE_EXIT) {
		*open = find(lane, line->call);
		lane->leaving = *open ? (size_t)(*open - lane->open.items) + 1 : 0;
	}
	if (!mine ||
	    !at_depth(s, lane, line->process,
	              line->kind == TRACE_LINE_ENTER || line->kind == TRACE_LINE_EXIT ||
	                      line->kind == TRACE_LINE_INLINE || line->kind == TRACE_LINE_UNMATCHED,
	              &line->depth))
		what &= ~TAG_SHOWN;
	return what;
}

/* Whether the call was entered before `line`, in a process that is running at `line`. */
static bool is_around(const struct tag_select *s, const struct tag_open *open,
                      const struct trace_line *line)
{
	uint32_t stream = s->t->whos.items[open->who].stream;
	bool same = stream == s->t->whos.items[line->who].stream;

	if (open->left || (same && line->kind == TRACE_LINE_ENTER && open->call == line->call))
		return false;
	/* Of a device's processes only the running process is relevant. */
	return !s->t->recording->streams.items[stream].device ||
	       (same && open->process == line->process);
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct trace_line *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->who != b->who)
		return a->who < b->who ? -1 : 1;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

void tag_select_inside(struct tag_select *s, const struct trace_line *line,
                       void (*inside)(void *of, const struct trace_line *line), void *of)
{
	VEC(struct trace_line) lines = {0};

	for (size_t i = 0; i < s->t->recording->streams.count; i++)
		vec_each (open, &s->lanes[i].open) {
			struct trace_line around = {.kind = TRACE_LINE_INSIDE,
			                            .who = open->who,
			                            .tag = open->tag,
			                            .depth = open->depth,
			                            .process = open->process,
			                            .call = open->call,
			                            .time = open->time};

			if (is_around(s, open, line) && chosen(s, open->who, open->process) &&
			    at_depth(s, &s->lanes[i], open->process, true, &around.depth))
				vec_push(&lines, around);
		}
	if (lines.count)
		qsort(lines.items, lines.count, sizeof(struct trace_line), compare_lines);
	vec_each (around, &lines)
		inside(of, around);
	vec_done(&lines);
}

void tag_select_result(const struct tag_select *s, struct tag_trace_result *result)
{
	result->from_seen = s->from_seen;
	result->to_seen = s->to_seen;
	result->chosen = s->met;
	result->from_met = s->started;
	result->to_met = !s->o->to.given || s->over;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_paths.h"

#include "base/memory/path_tree.h"
#include "view/symbolized/symbolized.h"
#include "view/tags/tag_path_times.h"
#include "view/tags/tag_percentiles.h"
#include "view/tags/trace/tag_tracks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define OTHER 0 /* the node of all paths beyond the maximum */

/* A call path of one thread; parents come before children. */
struct tag_path_node {
	uint32_t parent; /* outermost call: ID_NONE */
	uint32_t owner, tag;
	uint64_t values[NAMED_VALUES]; /* ticks, except calls */
	struct named_range range;      /* ticks */
	struct tag_path_times times;
};

struct owner {
	struct named_owner is;
	const struct tag_names *names;
};

struct tag_path_level {
	uint64_t call;
	uint32_t node;
};

/* The open calls of one process in a stream. */
struct stack {
	VEC(struct tag_path_level) levels;
	uint32_t who, owner; /* who: index of the latest owner + 1 */
	bool nameless;       /* a device did not record the name of the owner so far */
	bool preempted;      /* the last switch out was a preemption */
};

struct tag_path_lane {
	VEC(struct stack) stacks; /* per process number of a device; otherwise one */
};

struct tag_paths {
	size_t max;
	bool wall;
	VEC(struct tag_path_node) nodes;
	struct tag_times times; /* times of nodes with many calls */
	struct path_tree index; /* by owner and tag */
	VEC(struct owner) owners;
	VEC(struct tag_path_lane) lanes;
	struct symbolized_profile texts; /* names of owners */
	uint64_t cut, others;            /* calls without a complete time; calls in OTHER */
	uint64_t first, last;            /* ticks */
	bool begun;
};

struct tag_paths *tag_paths_new(size_t max, bool wall)
{
	struct tag_paths *p = xcalloc(1, sizeof(*p));

	p->max = max;
	p->wall = wall;
	symbolized_profile_init(&p->texts);
	vec_push(&p->nodes, (struct tag_path_node){
	                            .parent = ID_NONE, .owner = ID_NONE, .range = {.most = -1}});
	return p;
}

void tag_paths_free(struct tag_paths *p)
{
	if (!p)
		return;
	vec_each (lane, &p->lanes) {
		vec_each (stack, &lane->stacks)
			vec_done(&stack->levels);
		vec_done(&lane->stacks);
	}
	vec_done(&p->lanes);
	vec_done(&p->nodes);
	tag_times_done(&p->times);
	vec_done(&p->owners);
	path_tree_done(&p->index);
	symbolized_profile_done(&p->texts);
	free(p);
}

static uint32_t owner_id(struct tag_paths *p, const struct tag_trace *t,
                         const struct trace_line *line)
{
	const struct tag_identity *who = &t->whos.items[line->who];
	const struct tag_stream *stream = &t->recording->streams.items[who->stream];
	struct owner o = {.names = stream->names};
	char text[32];

	if (stream->device) {
		bool named = tag_line_is_named(line, who);

		snprintf(text, sizeof(text), line->process ? "process %" PRIu32 : "no process",
		         line->process);
		o.is.process = named_text(&p->texts, named ? who->process : text);
		o.is.pid = named ? who->pid : (int32_t)line->process;
		if (t->recording->streams.count > 1) { /* each CPU has process numbers of its own */
			snprintf(text, sizeof(text), "cpu %" PRIu32, who->stream);
			o.is.thread = named_text(&p->texts, text);
		}
	} else {
		o.is.process = named_text(&p->texts, who->process);
		o.is.thread = named_text(&p->texts, who->thread);
		o.is.pid = who->pid;
		o.is.tid = who->tid;
	}
	for (size_t i = stream->device ? 0 : p->owners.count; i-- > 0;)
		if (!memcmp(&p->owners.items[i], &o, sizeof(o)))
			return (uint32_t)i;
	vec_push(&p->owners, o);
	return (uint32_t)p->owners.count - 1;
}

static void set_owner(struct tag_paths *p, const struct tag_trace *t, const struct trace_line *line,
                      struct stack *stack)
{
	bool named = tag_line_is_named(line, &t->whos.items[line->who]);
	uint32_t owner = owner_id(p, t, line);

	/* Calls before the first line with a name are of the same process. */
	if (stack->nameless && named)
		p->owners.items[stack->owner].is = p->owners.items[owner].is;
	stack->nameless = !named;
	stack->who = line->who + 1;
	stack->owner = owner;
}

static struct stack *stack_of(struct tag_paths *p, const struct tag_trace *t,
                              const struct trace_line *line)
{
	uint32_t stream = t->whos.items[line->who].stream;
	struct stack *stack;
	struct tag_path_lane *lane;

	lane = vec_at(&p->lanes, stream);
	stack = vec_at(&lane->stacks, line->process);
	/* A device says who continues at the switch; a line at the end may be of any process. */
	if (!stack->who ||
	    (t->recording->streams.items[stream].device ? line->kind == TRACE_LINE_IN
	                                                : stack->who != line->who + 1))
		set_owner(p, t, line, stack);
	return stack;
}

static uint32_t child(struct tag_paths *p, uint32_t parent, uint32_t owner, uint32_t tag)
{
	uint64_t key = (uint64_t)owner << 32 | tag;
	uint32_t id = parent == OTHER ? OTHER : path_tree_find(&p->index, parent, key);

	if (parent == OTHER || id || p->nodes.count > p->max)
		return id;
	id = path_tree_step(&p->index, parent, key, (uint32_t)p->nodes.count);
	vec_push(&p->nodes,
	         (struct tag_path_node){
	                 .parent = parent, .owner = owner, .tag = tag, .range = {.most = -1}});
	return id;
}

/* The range of one complete call, ranked by the certainty of its times. */
static struct named_range range_of(const struct trace_line *line)
{
	int64_t net = line->net > INT64_MAX ? INT64_MAX : (int64_t)line->net;

	return (struct named_range){net, net, line->uncertain};
}

static void leave(struct tag_paths *p, struct stack *stack, const struct trace_line *line)
{
	struct named_range range = range_of(line);
	size_t at = stack->levels.count;
	struct tag_path_node *node;

	while (at && stack->levels.items[at - 1].call != line->call)
		at--;
	if (!at) {
		p->cut++;
		return;
	}
	p->cut += stack->levels.count - at;
	stack->levels.count = at - 1;
	node = &p->nodes.items[stack->levels.items[at - 1].node];
	p->others += node == p->nodes.items;
	node->values[NAMED_CALLS]++;
	node->values[NAMED_NET] += line->net;
	if (trace_end_is_cut(line->end))
		return;
	named_range_join(&node->range, &range);
	if (!range.doubt)
		tag_path_times_count(&node->times, &p->times, line->net);
}

static void come_in(struct tag_paths *p, struct stack *stack, const struct trace_line *line)
{
	struct tag_path_node *node;

	if (p->wall || line->more == TRACE_OUT_UNKNOWN || !stack->levels.count)
		return;
	node = &p->nodes.items[vec_last(&stack->levels)->node];
	node->values[stack->preempted ? NAMED_PREEMPTED : NAMED_BLOCKED] += line->more;
}

/* Time after a gap, of a call that was entered before the end of the gap. */
static void late_exit(struct tag_paths *p, const struct stack *stack, const struct trace_line *line)
{
	uint32_t node;

	if (!line->net)
		return;
	node = child(p, ID_NONE, stack->owner, line->tag); /* may move the items */
	p->nodes.items[node].values[NAMED_NET] += line->net;
}

int tag_paths_line(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	struct tag_paths *p = of;
	struct stack *stack = stack_of(p, t, line);
	struct tag_path_level level = {.call = line->call};

	if (!p->begun)
		p->first = line->time;
	p->begun = true;
	p->last = line->time > p->last ? line->time : p->last;
	if (line->kind == TRACE_LINE_ENTER) {
		level.node =
		        child(p, stack->levels.count ? vec_last(&stack->levels)->node : ID_NONE,
		              stack->owner, line->tag);
		vec_push(&stack->levels, level);
	} else if (line->kind == TRACE_LINE_EXIT) {
		leave(p, stack, line);
	} else if (line->kind == TRACE_LINE_UNMATCHED) {
		late_exit(p, stack, line);
	} else if (line->kind == TRACE_LINE_OUT) {
		stack->preempted = line->preempted;
	} else if (line->kind == TRACE_LINE_IN) {
		come_in(p, stack, line);
	}
	return 0;
}

struct finish {
	struct tag_paths *p;
	struct symbolized_profile *n;
	const struct tag_recording *r;
	uint32_t image;               /* of all functions; NAMED_NONE: unknown */
	uint64_t ticks[NAMED_VALUES]; /* sums so far */
	struct path_tree places;      /* by tag and names: place + 1 */
	VEC(uint32_t) latest;         /* by row: its latest node + 1 */
	uint32_t *earlier;            /* by node: the node of the same row before it + 1 */
};

static uint32_t place_of(struct finish *f, const struct tag_names *names, uint32_t tag)
{
	uint32_t id = path_tree_find(&f->places, tag, (uintptr_t)names);
	const struct tag_name *name;
	char text[32];
	bool exit;

	if (id)
		return id - 1;
	name = names ? tag_names_find(names, tag, &exit) : NULL;
	snprintf(text, sizeof(text), "tag %" PRIu32, tag);
	id = named_place_in(f->n, f->image,
	                    !name         ? text
	                    : name->shown ? name->shown
	                                  : name->name) +
	     1;
	return path_tree_step(&f->places, tag, (uintptr_t)names, id) - 1;
}

/* Converts `ticks` to ns. The rounding error is carried, so that the sum of the results equals the
 * converted sum of ticks. */
static int64_t share_ns(struct finish *f, unsigned value, uint64_t ticks)
{
	uint64_t before = tag_clock_ns(&f->r->clock, f->ticks[value]);

	f->ticks[value] += ticks;
	return (int64_t)(tag_clock_ns(&f->r->clock, f->ticks[value]) - before);
}

/* Joins a range of ticks to the range of row `row`. */
static void add_range(struct finish *f, size_t row, struct named_range range)
{
	if (range.most < range.least)
		return;
	range.least = (int64_t)tag_clock_ns(&f->r->clock, (uint64_t)range.least);
	range.most = (int64_t)tag_clock_ns(&f->r->clock, (uint64_t)range.most);
	while (f->n->ranges.count <= row)
		vec_push(&f->n->ranges, (struct named_range){.most = -1});
	named_range_join(&f->n->ranges.items[row], &range);
}

static void add_node_of_row(struct finish *f, size_t row, const struct tag_path_node *node)
{
	size_t id = (size_t)(node - f->p->nodes.items);

	f->earlier[id] = *vec_at(&f->latest, row);
	f->latest.items[row] = (uint32_t)id + 1;
}

static void add_row(struct finish *f, const struct tag_path_node *node, uint32_t path,
                    uint32_t owner)
{
	struct named_row *row;

	if (!node->values[0] && !node->values[1] && !node->values[2] && !node->values[3])
		return;
	row = named_row_of(f->n, path, owner);
	row->values[NAMED_CALLS] =
	        named_add(row->values[NAMED_CALLS], (int64_t)node->values[NAMED_CALLS]);
	for (unsigned i = NAMED_NET; i < NAMED_VALUES; i++)
		row->values[i] = named_add(row->values[i], share_ns(f, i, node->values[i]));
	add_range(f, (size_t)(row - f->n->rows.items), node->range);
	add_node_of_row(f, (size_t)(row - f->n->rows.items), node);
}

static int64_t percentile_ns(const struct finish *f, double ticks)
{
	return isnan(ticks) ? -1 : (int64_t)tag_clock_ns(&f->r->clock, (uint64_t)llrint(ticks));
}

/* `of`: scratch memory. */
static struct named_percentiles percentiles_of_row(const struct finish *f, size_t row,
                                                   struct tag_times *of)
{
	struct named_range range = {.most = -1};
	struct tag_percentiles p;

	tag_times_clear(of);
	for (uint32_t at = f->latest.items[row]; at; at = f->earlier[at - 1]) {
		const struct tag_path_node *node = &f->p->nodes.items[at - 1];

		tag_path_times_merge(of, &node->times, &f->p->times);
		named_range_join(&range, &node->range);
	}
	p = tag_percentiles_of(of, 0, (uint64_t)f->n->rows.items[row].values[NAMED_CALLS],
	                       (uint64_t)range.least, (uint64_t)range.most);
	return (struct named_percentiles){percentile_ns(f, p.ticks[0]),
	                                  percentile_ns(f, p.ticks[1]),
	                                  percentile_ns(f, p.ticks[2]), p.timed};
}

static void add_percentiles(struct finish *f)
{
	struct tag_times of = {0};

	tag_times_reserve(&of, 1);
	for (size_t row = 0; row < f->n->rows.count; row++)
		vec_push(&f->n->percentiles, percentiles_of_row(f, row, &of));
	tag_times_done(&of);
}

static uint32_t owner_of(struct finish *f, uint32_t id)
{
	struct named_owner owner = {0};

	if (id == ID_NONE) {
		owner.process = named_text(f->n, "[other paths]");
	} else {
		owner = f->p->owners.items[id].is;
		owner.process = named_text(f->n, intern_text(&f->p->texts.texts, owner.process));
		owner.thread = named_text(f->n, intern_text(&f->p->texts.texts, owner.thread));
	}
	return named_owner_id(f->n, &owner);
}

static void add_nodes(struct finish *f)
{
	struct tag_paths *p = f->p;
	uint32_t *paths = xcalloc(p->nodes.count, sizeof(*paths));

	for (size_t i = 1; i < p->nodes.count; i++) {
		const struct tag_path_node *node = &p->nodes.items[i];

		paths[i] = named_path_step(
		        f->n, node->parent == ID_NONE ? NAMED_ROOT : paths[node->parent],
		        place_of(f, p->owners.items[node->owner].names, node->tag));
		add_row(f, node, paths[i], owner_of(f, node->owner));
	}
	if (p->others)
		add_row(f, &p->nodes.items[OTHER],
		        named_path_step(f->n, NAMED_ROOT, named_place_word(f->n, "[other paths]")),
		        owner_of(f, ID_NONE));
	free(paths);
}

/* Rules of groups are about its functions. */
static uint32_t kernel_image(struct symbolized_profile *n)
{
	struct named_image *image = vec_add(&n->images);

	image->name = named_text(n, "[kernel]");
	image->low = 1; /* no range */
	return (uint32_t)n->images.count - 1;
}

void tag_paths_finish(struct tag_paths *p, const struct tag_recording *r,
                      struct symbolized_profile *n)
{
	struct finish f = {.p = p, .n = n, .r = r, .image = NAMED_NONE};

	named_call_values(n);
	if (tag_recording_of_kernel(r))
		f.image = kernel_image(n);
	n->depth_max = NAMED_DEPTH_MAX;
	if (r->command)
		n->command = named_text(n, r->command);
	if (r->clock.offset_ns != INT64_MIN)
		n->time_ns = r->clock.offset_ns + (int64_t)tag_clock_ns(&r->clock, p->first);
	n->duration_ns = (int64_t)tag_clock_ns(&r->clock, p->last - p->first);
	vec_each (lane, &p->lanes)
		vec_each (stack, &lane->stacks)
			p->cut += stack->levels.count;
	f.earlier = xcalloc(p->nodes.count, sizeof(*f.earlier));
	add_nodes(&f);
	add_percentiles(&f);
	if (p->cut)
		named_comment(n,
		              "calls that are only partly in the selected time, left out: %" PRIu64,
		              p->cut);
	if (p->others)
		named_comment(
		        n,
		        "calls of paths beyond the first %zu, counted as [other paths]: %" PRIu64,
		        p->max, p->others);
	path_tree_done(&f.places);
	vec_done(&f.latest);
	free(f.earlier);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/tags/tags_json.h"

#include "base/text/json.h"

#include <stdio.h>

struct tags_json_writing {
	const struct tag_report *report;
	struct json j;
};

static uint64_t ns_of(const struct tags_json_writing *w, uint64_t ticks)
{
	return tag_clock_ns(&w->report->recording->clock, ticks);
}

static void time_key(struct tags_json_writing *w, const char *key, uint64_t ticks)
{
	json_ku64(&w->j, key, ns_of(w, ticks));
}

/* Writes null if the time is not known. */
static void known_time(struct tags_json_writing *w, const char *key, uint64_t ticks, bool known)
{
	json_key(&w->j, key);
	if (known)
		json_u64(&w->j, ns_of(w, ticks));
	else
		json_null(&w->j);
}

static void shares(struct tags_json_writing *w, uint64_t net)
{
	json_kdouble(&w->j, "real", tag_share(net, w->report->summary->elapsed));
	json_kdouble(&w->j, "net", tag_share(net, w->report->run));
}

static void heading(struct tags_json_writing *w)
{
	const struct tag_report *r = w->report;
	const struct tag_summary *s = r->summary;
	bool waits = !r->devices && r->separated;
	struct json *j = &w->j;

	json_kstr_or_null(j, "command", r->recording->command);
	json_ku64(j, "clock_hz", r->recording->clock.hz);
	time_key(w, "elapsed_ns", s->elapsed);
	time_key(w, "run_ns", r->run);
	time_key(w, "idle_ns", s->idle);
	json_ku64(j, "tags", s->tags);
	time_key(w, "span_ns", r->span);
	json_kbool(j, "waiting_separated", r->separated);
	json_ku64(j, "switches_lost", r->switches_lost);
	known_time(w, "blocked_ns", s->blocked, waits);
	known_time(w, "preempted_ns", s->preempted, waits);
	time_key(w, "own_ns", s->own);
	time_key(w, "outside_ns", s->outside);
	json_ku64(j, "streams", s->streams);
	json_ku64(j, "threads", s->threads);
	json_ku64(j, "processes", s->processes);
	json_ku64(j, "switches", s->switches);
}

static void damage(struct tags_json_writing *w)
{
	const struct tag_damage *d = &w->report->summary->damage;
	struct json *j = &w->j;

	json_ku64(j, "lost", d->lost);
	json_ku64(j, "gaps", d->gaps);
	json_ku64(j, "missing_exits", d->missing_exits);
	json_ku64(j, "unmatched_exits", d->unmatched_exits);
	json_ku64(j, "inherited_exits", d->inherited_exits);
	json_ku64(j, "unknown_tags", d->unknown_tags);
	json_ku64(j, "guesses", d->guesses);
	json_ku64(j, "backwards", d->backwards);
	json_ku64(j, "uncertain", w->report->uncertain);
	json_ku64(j, "open", w->report->open);
}

/* Rounded down to whole ns, as the average in ticks is rounded down. */
static uint64_t average_ns(const struct tags_json_writing *w, const struct tag_row *row)
{
	return row->calls ? ns_of(w, row->net) / row->calls : 0;
}

static void range(struct tags_json_writing *w, const struct tag_row *row, bool known)
{
	known_time(w, "max_ns", row->max, known && row->ranged);
	json_key(&w->j, "avg_ns");
	if (known && row->calls)
		json_u64(&w->j, average_ns(w, row));
	else
		json_null(&w->j);
	known_time(w, "min_ns", row->min, known && row->ranged);
}

static void whose(struct tags_json_writing *w, const struct tag_row *row)
{
	json_kstr(&w->j, "function", row->function);
	json_kstr_or_null(&w->j, "name", row->name);
	json_kstr_or_null(&w->j, "program", row->program);
	json_ku64(&w->j, "tag", row->tag);
}

static void function(struct tags_json_writing *w, const struct tag_row *row)
{
	json_object(&w->j);
	whose(w, row);
	time_key(w, "elapsed_ns", row->elapsed);
	time_key(w, "net_ns", row->net);
	json_ku64(&w->j, "calls", row->calls);
	range(w, row, true);
	shares(w, row->net);
	json_ku64(&w->j, "uncertain", row->uncertain);
	json_ku64(&w->j, "open", row->open);
	json_end_object(&w->j);
}

static void functions(struct tags_json_writing *w)
{
	const struct tag_report *r = w->report;

	json_key(&w->j, "functions");
	json_array(&w->j);
	for (size_t i = 0; i < r->shown; i++)
		if (r->rows.items[i].kind == TAG_ROW_FUNCTION)
			function(w, &r->rows.items[i]);
	json_end_array(&w->j);
}

/* Writes the sum of the rows that -n and --percent-limit left out. */
static void rest(struct tags_json_writing *w)
{
	const struct tag_report *r = w->report;
	uint64_t net = r->rest.net, left = r->rows.count - r->shown;

	/* The time outside of functions has a key of its own, so its row is not part of the
	 * rest. */
	for (size_t i = r->shown; i < r->rows.count; i++)
		if (r->rows.items[i].kind == TAG_ROW_OUTSIDE) {
			net -= r->rows.items[i].net;
			left--;
		}
	json_key(&w->j, "rest");
	json_object(&w->j);
	json_ku64(&w->j, "functions", left);
	time_key(w, "net_ns", net);
	json_ku64(&w->j, "calls", r->rest.calls);
	shares(w, net);
	json_end_object(&w->j);
}

static void inline_tags(struct tags_json_writing *w)
{
	json_key(&w->j, "inline_tags");
	json_array(&w->j);
	vec_each (row, &w->report->inlines) {
		json_object(&w->j);
		json_kstr(&w->j, "name", row->function);
		json_kstr_or_null(&w->j, "program", row->program);
		json_ku64(&w->j, "tag", row->tag);
		json_ku64(&w->j, "count", row->calls);
		json_end_object(&w->j);
	}
	json_end_array(&w->j);
}

static void groups_of(struct tags_json_writing *w, const struct tag_groups *g)
{
	struct json *j = &w->j;

	json_key(j, "groups");
	json_array(j);
	vec_each (group, &g->groups) {
		json_object(j);
		json_kstr(j, "group", group->name);
		json_ku64(j, "functions", group->functions);
		json_ku64(j, "calls", group->calls);
		time_key(w, "net_ns", group->net);
		shares(w, group->net);
		json_ku64(j, "uncertain", group->uncertain);
		json_end_object(j);
	}
	json_end_array(j);
	json_key(j, "unused_patterns");
	json_array(j);
	vec_each (rule, &g->rules)
		if (!rule->used)
			json_str(j, rule->pattern);
	json_end_array(j);
}

static void step(struct tags_json_writing *w, const struct tag_distribution_step *s)
{
	json_object(&w->j);
	time_key(w, "from_ns", s->from);
	time_key(w, "to_ns", s->to);
	json_ku64(&w->j, "count", s->count);
	json_end_object(&w->j);
}

static void percentiles(struct tags_json_writing *w, const struct tag_distribution *h)
{
	json_key(&w->j, "percentiles_ns");
	json_object(&w->j);
	for (size_t i = 0; i < TAG_PERCENTILES && h->count; i++) {
		const struct tag_percentile *p = &h->percentiles[i];
		char percent[16];

		snprintf(percent, sizeof(percent), "%u", p->percent);
		json_key(&w->j, percent);
		json_object(&w->j);
		time_key(w, "from_ns", p->step.from);
		time_key(w, "to_ns", p->step.to);
		json_end_object(&w->j);
	}
	json_end_object(&w->j);
}

static void histogram(struct tags_json_writing *w, const struct tag_distribution *h)
{
	struct json *j = &w->j;

	json_key(j, "histogram");
	json_object(j);
	whose(w, &h->row);
	json_kstr(j, "time", h->total ? "total" : "net");
	json_ku64(j, "count", h->count);
	range(w, &h->row, !h->total);
	percentiles(w, h);
	json_key(j, "steps");
	json_array(j);
	vec_each (s, &h->steps)
		step(w, s);
	json_end_array(j);
	json_end_object(j);
}

void tags_json(const struct tag_report *r, const struct tag_groups *groups,
               const struct tag_distribution *spread, struct buf *out)
{
	struct tags_json_writing w = {.report = r};

	json_init(&w.j, out);
	json_object(&w.j);
	json_kstr(&w.j, "assay", ASSAY_VERSION);
	json_kstr(&w.j, "kind", "tags");
	heading(&w);
	damage(&w);
	functions(&w);
	rest(&w);
	inline_tags(&w);
	if (groups)
		groups_of(&w, groups);
	if (spread)
		histogram(&w, spread);
	json_end_object(&w.j);
}

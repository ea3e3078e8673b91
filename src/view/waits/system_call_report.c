/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/system_call_report.h"

#include "base/memory/xalloc.h"
#include "view/waits/system_call_names.h"
#include "view/waits/wait_select.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* The name of a call; "call 512" if it has none. */
static uint32_t name_call(struct system_call_report *r, int32_t number, bool *has_descriptor)
{
	const struct recording *of =
	        r->profile->recordings.count ? r->profile->recordings.items[0] : NULL;
	const char *name = system_call_name(of ? of->arch : NULL, number);
	char text[32];

	*has_descriptor = system_call_takes_descriptor(name);
	if (name)
		return intern_add(&r->texts, name);
	r->unnamed_calls = true;
	snprintf(text, sizeof(text), "call %" PRId32, number);
	return intern_add(&r->texts, text);
}

static uint32_t name_file(struct system_call_report *r, const struct system_call_key *key)
{
	char text[32];

	if (key->file != ID_NONE)
		return intern_add(&r->texts, r->profile->waits.descriptors.items[key->file].name);
	snprintf(text, sizeof(text), "descriptor %" PRIu32, key->descriptor);
	return intern_add(&r->texts, text);
}

static bool is_line(const void *ctx, uint32_t id, const void *key)
{
	const struct system_call_report *r = ctx;
	const struct system_call_line *a = &r->lines.items[id], *b = key;

	return a->call == b->call && a->file == b->file;
}

static struct system_call_line *line_of(struct system_call_report *r, uint32_t call, uint32_t file)
{
	const struct system_call_line key = {.call = call, .file = file};
	uint64_t hash = hash_pair(call, file);
	uint32_t id = id_table_find(&r->index, hash, is_line, r, &key);
	struct system_call_line *line;

	if (id != ID_NONE)
		return &r->lines.items[id];
	id_table_add(&r->index, hash, (uint32_t)r->lines.count);
	line = vec_add(&r->lines);
	*line = (struct system_call_line){.call = call, .file = file, .min_ns = UINT64_MAX};
	return line;
}

static void add_errors(struct system_call_line *line, const struct system_call_sum *sum)
{
	vec_each (e, &sum->errors) {
		struct system_call_error *known = NULL;

		vec_each (k, &line->errors)
			if (k->error == e->error)
				known = k;
		if (known)
			known->count += e->count;
		else
			vec_push(&line->errors, *e);
	}
}

static void add_sum(struct system_call_report *r, const struct system_call_sum *sum,
                    const struct filter_list *calls)
{
	bool has_descriptor;
	uint32_t call = name_call(r, sum->key.number, &has_descriptor), file = 0;
	const char *name = intern_text(&r->texts, call);
	struct system_call_line *line;

	if (!filter_list_has(calls, name, name))
		return;
	if (has_descriptor && sum->key.descriptor != SYSTEM_CALL_NO_DESCRIPTOR)
		file = name_file(r, &sum->key);
	line = line_of(r, call, file);
	line->count += sum->count;
	line->failed += sum->failed;
	line->ns += sum->ns;
	line->min_ns = sum->min_ns < line->min_ns ? sum->min_ns : line->min_ns;
	line->max_ns = sum->max_ns > line->max_ns ? sum->max_ns : line->max_ns;
	call_times_merge(&line->times, &sum->times);
	add_errors(line, sum);
	r->count += sum->count;
	r->failed += sum->failed;
	r->ns += sum->ns;
}

static double percentile(const struct system_call_line *l, double part)
{
	return call_times_percentile_between(&l->times, 0, part, (double)l->min_ns,
	                                     (double)l->max_ns);
}

/* The processes of the selected threads. */
static int select_processes(uint8_t *selected, const struct profile *p, const struct filter *f,
                            bool all, struct error *err)
{
	struct wait_selection threads;
	int ret = wait_select(&threads, p, f, all, err);

	for (uint32_t i = 0; !ret && i < process_table_thread_count(p->processes); i++)
		if (threads.selected[i])
			selected[process_table_thread_at(p->processes, i)->process] = 1;
	wait_selection_done(&threads);
	return ret;
}

int system_call_report_new(struct system_call_report **out, const struct profile *p,
                           const struct filter *f, bool all, const struct filter_list *calls,
                           struct error *err)
{
	size_t count = process_table_process_count(p->processes);
	uint8_t *selected = xcalloc(count + 1, 1), *seen = xcalloc(count + 1, 1);
	int ret = select_processes(selected, p, f, all, err);
	struct system_call_report *r;

	*out = NULL;
	if (ret)
		goto out;
	*out = r = xcalloc(1, sizeof(*r));
	r->profile = p;
	intern_init(&r->texts);
	vec_each (sum, &p->system_calls.sums) {
		if (!selected[sum->key.process])
			continue;
		r->processes += !seen[sum->key.process];
		seen[sum->key.process] = 1;
		add_sum(r, sum, calls);
	}
	vec_each (line, &r->lines) {
		line->p50_ns = percentile(line, 0.5);
		line->p90_ns = percentile(line, 0.9);
		line->p99_ns = percentile(line, 0.99);
	}
out:
	free(selected);
	free(seen);
	return ret;
}

void system_call_report_free(struct system_call_report *r)
{
	if (!r)
		return;
	vec_each (line, &r->lines) {
		call_times_done(&line->times);
		vec_done(&line->errors);
	}
	vec_done(&r->lines);
	id_table_done(&r->index);
	intern_done(&r->texts);
	free(r);
}

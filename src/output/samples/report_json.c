/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/samples/report_json.h"

#include "output/text/tree_json.h"
#include "view/samples/flat_cell.h"

#include <inttypes.h>
#include <stdio.h>

static void known(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	if (text)
		json_str(j, text);
	else
		json_null(j);
}

static void known_time(struct json *j, const char *key, uint64_t time)
{
	json_key(j, key);
	if (time)
		json_u64(j, time);
	else
		json_null(j);
}

static void hex(struct json *j, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_kstr(j, key, text);
}

static void recordings(struct json *j, const struct report *r)
{
	json_key(j, "recordings");
	json_array(j);
	vec_each (item, &r->view->profile->recordings) {
		const struct recording *rec = *item;

		json_object(j);
		known(j, "path", rec->path);
		known(j, "command", rec->cmdline);
		known(j, "hostname", rec->hostname);
		known(j, "kernel", rec->os_release);
		known(j, "arch", rec->arch);
		known(j, "cpu", rec->cpu_description);
		json_ku64(j, "cpus_online", rec->cpus_online);
		known_time(j, "first_sample_ns", rec->first_sample_ns);
		known_time(j, "last_sample_ns", rec->last_sample_ns);
		known_time(j, "time_s", recording_time_s(rec));
		json_ku64(j, "bytes", rec->bytes);
		json_ku64(j, "samples", rec->samples);
		json_ku64(j, "lost_records", rec->lost_records);
		json_ku64(j, "lost_samples", rec->lost_samples);
		json_ku64(j, "unknown_records", rec->unknown_records);
		json_kbool(j, "truncated", rec->truncated);
		report_json_rates(j, rec);
		json_end_object(j);
	}
	json_end_array(j);
}

static void event(struct json *j, const struct profile_event *e)
{
	json_object(j);
	json_kstr(j, "name", e->name);
	json_ku64(j, "frequency_hz", e->frequency_hz);
	json_ku64(j, "period_ns", e->period_ns);
	json_ku64(j, "samples", e->samples);
	json_ku64(j, "weight", e->weight);
	json_kbool(j, "callchain", e->callchain);
	json_end_object(j);
}

static void events(struct json *j, const struct report *r)
{
	json_key(j, "event");
	if (report_event(r))
		event(j, report_event(r));
	else
		json_null(j);
	json_key(j, "event_caveat");
	if (report_event_caveat(r))
		json_str(j, report_event_caveat(r));
	else
		json_null(j);
	json_key(j, "events");
	json_array(j);
	vec_each (e, &r->view->profile->events)
		event(j, e);
	json_end_array(j);
}

static void observer_term(struct json *j, const struct report *r, const char *key, uint64_t value)
{
	json_key(j, key);
	if (r->observer.present)
		json_u64(j, value);
	else
		json_null(j);
}

static void observer(struct json *j, const struct report *r)
{
	const struct report_observer *o = &r->observer;

	json_key(j, "observer");
	json_object(j);
	observer_term(j, r, "cpu_ns", o->cpu_ns);
	observer_term(j, r, "samples", o->samples);
	json_ku64(j, "lost", o->lost);
	observer_term(j, r, "start_cpu_ns", o->start_cpu_ns);
	observer_term(j, r, "wakeups", o->wakeups);
	observer_term(j, r, "reads_unanswered", o->reads_unanswered);
	observer_term(j, r, "reads_not_made", o->reads_not_made);
	json_ku64(j, "bytes", o->bytes);
	json_key(j, "share");
	if (o->present)
		json_double(j, o->share);
	else
		json_null(j);
	json_end_object(j);
}

static void stack_image(struct json *j, const struct report *r, const struct stacks_image *image)
{
	json_object(j);
	json_kstr(j, "image", image_path(&r->view->profile->images, image->image));
	json_ku64(j, "samples", image->samples);
	json_kstr(j, "why", image->why);
	json_end_object(j);
}

static void stack_reasons(struct json *j, const struct stacks *s)
{
	json_key(j, "reasons");
	json_array(j);
	for (size_t i = 0; i < STACK_ENDS; i++) {
		if (!s->end_samples[i] || !*stacks_why((enum stack_end)i))
			continue;
		json_object(j);
		json_kstr(j, "end", stacks_why((enum stack_end)i));
		json_ku64(j, "samples", s->end_samples[i]);
		json_end_object(j);
	}
	json_end_array(j);
}

static void stacks(struct json *j, const struct report *r)
{
	static const char *const names[STACK_QUALITIES] = {
	        [STACK_QUALITY_UNKNOWN] = "unknown",     [STACK_QUALITY_NONE] = "none",
	        [STACK_QUALITY_WHOLE] = "whole",         [STACK_QUALITY_STITCHED] = "stitched",
	        [STACK_QUALITY_TRUNCATED] = "truncated", [STACK_QUALITY_BROKEN] = "broken"};
	const struct stacks *s = &r->stacks;

	json_key(j, "stacks");
	if (!s->present) {
		json_null(j);
		return;
	}
	json_object(j);
	json_ku64(j, "samples", s->samples);
	for (size_t i = 0; i < STACK_QUALITIES; i++)
		json_ku64(j, names[i], s->quality_samples[i]);
	stack_reasons(j, s);
	json_key(j, "images");
	json_array(j);
	for (size_t i = 0; i < s->image_count; i++)
		stack_image(j, r, &s->images[i]);
	json_end_array(j);
	json_end_object(j);
}

static void shares(struct json *j, double share, double low, double high)
{
	json_kdouble(j, "share", share);
	json_kdouble(j, "low", low);
	json_kdouble(j, "high", high);
}

static void processes(struct json *j, const struct report *r)
{
	const struct process_table *t = r->view->profile->processes;

	json_key(j, "processes");
	json_array(j);
	vec_each (line, &r->processes->instances) {
		const struct process *p =
		        line->name == ID_NONE ? NULL : process_table_process(t, line->process);

		json_object(j);
		json_kstr(j, "name", processes_name(r->processes, line));
		json_ku64(j, "instance", p ? p->instance : 1);
		json_ki64(j, "pid", p ? p->pid : -1);
		json_ku64(j, "user_samples", line->user_samples);
		/* The idle process has kernel time only. */
		json_ku64(j, "kernel_samples", line->kernel_samples + line->idle_samples);
		json_ku64(j, "idle_samples", line->idle_samples);
		json_ku64(j, "interrupt_samples", line->interrupt_samples);
		if (r->off_cpu) {
			json_ku64(j, "runnable_ns", line->runnable_ns);
			json_ku64(j, "blocked_ns", line->blocked_ns);
		}
		shares(j, line->share, line->low, line->high);
		json_end_object(j);
	}
	json_end_array(j);
}

static void key_value(struct json *j, const struct flat *f, const struct flat_row *row,
                      enum flat_key key)
{
	const struct profile *p = f->view->profile;
	const struct profile_row *example = &p->rows.items[row->example];
	const struct thread *thread = process_table_thread_at(p->processes, example->thread);
	const struct process *process = process_table_process(p->processes, thread->process);
	struct buf text = {0};

	if (key == FLAT_CPU) {
		json_key(j, "cpu");
		if (example->cpu == PROFILE_CPU_UNKNOWN)
			json_null(j);
		else
			json_u64(j, example->cpu);
		return;
	}
	if (key == FLAT_INSTANCE) {
		json_ku64(j, "instance", process->instance);
		json_ki64(j, "pid", process->pid);
		if (flat_has_key(f, FLAT_PROCESS))
			return;
		key = FLAT_PROCESS;
	}
	if (key == FLAT_THREAD) {
		json_kstr(j, "thread", process_table_name(p->processes, thread->name));
		json_ki64(j, "tid", thread->tid);
		return;
	}
	if (key == FLAT_ADDRESS) {
		hex(j, "address", flat_address(f, row));
		hex(j, "offset", flat_offset(f, row));
		return;
	}
	flat_cell(f, row, key, false, &text);
	json_kstr(j, flat_key_name(key), buf_text(&text));
	buf_done(&text);
}

/* Writes the rows that remain after the cut; the rest is not a row. */
static void flat_rows(struct json *j, struct flat *f, const struct report *r, const char *name)
{
	struct flat_rest rest =
	        flat_cut(f, r->options.limit < 0 ? 0 : r->options.limit, 0, r->options.lines);

	json_key(j, name);
	json_array(j);
	for (size_t i = 0; i < rest.shown; i++) {
		const struct flat_row *row = &f->rows.items[i];

		json_object(j);
		for (size_t k = 0; k < f->request.key_count; k++)
			key_value(j, f, row, f->request.keys[k]);
		json_ku64(j, "samples", row->samples);
		json_ku64(j, "weight", row->weight);
		shares(j, row->share, row->low, row->high);
		if (f->request.children) {
			json_ku64(j, "total_samples", row->total_samples);
			json_kdouble(j, "total_share", row->total_share);
		}
		if (f->has_waits) {
			json_ku64(j, "runnable_ns", row->runnable_ns);
			json_ku64(j, "blocked_ns", row->blocked_ns);
		}
		json_end_object(j);
	}
	json_end_array(j);
}

static void process_functions(struct json *j, struct report *r)
{
	json_key(j, "process_functions");
	json_array(j);
	vec_each (t, &r->tables) {
		json_object(j);
		json_kstr(j, "name", process_table_name(r->view->profile->processes, t->name));
		json_ku64(j, "instances", t->instances);
		json_kdouble(j, "share", t->share);
		if (t->user)
			flat_rows(j, t->user, r, "user");
		if (t->kernel)
			flat_rows(j, t->kernel, r, "kernel");
		json_end_object(j);
	}
	json_end_array(j);
}

static bool node_shown(const void *report, uint32_t node)
{
	const struct report *r = report;
	double limit = r->options.limit < 0 ? 0 : r->options.limit;

	return tree_shown(r->tree, &r->tree->nodes.items[node], limit);
}

static void node_keys(struct json *j, const void *report, uint32_t id)
{
	const struct report *r = report;
	const struct tree_node *node = &r->tree->nodes.items[id];
	const struct profile *p = r->view->profile;

	json_kstr(j, "name", tree_name(r->tree, node));
	if (node->frame != ID_NONE)
		json_kstr(j, "image",
		          image_path(&p->images, p->frames.items[node->frame].frame.image));
	if (node->inlined)
		json_kbool(j, "inlined", true);
	tree_json_recursion(j, &node->branch);
	json_ku64(j, "samples", node->samples);
	json_ku64(j, "self_samples", node->self_samples);
	json_kdouble(j, "share", node->share);
	json_kdouble(j, "self_share", node->self_share);
	if (r->tree->has_waits) {
		json_ku64(j, "runnable_ns", node->runnable_ns);
		json_ku64(j, "blocked_ns", node->blocked_ns);
	}
}

static void tree(struct json *j, const struct report *r, bool nested)
{
	static const struct tree_json_node of = {node_shown, node_keys};

	json_key(j, "tree");
	tree_json(j, BRANCHES(&r->tree->nodes), &of, r, nested);
}

static void warnings(struct json *j, const struct report *r)
{
	json_key(j, "warnings");
	json_array(j);
	vec_each (text, &r->warnings)
		json_str(j, *text);
	json_end_array(j);
}

void report_json(struct report *r, bool nested, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j);
	json_kstr(&j, "assay", ASSAY_VERSION);
	json_kstr(&j, "kind", "samples");
	recordings(&j, r);
	events(&j, r);
	report_json_ledger(&j, r);
	observer(&j, r);
	stacks(&j, r);
	json_ku64(&j, "samples", r->selection.samples);
	json_ku64(&j, "base_samples", r->selection.base_samples);
	json_ku64(&j, "paths", r->paths);
	processes(&j, r);
	flat_rows(&j, r->functions, r, "functions");
	process_functions(&j, r);
	if (r->kernel)
		flat_rows(&j, r->kernel, r, "kernel_functions");
	if (r->rows)
		flat_rows(&j, r->rows, r, "rows");
	if (r->tree)
		tree(&j, r, nested);
	warnings(&j, r);
	json_end_object(&j);
}

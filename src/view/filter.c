/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/filter.h"

#include "process/process_labels.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

/* Up to one lost sample in this many does not affect the comparison of two clocks. */
#define LOST_PART 100

struct matcher {
	const struct filter *filter;
	filter_ranges pid, tid, cpu;
	uint8_t *labelled; /* by process: enum label_match; NULL: no labels are selected */
};

enum label_match { LABEL_UNKNOWN, LABEL_MATCHES, LABEL_OTHER };

int filter_ranges_parse(const struct filter_list *list, const char *what, bool ranges,
                        filter_ranges *out, struct error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		struct filter_range r;
		char *end;

		errno = 0;
		r.from = r.to = strtol(list->items[i], &end, 10);
		if (ranges && *end == '-' && end != list->items[i])
			r.to = strtol(end + 1, &end, 10);
		if (errno || end == list->items[i] || *end)
			return error_set(err, EINVAL, "'%s' is not a %s%s", list->items[i], what,
			                 ranges ? " number or range of them (0-3)" : " number");
		vec_push(out, r);
	}
	return 0;
}

bool filter_ranges_have(const filter_ranges *v, long value)
{
	if (!v->count)
		return true;
	vec_each (r, v)
		if (value >= r->from && value <= r->to)
			return true;
	return false;
}

bool filter_list_has(const struct filter_list *list, const char *a, const char *b)
{
	if (!list->count)
		return true;
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], a) || !strcmp(list->items[i], b))
			return true;
	return false;
}

/* A cgroup includes its descendants. */
static bool in_cgroup(const struct filter_list *list, const char *path)
{
	if (!list->count)
		return true;
	for (size_t i = 0; path && i < list->count; i++) {
		size_t length = strlen(list->items[i]);

		while (length && list->items[i][length - 1] == '/')
			length--;
		if (!strncmp(path, list->items[i], length) &&
		    (!path[length] || path[length] == '/'))
			return true;
	}
	return false;
}

/* Whether the process has the label of one item "NAME=GLOB"; "NAME" alone has any value. */
static bool has_label(const struct process_table *t, const struct process *p, const char *item)
{
	size_t length = strcspn(item, "=");
	char *name = xstrndup(item, length);
	struct buf value = {0};
	bool has = process_label(t, p, name, &value) &&
	           (!item[length] || !fnmatch(item + length + 1, buf_text(&value), 0));

	buf_done(&value);
	free(name);
	return has;
}

/* Each name must match with one of its patterns. */
static bool has_labels(const struct process_table *t, const struct process *p,
                       const struct filter_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		size_t length = strcspn(list->items[i], "=");
		bool any = false;

		for (size_t k = 0; !any && k < list->count; k++)
			any = strcspn(list->items[k], "=") == length &&
			      !memcmp(list->items[i], list->items[k], length) &&
			      has_label(t, p, list->items[k]);
		if (!any)
			return false;
	}
	return true;
}

static bool match_labels(const struct process_table *t, const struct matcher *m, uint32_t process)
{
	if (!m->labelled)
		return true;
	if (m->labelled[process] == LABEL_UNKNOWN)
		m->labelled[process] =
		        has_labels(t, process_table_process(t, process), &m->filter->label)
		                ? LABEL_MATCHES
		                : LABEL_OTHER;
	return m->labelled[process] == LABEL_MATCHES;
}

static bool match_who(struct view *v, const struct matcher *m, const struct profile_row *row)
{
	const struct process_table *t = v->profile->processes;
	const struct thread *thread = process_table_thread_at(t, row->thread);
	const struct process *process = process_table_process(t, thread->process);

	const char *cgroup =
	        process->cgroup == ID_NONE ? NULL : process_table_name(t, process->cgroup);

	return in_cgroup(&m->filter->cgroup, cgroup) && match_labels(t, m, thread->process) &&
	       filter_ranges_have(&m->pid, process->pid) &&
	       filter_ranges_have(&m->tid, thread->tid) && filter_ranges_have(&m->cpu, row->cpu) &&
	       filter_list_has(&m->filter->comm, process_table_name(t, process->name),
	                       process_table_name(t, thread->name));
}

static bool has_who(const struct filter *f)
{
	return f->comm.count || f->pid.count || f->tid.count || f->cgroup.count || f->label.count;
}

/* Interrupts are selected by their name, or if no process is requested. */
static bool match_interrupt(const struct matcher *m, const struct profile_row *row)
{
	const struct filter *f = m->filter;
	bool named = f->comm.count && !f->pid.count && !f->tid.count && !f->cgroup.count &&
	             !f->label.count && filter_list_has(&f->comm, VIEW_INTERRUPTS, VIEW_INTERRUPTS);

	return (named || !has_who(f)) && filter_ranges_have(&m->cpu, row->cpu);
}

static bool match_where(struct view *v, const struct filter *f, const struct profile_row *row)
{
	const struct profile *p = v->profile;
	const struct profile_frame *frame;

	if (!f->image.count && !f->function.count)
		return true;
	if (row->path == PATH_ROOT)
		return false;
	frame = &p->frames.items[p->paths.items[row->path].frame];
	if (!filter_list_has(&f->image, image_path(&p->images, frame->frame.image),
	                     view_image_short(v, frame->frame.image)))
		return false;
	if (f->function.count) {
		const char *name = view_function(v, p->paths.items[row->path].frame)->name;

		return filter_list_has(&f->function, name, name);
	}
	return true;
}

static void select_row(struct view *v, const struct matcher *m, uint32_t id, struct selection *out)
{
	const struct profile_row *row = &v->profile->rows.items[id];
	enum attr_role role = v->profile->events.items[row->event].role;
	bool hits;

	if (row->event != out->event && role != ATTR_SWITCH && role != ATTR_WITNESS)
		return;
	if (m->filter->no_idle && row->mode == PROFILE_IDLE)
		return;
	if (row->event == out->event && !m->filter->relative) {
		out->base_samples += row->samples;
		out->base_weight += row->weight;
	}
	if (!match_where(v, m->filter, row))
		return;
	hits = match_who(v, m, row);
	if (view_is_interrupt(v, row)) {
		if (hits && row->event == out->event)
			vec_push(&out->hits, id);
		if (!match_interrupt(m, row))
			return;
	} else if (!hits) {
		return;
	}
	if (row->event == out->event) {
		vec_push(&out->rows, id);
		out->samples += row->samples;
		out->weight += row->weight;
	}
	if (role == ATTR_WITNESS) {
		out->witness_event = row->event;
		vec_push(&out->witness, id);
	} else if (role == ATTR_SWITCH && view_process(v, row)->pid != 0) {
		vec_push(&out->waits, id);
	}
}

/*
 * Only a clock has a timer that a program may be in step with. Two clocks can be compared only
 * while both tick: if many samples were lost or the rate was lowered, they cover different times.
 */
static bool has_witness(const struct profile *p, uint8_t event)
{
	vec_each (rec, &p->recordings) {
		const struct recording *r = *rec;

		if (recording_lost(r) * LOST_PART > r->samples || r->account.rates.count)
			return false;
	}
	return event < p->events.count && p->events.items[event].role == ATTR_CLOCK;
}

bool filter_is_empty(const struct filter *f)
{
	return !f->comm.count && !f->pid.count && !f->tid.count && !f->cpu.count &&
	       !f->image.count && !f->function.count && !f->cgroup.count && !f->label.count;
}

int filter_select(struct view *v, const struct filter *f, uint8_t event, struct selection *out,
                  struct error *err)
{
	struct matcher m = {.filter = f};
	int ret;

	if (f->label.count)
		m.labelled = xcalloc(process_table_process_count(v->profile->processes) + 1, 1);
	*out = (struct selection){.event = event, .own_base = f->relative, .no_idle = f->no_idle};
	ret = filter_ranges_parse(&f->pid, "process", false, &m.pid, err);
	if (!ret)
		ret = filter_ranges_parse(&f->tid, "thread", false, &m.tid, err);
	if (!ret)
		ret = filter_ranges_parse(&f->cpu, "CPU", true, &m.cpu, err);
	if (!ret)
		for (size_t i = 0; i < v->profile->rows.count; i++)
			select_row(v, &m, (uint32_t)i, out);
	if (!has_witness(v->profile, event))
		out->witness.count = 0;
	if (f->relative) {
		out->base_samples = out->samples;
		out->base_weight = out->weight;
	}
	vec_done(&m.pid);
	vec_done(&m.tid);
	vec_done(&m.cpu);
	free(m.labelled);
	return ret;
}

void selection_done(struct selection *s)
{
	vec_done(&s->rows);
	vec_done(&s->waits);
	vec_done(&s->hits);
	vec_done(&s->witness);
}

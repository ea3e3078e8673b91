/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view.h"

#include "view/joined.h"

#include <string.h>

#define INLINES_MAX 64

struct view *view_new(const struct profile *profile, struct symbolizer *symbols)
{
	struct view *v = xcalloc(1, sizeof(*v));

	v->profile = profile;
	v->symbols = symbols;
	v->functions = xcalloc(profile->frames.count + 1, sizeof(*v->functions));
	v->frame_entries = xcalloc(profile->frames.count + 1, 1);
	v->before = xcalloc(profile->frames.count + 1, 1);
	v->entries = xcalloc(profile->paths.count + 1, 1);
	v->interrupts = xcalloc(profile->rows.count + 1, 1);
	sample_order_init(&v->order, &profile->axis);
	return v;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	free(v->functions);
	free(v->frame_entries);
	free(v->before);
	free(v->entries);
	free(v->interrupts);
	sample_order_done(&v->order);
	view_joined_free(v->joined);
	free(v->chains);
	vec_done(&v->inlined);
	free(v);
}

struct frame view_place_of(const struct profile *p, uint32_t frame)
{
	return profile_frame_place(p, &p->frames.items[frame]);
}

struct frame view_place(const struct view *v, uint32_t frame)
{
	return view_place_of(v->profile, frame);
}

const struct symbol *view_function(struct view *v, uint32_t frame)
{
	if (!v->functions[frame])
		v->functions[frame] = symbolizer_find(v->symbols, view_place(v, frame));
	return v->functions[frame];
}

const char *const *view_inlined(struct view *v, uint32_t frame)
{
	static const char *const none = NULL;
	struct symbol_inline found[INLINES_MAX];
	size_t count;

	if (!v->inlines)
		return &none;
	if (!v->chains)
		v->chains = xcalloc(v->profile->frames.count + 1, sizeof(*v->chains));
	if (!v->chains[frame]) {
		v->chains[frame] = (uint32_t)v->inlined.count + 1;
		count = symbolizer_inlines(v->symbols, view_place(v, frame), found, INLINES_MAX);
		while (count--)
			vec_push(&v->inlined, found[count].name);
		vec_push(&v->inlined, NULL);
	}
	return &v->inlined.items[v->chains[frame] - 1];
}

const char *view_inlines_text(bool apart)
{
	return apart ? "counted apart" : "a part of the function that contains them";
}

void view_line_text(struct view *v, uint32_t frame, bool brief, struct buf *out)
{
	const char *file, *slash;
	int line;

	if (!symbolizer_line(v->symbols, view_place(v, frame), &file, &line)) {
		buf_addf(out, "%s:?", symbol_text(view_function(v, frame)));
		return;
	}
	slash = brief ? strrchr(file, '/') : NULL;
	buf_addf(out, "%s:%d", slash ? slash + 1 : file, line);
}

static enum kernel_entry frame_entry(struct view *v, uint32_t frame)
{
	const struct symbol *symbol;
	enum kernel_entry entry;

	if (v->frame_entries[frame])
		return (enum kernel_entry)(v->frame_entries[frame] - 1);
	symbol = view_function(v, frame);
	entry = symbol->named ? kernel_entry_of(symbol->name) : ENTRY_NONE;
	v->frame_entries[frame] = (uint8_t)(entry + 1);
	return entry;
}

/* Caches the result in every node between the path and the node that decides. */
enum kernel_entry view_entry(struct view *v, uint32_t path)
{
	const struct profile *p = v->profile;
	enum kernel_entry entry = ENTRY_NONE;
	uint32_t node = path;

	while (node != PATH_ROOT && p->frames.items[p->paths.items[node].frame].kernel) {
		if (v->entries[node]) {
			entry = (enum kernel_entry)(v->entries[node] - 1);
			break;
		}
		entry = frame_entry(v, p->paths.items[node].frame);
		if (entry != ENTRY_NONE) {
			v->entries[node] = (uint8_t)(entry + 1);
			break;
		}
		node = p->paths.items[node].parent;
	}
	for (uint32_t n = path; n != node; n = p->paths.items[n].parent)
		v->entries[n] = (uint8_t)(entry + 1);
	return entry;
}

enum view_mode view_mode(struct view *v, const struct profile_row *row)
{
	uint8_t *known;

	switch (row->mode) {
	case PROFILE_USER:
		return VIEW_USER;
	case PROFILE_IDLE:
		return VIEW_IDLE;
	case PROFILE_GUEST:
		return VIEW_GUEST;
	case PROFILE_UNKNOWN:
		return VIEW_UNKNOWN;
	}
	known = &v->interrupts[row - v->profile->rows.items];
	if (!*known)
		*known = kernel_entry_is_interrupt(view_entry(v, row->path)) ? 2 : 1;
	return *known == 2 ? VIEW_IRQ : VIEW_KERNEL;
}

const char *view_mode_name(enum view_mode mode)
{
	static const char *const names[] = {"user", "kernel", "irq", "idle", "guest", "unknown"};

	return names[mode];
}

bool view_is_interrupt(struct view *v, const struct profile_row *row)
{
	enum attr_role role = v->profile->events.items[row->event].role;

	if (role == ATTR_SWITCH || view_mode(v, row) != VIEW_IRQ)
		return false;
	return role != ATTR_COUNT || view_wait_path(v, row->path) == row->path;
}

uint32_t view_counted_process(struct view *v, const struct profile_row *row)
{
	if (view_is_interrupt(v, row))
		return ID_NONE;
	return process_table_thread_at(v->profile->processes, row->thread)->process;
}

const char *view_process_name(const struct view *v, uint32_t process)
{
	const struct process_table *t = v->profile->processes;

	return process == ID_NONE ? VIEW_INTERRUPTS
	                          : process_table_name(t, process_table_process(t, process)->name);
}

const struct process *view_process(const struct view *v, const struct profile_row *row)
{
	const struct process_table *t = v->profile->processes;

	return process_table_process(t, process_table_thread_at(t, row->thread)->process);
}

const char *view_image_short(const struct view *v, uint32_t image)
{
	return image_name(&v->profile->images, image);
}

static bool is_scheduler(const char *name)
{
	static const char *const prefixes[] = {"__schedule",  "schedule",       "preempt_schedule",
	                                       "io_schedule", "__cond_resched", "__pfx___schedule"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

uint32_t view_wait_path(struct view *v, uint32_t path)
{
	const struct profile *p = v->profile;
	uint32_t node = path;

	while (node != PATH_ROOT) {
		uint32_t frame = p->paths.items[node].frame;
		const struct symbol *symbol = view_function(v, frame);

		if (!p->frames.items[frame].kernel || !symbol->named || !is_scheduler(symbol->name))
			return node;
		node = p->paths.items[node].parent;
	}
	return path;
}

uint32_t view_row_path(struct view *v, const struct profile_row *row)
{
	bool is_switch = v->profile->events.items[row->event].role == ATTR_SWITCH;

	return is_switch || row->runnable_ns || row->blocked_ns ? view_wait_path(v, row->path)
	                                                        : row->path;
}

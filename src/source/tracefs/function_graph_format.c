/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_graph: decodes the records of the kernel's buffers by the formats in tracefs.
 */
#include "source/tracefs/function_graph_internal.h"

#include <errno.h>
#include <string.h>
#include <tracefs/tracefs.h>
#include <traceevent/event-parse.h>

/* include/linux/trace_events.h: the flags in each record's header */
#define FLAG_HARDIRQ 0x08
#define FLAG_NMI 0x40

/* include/linux/sched.h, as the switch event reports states: lower values are sleeping states */
#define STATE_ASLEEP 0xff
#define STATE_DEAD 0x30 /* EXIT_DEAD, EXIT_ZOMBIE */

#define CLONE_THREAD_FLAG 0x10000u

enum field_name { FUNCTION, DEPTH, OTHER_PID, STATE, COMM, CLONE_FLAGS, FILENAME, FIELD_NAMES };

_Static_assert(FIELD_NAMES == GRAPH_FIELDS, "one entry for each field");

static const struct trace_record_kind {
	enum graph_event_kind kind;
	const char *system, *name;
	const char *fields[GRAPH_FIELDS]; /* NULL: not used for this event */
} kinds[GRAPH_KINDS] = {
        {GRAPH_ENTRY, "ftrace", "funcgraph_entry", {[FUNCTION] = "func", [DEPTH] = "depth"}},
        {GRAPH_EXIT, "ftrace", "funcgraph_exit", {[FUNCTION] = "func", [DEPTH] = "depth"}},
        {GRAPH_SWITCH,
         "sched",
         "sched_switch",
         {[OTHER_PID] = "next_pid", [STATE] = "prev_state", [COMM] = "prev_comm"}},
        {GRAPH_NEW, "task", "task_newtask", {[OTHER_PID] = "pid", [CLONE_FLAGS] = "clone_flags"}},
        {GRAPH_EXEC, "sched", "sched_process_exec", {[FILENAME] = "filename"}},
};

static struct graph_field field_of(const struct tep_format_field *f)
{
	return (struct graph_field){.offset = (size_t)f->offset,
	                            .size = (size_t)f->size,
	                            .is_signed = f->flags & TEP_FIELD_IS_SIGNED};
}

static int read_layouts(struct graph_format *format, const char *top, struct tep_handle *tep,
                        struct error *err)
{
	for (size_t i = 0; i < GRAPH_KINDS; i++) {
		const struct trace_record_kind *k = &kinds[i];
		struct tep_event *event = tep_find_event_by_name(tep, k->system, k->name);

		if (!event)
			return error_set(
			        err, ENOTSUP,
			        "%s/events/%s/%s: the kernel has no such event, and kernel "
			        "call paths need it",
			        top, k->system, k->name);
		format->layouts[i].id = (uint64_t)event->id;
		format->type = field_of(tep_find_common_field(event, "common_type"));
		format->flags = field_of(tep_find_common_field(event, "common_flags"));
		format->pid = field_of(tep_find_common_field(event, "common_pid"));
		for (size_t n = 0; n < GRAPH_FIELDS; n++) {
			struct tep_format_field *f =
			        k->fields[n] ? tep_find_field(event, k->fields[n]) : NULL;

			if (k->fields[n] && !f)
				return error_set(err, ENOTSUP,
				                 "%s/events/%s/%s/format: no field %s", top,
				                 k->system, k->name, k->fields[n]);
			if (f)
				format->layouts[i].fields[n] = field_of(f);
		}
	}
	return 0;
}

int graph_format_read(struct graph_format *format, const char *top, struct error *err)
{
	static const char *const systems[] = {"ftrace", "sched", "task", NULL};
	struct tep_handle *tep = tracefs_local_events_system(top, systems);
	int status;

	if (!tep)
		return error_set(err, EIO, "%s/events: cannot read the formats", top);
	status = read_layouts(format, top, tep, err);
	tep_free(tep);
	return status;
}

static bool is_inside(const struct graph_field *f, size_t bytes, size_t record_size)
{
	return f->offset <= record_size && bytes <= record_size - f->offset;
}

/* The value of a field; 0 if the record is too short to contain it. */
static int64_t number(const struct graph_field *f, const uint8_t *record, size_t size)
{
	uint64_t value = 0;
	size_t bytes = f->size < sizeof(value) ? f->size : sizeof(value);

	if (!bytes || !is_inside(f, bytes, size))
		return 0;
	memcpy(&value, record + f->offset,
	       bytes); /* little endian, as all supported architectures */
	if (f->is_signed && bytes < sizeof(value) && value >> (bytes * 8 - 1))
		value |= ~(uint64_t)0 << (bytes * 8);
	return (int64_t)value;
}

/* Copies the last component of a path, or a name, truncated to the buffer. */
static void take_name(char into[16], const uint8_t *text, size_t size)
{
	size_t begin = 0, end = 0;

	for (; end < size && text[end]; end++)
		if (text[end] == '/')
			begin = end + 1;
	if (end - begin > 15)
		end = begin + 15;
	memcpy(into, text + begin, end - begin);
	into[end - begin] = '\0';
}

static void take_filename(char into[16], const struct graph_field *f, const uint8_t *record,
                          size_t size)
{
	/* __data_loc: offset in the record, and length */
	uint64_t where = (uint64_t)number(f, record, size) & 0xffffffff;
	size_t offset = where & 0xffff, length = where >> 16;

	if (offset > size)
		offset = size;
	take_name(into, record + offset, length < size - offset ? length : size - offset);
}

bool graph_format_decode(const struct graph_format *format, const uint8_t *record, size_t size,
                         struct graph_event *e)
{
	uint64_t type = (uint64_t)number(&format->type, record, size);
	const struct graph_field *f;
	size_t i;

	for (i = 0; i < GRAPH_KINDS && format->layouts[i].id != type; i++)
		;
	if (i == GRAPH_KINDS)
		return false;
	f = format->layouts[i].fields;
	e->kind = kinds[i].kind;
	e->task = (int32_t)number(&format->pid, record, size);
	switch (e->kind) {
	case GRAPH_ENTRY:
	case GRAPH_EXIT:
		e->interrupt = number(&format->flags, record, size) & (FLAG_HARDIRQ | FLAG_NMI);
		e->function = (uint64_t)number(&f[FUNCTION], record, size);
		e->depth = (int32_t)number(&f[DEPTH], record, size);
		break;
	case GRAPH_SWITCH:
		e->other = (int32_t)number(&f[OTHER_PID], record, size);
		e->preempted = !(number(&f[STATE], record, size) & STATE_ASLEEP);
		e->dead = number(&f[STATE], record, size) & STATE_DEAD;
		if (is_inside(&f[COMM], f[COMM].size, size))
			take_name(e->name, record + f[COMM].offset, f[COMM].size);
		break;
	case GRAPH_NEW:
		e->other = (int32_t)number(&f[OTHER_PID], record, size);
		e->thread = number(&f[CLONE_FLAGS], record, size) & CLONE_THREAD_FLAG;
		break;
	case GRAPH_EXEC:
		take_filename(e->name, &f[FILENAME], record, size);
		break;
	case GRAPH_LOST:
		break;
	}
	return true;
}

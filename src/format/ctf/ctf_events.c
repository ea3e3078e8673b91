/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Derives names and kinds of tags from the event classes of a CTF trace. Two events, with an even
 * id and the next, NAME and NAME:exit, are one function. Traces of assay have notes with the kinds
 * of the other events (docs/FORMAT.md). In copies of such traces one of the two events may be
 * missing, and the notes are loglevels. Uses: base, tags.
 */
#include "format/ctf/ctf_layout.h"

#include "format/ctf/names_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXIT ":exit"

static int by_class_and_id(const void *a, const void *b)
{
	const struct ctf_event *one = *(const struct ctf_event *const *)a;
	const struct ctf_event *other = *(const struct ctf_event *const *)b;

	if (one->stream != other->stream)
		return one->stream < other->stream ? -1 : 1;
	return one->id < other->id ? -1 : one->id > other->id;
}

static int wrong(const struct ctf_metadata *m, const struct ctf_event *e, const char *what,
                 struct error *err)
{
	return error_set(err, EINVAL, "%s:%zu: %s", m->path, e->line, what);
}

static char note_of(uint8_t level)
{
	switch (level) {
	case CTF_LEVEL_SWITCH:
		return tag_kind_mark(TAG_SWITCH);
	case CTF_LEVEL_INLINE:
		return tag_kind_mark(TAG_INLINE);
	case CTF_LEVEL_IDLE:
		return tag_kind_mark(TAG_IDLE);
	case CTF_LEVEL_INTERRUPT:
		return tag_kind_mark(TAG_INTERRUPT);
	case CTF_LEVEL_OTHER:
		return 's';
	default:
		return 0;
	}
}

/* An event without stream_id belongs to the only class. */
static int complete(struct ctf_metadata *m, struct ctf_event *e, struct error *err)
{
	if (!e->has_id)
		return wrong(m, e, "an event without id", err);
	if (e->id > ASSAY_TAGS_TAG_MASK)
		return wrong(m, e, "an event id of 2^24 or more, which is not a tag", err);
	if (e->name == CTF_NONE)
		return wrong(m, e, "an event without a name", err);
	if (m->ours && !e->note)
		e->note = note_of(e->level);
	if (e->has_stream)
		return 0;
	if (m->classes.count > 1)
		return wrong(m, e, "an event without stream_id, and there are several streams",
		             err);
	e->stream = m->classes.items[0].id;
	return 0;
}

static bool is_exit_of(const struct ctf_metadata *m, const struct ctf_event *exit,
                       const struct ctf_event *entry)
{
	const char *name = ctf_text(m, entry->name), *text = ctf_text(m, exit->name);
	size_t length = strlen(name);

	return exit->stream == entry->stream && exit->id == entry->id + 1 &&
	       (!exit->note || exit->note == entry->note) && !strncmp(text, name, length) &&
	       !strcmp(text + length, EXIT);
}

static struct tag_names *names_of(const struct ctf_trace *t, uint64_t id)
{
	uint32_t class = ctf_class_find(t, id);

	return class == ID_NONE ? NULL : t->names.items[class];
}

/* Adds the name that begins at event i; returns the number of its events. */
static int add_name(struct tag_names *names, const struct ctf_metadata *m,
                    struct ctf_event *const *events, size_t left, size_t *took, struct error *err)
{
	const struct ctf_event *e = events[0];
	const char *name = ctf_text(m, e->name);
	size_t length = strlen(name);
	bool pair = left > 1 && !(e->id % 2) && is_exit_of(m, events[1], e);
	bool lone = !pair && m->ours && e->note != '=' && length > strlen(EXIT) && e->id % 2 &&
	            !strcmp(name + length - strlen(EXIT), EXIT);
	bool function = pair || lone || (m->ours && !(e->id % 2));
	enum tag_kind kind = function ? tag_kind_of_mark(e->note) : TAG_INLINE;
	struct error why = {0};
	int rc;

	*took = 1;
	if (e->note == '?' || e->note == 's')
		return 0;
	*took = kind != TAG_INLINE && pair ? 2 : 1;
	if (lone) /* the trace has no entry of it */
		length -= strlen(EXIT);
	rc = tag_names_add(names, (uint32_t)e->id - lone, kind, name, length, &why);
	return rc ? error_set(err, -rc, "%s:%zu: %.800s", m->path, e->line, why.text) : 0;
}

static int add_names(struct ctf_trace *t, const struct ctf_metadata *m, struct ctf_event **events,
                     size_t count, struct error *err)
{
	struct tag_names *names = NULL;
	uint64_t class = 0;
	size_t took;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i += took) {
		const struct ctf_event *e = events[i];

		if (!names || class != e->stream)
			names = names_of(t, class = e->stream);
		if (!names)
			return wrong(m, e, "an event of a stream that is not declared", err);
		if (i && events[i - 1]->stream == e->stream && events[i - 1]->id == e->id)
			return wrong(m, e, "a second event of the same id", err);
		rc = add_name(names, m, events + i, count - i, &took, err);
	}
	return rc;
}

/* Comments have the names of tags without events, in the format of a names file. */
static int add_noted(struct ctf_trace *t, const struct ctf_metadata *m, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < m->names.count && !rc; i++) {
		const struct ctf_names_note *note = &m->names.items[i];
		const char *line = memchr(note->text, '\n', note->length);
		uint64_t id = 0;
		struct tag_names *names;
		char *path;

		for (const char *p = note->text; line && p < line && *p >= '0' && *p <= '9'; p++)
			id = id * 10 + (uint64_t)(*p - '0');
		names = names_of(t, id);
		if (!line || !names)
			return error_set(err, EINVAL,
			                 "%s:%zu: names of a stream that is not declared", m->path,
			                 note->line);
		path = xasprintf("%s:%zu: names", m->path, note->line);
		rc = names_file_parse(names, line, note->length - (size_t)(line - note->text), path,
		                      err);
		free(path);
	}
	return rc;
}

int ctf_events_name(struct ctf_trace *t, const struct ctf_metadata *m, struct error *err)
{
	struct ctf_event **events = xcalloc(m->events.count + 1, sizeof(*events));
	bool sorted = true;
	int rc = 0;

	for (size_t i = 0; i < t->classes.count; i++)
		vec_push(&t->names, tag_names_new());
	for (size_t i = 0; i < m->events.count && !rc; i++) {
		events[i] = &m->events.items[i];
		rc = complete((struct ctf_metadata *)(uintptr_t)m, events[i], err);
		sorted = sorted && (!i || by_class_and_id(&events[i - 1], &events[i]) <= 0);
	}
	if (!rc && !sorted)
		qsort(events, m->events.count, sizeof(*events), by_class_and_id);
	if (!rc)
		rc = add_names(t, m, events, m->events.count, err);
	if (!rc)
		rc = add_noted(t, m, err);
	free(events);
	return rc;
}

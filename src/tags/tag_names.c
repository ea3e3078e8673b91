/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names are stored in blocks that never move, so that pointers to them stay valid while names are
 * added. A table of pages maps a tag to its name in two steps: tags are dense where they exist. The
 * order by tag is computed at the first request. Uses: base.
 */
#include "tags/tag_names.h"

#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "base/memory/vec.h"
#include "base/piece.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TAG_END (1u << 24)
#define PIECE PIECE_OF(1024u)
#define PAGE 4096u

struct tag_names {
	VEC(struct tag_name *) pieces;
	size_t count;
	uint32_t *pages[TAG_END / PAGE]; /* number of the name + 1; NULL: no name in this page */
	uint32_t last;                   /* the greatest tag so far */
	/* False as long as names were added by ascending tag, and so are in order. */
	bool shuffled;
	_Atomic bool ordered;
	pthread_mutex_t ordering;
	uint32_t *order;
	struct intern left_out; /* its first text is "" */
};

static const char marks[TAG_KINDS] = {
        [TAG_SWITCH] = '!', [TAG_INLINE] = '=', [TAG_IDLE] = '~', [TAG_INTERRUPT] = '^'};

char tag_kind_mark(enum tag_kind kind)
{
	return marks[kind];
}

enum tag_kind tag_kind_of_mark(char mark)
{
	for (int kind = 1; mark && kind < TAG_KINDS; kind++)
		if (marks[kind] == mark)
			return kind;
	return TAG_FUNCTION;
}

static struct tag_name *item(const struct tag_names *n, size_t i)
{
	return &n->pieces.items[i / PIECE][i % PIECE];
}

struct tag_names *tag_names_new(void)
{
	struct tag_names *n = xcalloc(1, sizeof(*n));

	pthread_mutex_init(&n->ordering, NULL);
	intern_init(&n->left_out);
	return n;
}

void tag_names_free(struct tag_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->count; i++) {
		struct tag_name *name = item(n, i);

		if (name->shown != name->name)
			free((char *)(uintptr_t)name->shown);
		free((char *)(uintptr_t)name->name);
	}
	for (size_t i = 0; i < n->pieces.count; i++)
		free(n->pieces.items[i]);
	vec_done(&n->pieces);
	for (size_t i = 0; i < TAG_END / PAGE; i++)
		free(n->pages[i]);
	free(n->order);
	intern_done(&n->left_out);
	pthread_mutex_destroy(&n->ordering);
	free(n);
}

/* The name with exactly this tag. */
static struct tag_name *holder(const struct tag_names *n, uint32_t tag)
{
	const uint32_t *page = tag < TAG_END ? n->pages[tag / PAGE] : NULL;

	return page && page[tag % PAGE] ? item(n, page[tag % PAGE] - 1) : NULL;
}

static void hold(struct tag_names *n, uint32_t tag)
{
	uint32_t **page = &n->pages[tag / PAGE];

	if (!*page)
		*page = xcalloc(PAGE, sizeof(**page));
	(*page)[tag % PAGE] = (uint32_t)n->count;
}

/* The name that has the tag or, for a function, one of its two tags. */
static const struct tag_name *taken(const struct tag_names *n, uint32_t tag, enum tag_kind kind)
{
	const struct tag_name *had = holder(n, tag);

	return had || kind == TAG_INLINE ? had : holder(n, tag + 1);
}

static int check(const struct tag_names *n, uint32_t tag, enum tag_kind kind, const char *name,
                 size_t length, struct error *err)
{
	const struct tag_name *had;
	int shown = length < 200 ? (int)length : 200;

	if (!length || memchr(name, '\0', length))
		return error_set(err, EINVAL, "tag %u has no name", tag);
	if (tag >= TAG_END)
		return error_set(err, EINVAL, "the tag of %.*s is %u: tags are below %u", shown,
		                 name, tag, TAG_END);
	if (kind != TAG_INLINE && tag % 2)
		return error_set(err, EINVAL,
		                 "the tag of %.*s is %u: a function's tag must be even, and its "
		                 "exit is the next tag (an inline tag is followed by =)",
		                 shown, name, tag);
	had = taken(n, tag, kind);
	if (!had)
		return 0;
	if (had->tag == tag && had->kind == kind && strlen(had->name) == length &&
	    !memcmp(had->name, name, length))
		return -EALREADY;
	return error_set(err, EEXIST,
	                 "tag %u belongs to %.200s (%s) and cannot also belong to %.*s (%s): names "
	                 "files that were extended separately cannot be merged",
	                 tag, had->name, had->kind == TAG_INLINE ? "an inline tag" : "a function",
	                 shown, name, kind == TAG_INLINE ? "an inline tag" : "a function");
}

int tag_names_add(struct tag_names *n, uint32_t tag, enum tag_kind kind, const char *name,
                  size_t length, struct error *err)
{
	struct tag_name *made;
	int rc = check(n, tag, kind, name, length, err);

	if (rc)
		return rc == -EALREADY ? 0 : rc;
	if (n->count == n->pieces.count * PIECE)
		vec_push(&n->pieces, xcalloc(PIECE, sizeof(*made)));
	made = item(n, n->count);
	made->tag = tag;
	made->kind = kind;
	made->name = xstrndup(name, length);
	n->shuffled |= n->count && tag < n->last;
	n->last = tag > n->last ? tag : n->last;
	atomic_store(&n->ordered, false);
	n->count++;
	hold(n, tag);
	if (kind != TAG_INLINE)
		hold(n, tag + 1);
	return 0;
}

const struct tag_name *tag_names_find(const struct tag_names *n, uint32_t tag, bool *exit)
{
	const struct tag_name *name = holder(n, tag);

	*exit = name && name->tag != tag;
	return name;
}

void tag_names_leave_out(struct tag_names *n, const char *name)
{
	intern_add(&n->left_out, name);
}

size_t tag_names_left_out_count(const struct tag_names *n)
{
	return n->left_out.texts.count - 1;
}

const char *tag_names_left_out(const struct tag_names *n, size_t i)
{
	return intern_text(&n->left_out, (uint32_t)i + 1);
}

size_t tag_names_count(const struct tag_names *n)
{
	return n->count;
}

static int by_tag(const void *a, const void *b, void *of)
{
	uint32_t one = item(of, *(const uint32_t *)a)->tag;
	uint32_t other = item(of, *(const uint32_t *)b)->tag;

	return one < other ? -1 : one > other;
}

/* Several threads may read: the first one that needs the order sorts. The release store of
 * `ordered` pairs with the acquire load in tag_names_at(). */
static void put_in_order(struct tag_names *n)
{
	pthread_mutex_lock(&n->ordering);
	if (!atomic_load(&n->ordered)) {
		n->order = xrealloc(n->order, n->count, sizeof(*n->order));
		for (size_t i = 0; i < n->count; i++)
			n->order[i] = (uint32_t)i;
		qsort_r(n->order, n->count, sizeof(*n->order), by_tag, n);
		atomic_store_explicit(&n->ordered, true, memory_order_release);
	}
	pthread_mutex_unlock(&n->ordering);
}

const struct tag_name *tag_names_at(const struct tag_names *n, size_t i)
{
	if (!n->shuffled)
		return item(n, i);
	if (!atomic_load_explicit(&n->ordered, memory_order_acquire))
		put_in_order((struct tag_names *)(uintptr_t)n);
	return item(n, n->order[i]);
}

/* The shown texts, and the number of names with the same text. */
struct showing {
	VEC(char *) texts;   /* one per name */
	VEC(uint32_t) same;  /* per name: the first name with the same text */
	VEC(uint32_t) alike; /* per first name: the number of names with its text */
	struct id_table table;
};

static bool same_text(const void *of, uint32_t id, const void *text)
{
	const struct showing *s = of;

	return !strcmp(s->texts.items[id], text);
}

/* The name of a function without @FILE, demangled. */
static char *bare(const struct tag_name *name, char *(*demangle)(const char *name))
{
	char *text, *nice;

	if (name->kind == TAG_INLINE)
		return xstrdup(name->name);
	/* Searches after the first character: a name that begins with @ would become empty. */
	text = xstrndup(name->name, 1 + strcspn(name->name + 1, "@"));
	nice = demangle ? demangle(text) : NULL;
	if (!nice)
		return text;
	free(text);
	return nice;
}

static void count_alike(struct showing *s, char *text)
{
	uint64_t hash = hash_bytes(text, strlen(text));
	uint32_t id = (uint32_t)s->texts.count;
	uint32_t first = id_table_find(&s->table, hash, same_text, s, text);

	vec_push(&s->texts, text);
	vec_push(&s->alike, 0);
	if (first == ID_NONE) {
		id_table_add(&s->table, hash, id);
		first = id;
	}
	vec_push(&s->same, first);
	s->alike.items[first]++;
}

void tag_names_show(struct tag_names *n, char *(*demangle)(const char *name))
{
	struct showing s = {0};

	for (size_t i = 0; i < n->count; i++)
		count_alike(&s, bare(item(n, i), demangle));
	for (size_t i = 0; i < n->count; i++) {
		struct tag_name *name = item(n, i);
		const char *file = name->kind == TAG_INLINE ? NULL : strchr(name->name + 1, '@');
		bool tell = file && s.alike.items[s.same.items[i]] > 1;

		if (name->shown != name->name)
			free((char *)(uintptr_t)name->shown);
		name->shown = tell ? xasprintf("%s%s", s.texts.items[i], file)
		                   : xstrdup(s.texts.items[i]);
	}
	for (size_t i = 0; i < n->count; i++)
		free(s.texts.items[i]);
	vec_done(&s.texts);
	vec_done(&s.same);
	vec_done(&s.alike);
	id_table_done(&s.table);
}

bool tag_names_of_kernel(const struct tag_names *n)
{
	for (size_t i = 0; i < tag_names_count(n); i++) {
		const struct tag_name *name = tag_names_at(n, i);

		if (name->kind == TAG_SWITCH && (!strncmp(name->name, "__switch_to", 11) ||
		                                 !strncmp(name->name, "context_switch", 14)))
			return true;
	}
	return false;
}

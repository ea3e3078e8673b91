/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/profiles/callgrind_read.h"

#include "base/text/plural.h"
#include "format/profiles/profile_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX (NAMED_VALUES - 1) /* the last value is the number of calls */
#define EVENTS_TOLD 8
#define POSITIONS_MAX 2 /* instr line */
#define NAME_IDS_MAX ((uint64_t)1 << 24)

/* The names of one kind, by their number in the file: a text + 1. */
typedef VEC(uint32_t) name_table;

struct callgrind_reader {
	struct symbolized_profile *n;
	struct profile_text t;
	struct profile_names names;
	name_table functions, files, objects;
	VEC(uint32_t) images; /* by text: image + 1 */
	struct named_function at, callee;
	unsigned events, positions;
	unsigned columns[EVENTS_MAX]; /* by value: the number of the event in the file */
	bool in_call;                 /* the next line has the callee's costs */
	bool in_jump;                 /* the next line has the position of a jump, and no costs */
	uint32_t owner;
	size_t rounded;   /* numbers with a fraction */
	size_t undefined; /* uses of files and objects whose names the file does not define */
};

static bool begins(const char *line, size_t size, const char *word)
{
	size_t length = strlen(word);

	return size >= length && !memcmp(line, word, length);
}

bool callgrind_recognise(const void *bytes, size_t size)
{
	struct profile_text t;
	const char *line;
	size_t count;

	profile_text_init(&t, NULL, bytes, size);
	while (profile_text_line(&t, &line, &count)) {
		if (begins(line, count, "# callgrind format"))
			return true;
		if (begins(line, count, "creator: callgrind") || begins(line, count, "events: "))
			return true;
		if (count && *line != '#' && !begins(line, count, "version: ") &&
		    !begins(line, count, "creator: ") && !begins(line, count, "pid: ") &&
		    !begins(line, count, "cmd: ") && !begins(line, count, "part: ") &&
		    !begins(line, count, "desc: ") && !begins(line, count, "positions: ") &&
		    !begins(line, count, "event: "))
			return false;
	}
	return false;
}

/*
 * "(12) name", "(12)" or "name". Old versions of callgrind leave out the definitions of some files
 * and objects; their costs are read, as callgrind_annotate does.
 */
static int read_name(struct callgrind_reader *r, name_table *table, const char *text, size_t size,
                     uint32_t *name, struct error *err)
{
	const char *begin = text, *close = size && *text == '(' ? memchr(text, ')', size) : NULL;
	int64_t number;

	if (!close || !profile_text_number(text + 1, (size_t)(close - text) - 1, &number)) {
		*name = profile_names_text(&r->names, r->n, text, size);
		return 0;
	}
	if ((uint64_t)number >= NAME_IDS_MAX)
		return profile_text_bad(&r->t, err, "the number of a name is too large");
	while (table->count <= (size_t)number)
		vec_push(table, 0);
	size -= (size_t)(close + 1 - text);
	text = close + 1;
	for (; size && *text == ' '; text++)
		size--;
	if (size)
		table->items[number] = profile_names_text(&r->names, r->n, text, size) + 1;
	if (table->items[number]) {
		*name = table->items[number] - 1;
		return 0;
	}
	if (table == &r->functions)
		return profile_text_bad(&r->t, err, "name (%" PRId64 ") was not defined", number);
	r->undefined++;
	*name = profile_names_text(&r->names, r->n, begin, (size_t)(close + 1 - begin));
	table->items[number] = *name + 1; /* each is counted once */
	return 0;
}

static uint32_t image_of(struct callgrind_reader *r, uint32_t text)
{
	struct named_image *image;

	if (!*vec_at(&r->images, text)) {
		r->images.items[text] = (uint32_t)r->n->images.count + 1;
		image = vec_add(&r->n->images);
		image->name = text;
		image->low = 1;
	}
	return r->images.items[text] - 1;
}

static int set_object(struct callgrind_reader *r, struct named_function *f, const char *text,
                      size_t size, struct error *err)
{
	uint32_t name;
	int ret = read_name(r, &r->objects, text, size, &name, err);

	if (!ret)
		f->image = image_of(r, name);
	return ret;
}

static void add_values(struct callgrind_reader *r, const struct named_function *f,
                       const int64_t *values)
{
	uint32_t place = profile_names_place(&r->names, r->n, f);
	struct named_row *row =
	        named_row_of(r->n, named_path_step(r->n, NAMED_ROOT, place), r->owner);

	for (unsigned i = 0; i < r->n->value_count; i++)
		row->values[i] = named_add(row->values[i], values[i]);
}

/* The next word of the line; false: there is none. */
static bool next_word(const char **line, size_t *size, const char **word, size_t *length)
{
	while (*size && (**line == ' ' || **line == '\t')) {
		++*line;
		--*size;
	}
	*word = *line;
	while (*size && **line != ' ' && **line != '\t') {
		++*line;
		--*size;
	}
	*length = (size_t)(*line - *word);
	return *length > 0;
}

/* The format's numbers are decimal or hexadecimal; other writers add fractions. */
static bool read_number(struct callgrind_reader *r, const char *text, size_t size, int64_t *value)
{
	char digits[20], *end;

	if (size > 2 && size < sizeof(digits) && text[0] == '0' && text[1] == 'x') {
		memcpy(digits, text, size);
		digits[size] = '\0';
		*value = strtoll(digits, &end, 16);
		return !*end && *value < INT64_MAX;
	}
	if (profile_number_kind(text, size) != PROFILE_DECIMAL)
		return false;
	r->rounded += profile_decimals(text, size) > 0;
	return profile_text_decimal(text, size, 0, value);
}

/* "calls=NUMBER POSITION...": the costs on the next line include the callee's callees. */
static int read_calls(struct callgrind_reader *r, const char *line, size_t size, struct error *err)
{
	int64_t values[NAMED_VALUES] = {0};
	const char *word;
	size_t length;

	if (!next_word(&line, &size, &word, &length) ||
	    !read_number(r, word, length, &values[r->events]))
		return profile_text_bad(&r->t, err, "calls= has no number");
	r->in_call = true;
	add_values(r, &r->callee, values);
	r->callee = r->at; /* cob= and cfi= apply to one call only */
	return 0;
}

/* Positions and costs; missing costs at the end are 0. */
static int read_costs(struct callgrind_reader *r, const char *line, size_t size, struct error *err)
{
	int64_t values[NAMED_VALUES] = {0}, value;
	bool in_call = r->in_call, in_jump = r->in_jump;
	const char *word;
	size_t length;
	unsigned i;

	r->in_call = r->in_jump = false;
	if (in_jump)
		return 0;
	if (!r->events)
		return profile_text_bad(&r->t, err, "costs come before the line 'events:'");
	for (i = 0; i < r->positions; i++)
		if (!next_word(&line, &size, &word, &length))
			return profile_text_bad(&r->t, err, "a line of costs has no position");
	for (i = 0; next_word(&line, &size, &word, &length); i++) {
		if (!read_number(r, word, length, &value))
			return profile_text_bad(&r->t, err, "'%.*s' is not a number",
			                        (int)(length < 40 ? length : 40), word);
		for (unsigned v = 0; v < r->events; v++)
			if (r->columns[v] == i)
				values[v] = value;
	}
	if (!in_call)
		add_values(r, &r->at, values);
	return 0;
}

/* The first events are read, and the wanted one in the place of the last of them. */
static void add_event(struct callgrind_reader *r, const char *word, size_t length, unsigned column)
{
	struct symbolized_profile *n = r->n;
	uint32_t text = profile_names_text(&r->names, n, word, length);
	const char *name = intern_text(&n->texts, text);
	bool ns = length > 3 && !memcmp(word + length - 3, "_ns", 3);
	bool wanted = n->wanted && !strcmp(name, n->wanted);

	if (r->events == EVENTS_MAX && !wanted)
		return;
	r->events -= r->events == EVENTS_MAX;
	r->columns[r->events] = column;
	n->values[r->events++] = (struct named_value){name, ns ? "nanoseconds" : "count"};
}

static bool is_event_read(const struct callgrind_reader *r, unsigned column)
{
	for (unsigned v = 0; v < r->events; v++)
		if (r->columns[v] == column)
			return true;
	return false;
}

static void tell_left_events(const struct callgrind_reader *r, const char *line, size_t size,
                             unsigned all, struct buf *left)
{
	unsigned told = 0;
	const char *word;
	size_t length;

	buf_addf(left, "of %u events %u are read, always with the wanted one; omitted:", all,
	         r->events);
	for (unsigned i = 0; told < EVENTS_TOLD && next_word(&line, &size, &word, &length); i++)
		if (!is_event_read(r, i))
			buf_addf(left, "%s %.*s", told++ ? "," : "",
			         (int)(length < 40 ? length : 40), word);
	if (told < all - r->events)
		buf_addf(left, " and %u more", all - r->events - told);
	buf_putc(left, '\n');
}

static int read_events(struct callgrind_reader *r, const char *line, size_t size, struct buf *left,
                       struct error *err)
{
	struct symbolized_profile *n = r->n;
	const char *names = line, *word;
	size_t names_size = size, length;
	unsigned all = 0;

	if (r->events) /* the heading of another part is the same */
		return 0;
	while (next_word(&line, &size, &word, &length))
		add_event(r, word, length, all++);
	if (!r->events)
		return profile_text_bad(&r->t, err, "the line 'events:' names no event");
	if (left && all > EVENTS_MAX)
		tell_left_events(r, names, names_size, all, left);
	n->values[r->events] = (struct named_value){"calls", "count"};
	n->value_count = r->events + 1;
	return profile_choose_value(n, 0, r->t.name, err);
}

static int read_positions(struct callgrind_reader *r, const char *line, size_t size,
                          struct error *err)
{
	const char *word;
	size_t length;
	unsigned count = 0;

	while (next_word(&line, &size, &word, &length))
		count++;
	if (!count || count > POSITIONS_MAX)
		return profile_text_bad(&r->t, err, "'positions:' names %u positions", count);
	r->positions = count;
	return 0;
}

/* A name that sets the place of the next lines. */
static int read_place(struct callgrind_reader *r, const char *line, size_t size, bool *found,
                      struct error *err)
{
	static const char *const keys[] = {
	        "ob=", "fl=", "fi=", "fe=", "fn=", "cob=", "cfi=", "cfl=", "cfn=", "jfi=", "jfn="};
	struct named_function *f, jump = {0};
	size_t key = 0, length;
	uint32_t inlined;
	bool called;
	int ret = 0;

	while (key < sizeof(keys) / sizeof(*keys) && !begins(line, size, keys[key]))
		key++;
	*found = key < sizeof(keys) / sizeof(*keys);
	if (!*found)
		return 0;
	called = *line == 'c';
	f = called ? &r->callee : *line == 'j' ? &jump : &r->at; /* a jump may define names */
	length = strlen(keys[key]);
	line += length - 3;
	if (line[0] == 'o')
		ret = set_object(r, f, line + 3, size - length, err);
	else if (line[1] == 'n')
		ret = read_name(r, &r->functions, line + 3, size - length, &f->name, err);
	else if (!called && line[1] != 'l') /* fi= and fe=: lines of an inlined function */
		ret = read_name(r, &r->files, line + 3, size - length, &inlined, err);
	else
		ret = read_name(r, &r->files, line + 3, size - length, &f->file, err);
	/* The callee is in the caller's object and file, unless cob= or cfi= name others. */
	if (f == &r->at)
		r->callee = r->at;
	return ret;
}

static int read_line(struct callgrind_reader *r, const char *line, size_t size, struct buf *left,
                     struct error *err)
{
	bool found;
	int ret;

	if (!size || *line == '#')
		return 0;
	if (isdigit((unsigned char)*line) || *line == '+' || *line == '-' || *line == '*')
		return read_costs(r, line, size, err);
	if (begins(line, size, "calls="))
		return r->events ? read_calls(r, line + 6, size - 6, err)
		                 : profile_text_bad(&r->t, err, "calls= comes before 'events:'");
	ret = read_place(r, line, size, &found, err);
	if (found || ret)
		return ret;
	if (begins(line, size, "events:"))
		return read_events(r, line + 7, size - 7, left, err);
	if (begins(line, size, "positions:"))
		return read_positions(r, line + 10, size - 10, err);
	if (begins(line, size, "cmd:") && size > 5)
		r->n->command = profile_names_text(&r->names, r->n, line + 5, size - 5);
	r->in_jump = begins(line, size, "jump=") || begins(line, size, "jcnd=");
	return 0; /* other headings and totals */
}

int callgrind_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                          size_t size, struct buf *left, struct error *err)
{
	const struct named_owner none = {0};
	struct callgrind_reader r = {
	        .n = n,
	        .at = {.image = NAMED_NONE},
	        .callee = {.image = NAMED_NONE},
	        .positions = 1,
	};
	const char *line;
	size_t count;
	int ret = 0;

	profile_text_init(&r.t, name, bytes, size);
	r.owner = named_owner_id(n, &none);
	while (!ret && profile_text_line(&r.t, &line, &count)) {
		ret = read_line(&r, line, count, left, err);
		if (!ret)
			ret = profile_check_size(n, name, err);
	}
	if (!ret && !n->value_count)
		ret = profile_text_bad(&r.t, err, "the file ends without the line 'events:'");
	if (!ret && left && r.rounded)
		buf_addf(left, "%zu %s a fraction: rounded\n", r.rounded,
		         plural(r.rounded, "number has", "numbers have"));
	if (!ret && left && r.undefined)
		buf_addf(left, "%zu %s not defined in the file: %s shown instead\n", r.undefined,
		         plural(r.undefined, "name of a file or object is",
		                "names of files or objects are"),
		         plural(r.undefined, "its number is", "their numbers are"));
	if (!ret && left)
		buf_puts(left, "the callgrind format has no call paths: each function has its own "
		               "values, without those of its callees\n");
	profile_names_done(&r.names);
	vec_done(&r.functions);
	vec_done(&r.files);
	vec_done(&r.objects);
	vec_done(&r.images);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/profiles/folded_read.h"

#include "base/limit.h"
#include "base/text/plural.h"
#include "format/profiles/profile_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { FOLDED_AFTER, FOLDED_BEFORE, FOLDED_COLUMNS };

/* The sum of a column in its unit is at most this, with room for one value more. */
#define SUM_MAX 4e18L

/* A line: the stack, and the numbers after it, the last one first. */
struct folded_line {
	const char *stack;
	size_t stack_size;
	struct profile_word {
		const char *text;
		size_t size;
	} numbers[FOLDED_COLUMNS];
	unsigned count; /* of numbers */
};

/* What all lines of the file have in common. */
struct folded_shape {
	size_t lines, two; /* lines with a stack, and with two numbers */
	unsigned decimals; /* digits after the point, in any number */
	long double sums[FOLDED_COLUMNS];
};

struct folded_reader {
	struct symbolized_profile *n;
	struct profile_text t;
	struct profile_names names;
	unsigned columns, decimals;
	size_t rounded; /* numbers with more decimals */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts the last word of the line off, with the blanks before and after it; false: it is no number,
 * or the line has no more words. */
static bool cut_number(const char *line, size_t *size, struct profile_word *number)
{
	size_t end = *size, begin;

	while (end && is_blank(line[end - 1]))
		end--;
	begin = end;
	while (begin && !is_blank(line[begin - 1]))
		begin--;
	*number = (struct profile_word){line + begin, end - begin};
	while (begin && is_blank(line[begin - 1]))
		begin--;
	if (!begin || profile_number_kind(number->text, number->size) == PROFILE_NO_NUMBER)
		return false;
	*size = begin;
	return true;
}

/* Splits "STACK NUMBER" or "STACK NUMBER NUMBER"; false: the line is not of this form. */
static bool split_line(const char *line, size_t size, struct folded_line *l)
{
	*l = (struct folded_line){.stack = line};
	if (memchr(line, '\0', size))
		return false;
	while (l->count < FOLDED_COLUMNS && cut_number(line, &size, &l->numbers[l->count]))
		l->count++;
	l->stack_size = size;
	return l->count > 0;
}

/* The stack with the numbers that are not columns of the file. */
static void keep_columns(struct folded_line *l, unsigned columns)
{
	if (l->count > columns)
		l->stack_size =
		        (size_t)(l->numbers[columns].text + l->numbers[columns].size - l->stack);
}

static bool is_skipped(const char *line, size_t size)
{
	return !size || *line == '#';
}

bool folded_recognise(const void *bytes, size_t size, bool whole)
{
	struct profile_text t;
	bool several = false;
	struct folded_line l;
	const char *line;
	size_t count;

	profile_text_init(&t, NULL, bytes, size);
	while (profile_text_line(&t, &line, &count)) {
		if (!whole && t.at == t.end) /* may be cut */
			break;
		if (is_skipped(line, count))
			continue;
		if (!split_line(line, count, &l)) /* after a stack, the reader names the line */
			break;
		several |= memchr(line, ';', l.stack_size) != NULL;
	}
	return several;
}

static int check_numbers(const struct profile_text *t, const struct folded_line *l,
                         struct error *err)
{
	for (unsigned i = 0; i < l->count; i++) {
		const struct profile_word *w = &l->numbers[i];
		enum profile_number kind = profile_number_kind(w->text, w->size);
		int shown = (int)(w->size < 40 ? w->size : 40);

		if (kind == PROFILE_NEGATIVE)
			return profile_text_bad(t, err,
			                        "'%.*s' is negative, and stacks are counted", shown,
			                        w->text);
		if (kind == PROFILE_EXPONENT)
			return profile_text_bad(t, err,
			                        "'%.*s' has an exponent: write the number with "
			                        "digits and a point",
			                        shown, w->text);
	}
	return 0;
}

/* Finds the columns and decimals of all lines, and the first line that is none. */
static int find_shape(struct folded_shape *shape, struct profile_text t, struct error *err)
{
	struct folded_line l;
	const char *line;
	size_t size;
	int ret = 0;

	while (!ret && profile_text_line(&t, &line, &size)) {
		if (is_skipped(line, size))
			continue;
		if (size > LIMIT_PROFILE_LINE_BYTES)
			return error_set(err, EFBIG,
			                 "%s has more than %zu MB in line %zu: no stack does",
			                 t.name, LIMIT_PROFILE_LINE_BYTES >> 20, t.number);
		if (!split_line(line, size, &l))
			return profile_text_bad(
			        &t, err, "a line of folded stacks ends in a blank and a number");
		ret = check_numbers(&t, &l, err);
		shape->lines++;
		shape->two += l.count == FOLDED_COLUMNS;
		for (unsigned i = 0; i < l.count; i++) {
			unsigned decimals = profile_decimals(l.numbers[i].text, l.numbers[i].size);

			if (decimals > shape->decimals)
				shape->decimals = decimals;
			shape->sums[i] +=
			        profile_number_about(l.numbers[i].text, l.numbers[i].size);
		}
	}
	return ret;
}

/* Decides what the numbers are, so that each sum is within 64 bits. */
static int choose_values(struct folded_reader *r, const struct folded_shape *shape,
                         struct error *err)
{
	struct symbolized_profile *n = r->n;
	long double most = shape->sums[0], unit = 1;

	r->columns = shape->lines && shape->two == shape->lines ? FOLDED_COLUMNS : 1;
	if (r->columns > 1 && shape->sums[1] > most)
		most = shape->sums[1];
	if (most >= SUM_MAX)
		return error_set(err, ERANGE, "the numbers of %s add up to more than 64 bits",
		                 r->t.name);
	while (r->decimals < shape->decimals && r->decimals < NAMED_DECIMALS &&
	       most * unit * 10 < SUM_MAX) {
		unit *= 10;
		r->decimals++;
	}
	n->values[FOLDED_AFTER] = (struct named_value){r->columns > 1 ? "after" : "samples",
	                                               named_unit_of_decimals(r->decimals)};
	n->values[FOLDED_BEFORE] = (struct named_value){"before", n->values[FOLDED_AFTER].unit};
	n->value_count = r->columns;
	return profile_choose_value(n, FOLDED_AFTER, r->t.name, err);
}

static uint32_t read_path(struct folded_reader *r, const char *stack, size_t size)
{
	const char *end = stack + size;
	uint32_t path = NAMED_ROOT;

	while (stack < end) {
		const char *mark = memchr(stack, ';', (size_t)(end - stack));
		struct named_function f = {.image = NAMED_NONE};

		mark = mark ? mark : end;
		if (mark > stack) {
			f.name = profile_names_text(&r->names, r->n, stack, (size_t)(mark - stack));
			path = named_path_step(r->n, path,
			                       profile_names_place(&r->names, r->n, &f));
		}
		stack = mark + 1;
	}
	return path;
}

static int read_lines(struct folded_reader *r, struct error *err)
{
	const struct named_owner none = {0};
	uint32_t owner = named_owner_id(r->n, &none);
	struct folded_line l;
	const char *line;
	size_t size;
	int ret = 0;

	while (!ret && profile_text_line(&r->t, &line, &size)) {
		struct named_row *row;

		if (is_skipped(line, size) || !split_line(line, size, &l))
			continue;
		keep_columns(&l, r->columns);
		row = named_row_of(r->n, read_path(r, l.stack, l.stack_size), owner);
		for (unsigned i = 0; i < r->columns; i++) {
			const struct profile_word *w = &l.numbers[i];
			int64_t value;

			r->rounded += profile_decimals(w->text, w->size) > r->decimals;
			if (!profile_text_decimal(w->text, w->size, r->decimals, &value))
				return profile_text_bad(&r->t, err, "a number is too large");
			row->values[i] = named_add(row->values[i], value);
		}
		ret = profile_check_size(r->n, r->t.name, err);
	}
	return ret;
}

static void describe_left(const struct folded_reader *r, const struct folded_shape *shape,
                          struct buf *left)
{
	if (r->columns > 1)
		buf_puts(left, "each line has two numbers, as difffolded writes them: the values "
		               "are before and after\n");
	else if (shape->two)
		buf_addf(left,
		         "%zu of %zu lines end in two numbers, and the others in one: the first of "
		         "the two is read as part of the function's name\n",
		         shape->two, shape->lines);
	if (r->rounded)
		buf_addf(left, "%zu %s more than %u decimals: rounded\n", r->rounded,
		         plural(r->rounded, "number has", "numbers have"), r->decimals);
}

int folded_read_memory(struct symbolized_profile *n, const char *name, const void *bytes,
                       size_t size, struct buf *left, struct error *err)
{
	struct folded_reader r = {.n = n};
	struct folded_shape shape = {0};
	int ret;

	profile_text_init(&r.t, name, bytes, size);
	ret = find_shape(&shape, r.t, err);
	if (!ret)
		ret = choose_values(&r, &shape, err);
	if (!ret)
		ret = read_lines(&r, err);
	if (!ret && left)
		describe_left(&r, &shape, left);
	profile_names_done(&r.names);
	return ret;
}

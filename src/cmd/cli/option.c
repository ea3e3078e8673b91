/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/option.h"

#include "base/memory/buf.h"
#include "base/text/spelling.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct parser {
	const struct command *command;
	char *options; /* the command's struct, by bytes */
	struct option_table table;
	struct option_result *result;
	struct error *err;
	char **argv;
	int argc, at; /* argv[at] is read next */
};

static void table_add(struct option_table *t, const struct option *list, size_t offset)
{
	for (; list && list->kind != OPTION_END; list++) {
		if (list->kind == OPTION_INCLUDE) {
			table_add(t, list->include, offset + list->offset);
			continue;
		}
		vec_push(&t->rows, *list);
		vec_last(&t->rows)->offset += offset;
	}
}

void option_table_init(struct option_table *t, const struct option *options)
{
	memset(t, 0, sizeof(*t));
	table_add(t, options, 0);
}

void option_table_done(struct option_table *t)
{
	vec_done(&t->rows);
}

size_t option_value_size(const struct option *o)
{
	switch (o->kind) {
	case OPTION_FLAG:
		return sizeof(bool);
	case OPTION_STRING:
		return sizeof(const char *);
	case OPTION_LIST:
	case OPTION_EACH:
		return sizeof(struct option_list);
	case OPTION_COUNT:
		return sizeof(uint64_t);
	case OPTION_NUMBER:
		return sizeof(double);
	default:
		return 0;
	}
}

bool option_is_given(const struct option *option, const void *values, const void *defaults)
{
	static const char zeros[sizeof(struct option_list)];
	const char *at = (const char *)values + option->offset;
	const char *before = defaults ? (const char *)defaults + option->offset : zeros;

	if (option->kind == OPTION_NUMBER && !defaults)
		return *(const double *)(const void *)at >= 0;
	return memcmp(at, before, option_value_size(option)) != 0;
}

bool option_takes_value(const struct option *option)
{
	return option->kind != OPTION_FLAG && option->kind != OPTION_GROUP;
}

bool option_value_is_optional(const struct option *option)
{
	return option_takes_value(option) && option->argument && option->argument[0] == '[';
}

void option_argument_name(const struct option *option, char *name, size_t size)
{
	const char *text = option->argument ? option->argument : "";
	int length = (int)strlen(text);

	if (!option_takes_value(option))
		text = "";
	else if (!length)
		text = "VALUE";
	length = (int)strlen(text);
	if (option_value_is_optional(option) && length > 2) {
		text++;
		length -= 2;
	}
	snprintf(name, size, "%.*s", length, text);
}

bool option_shows_choices(const struct option *option)
{
	const char *choice = option->choices;
	char word[64];

	while (choice && *choice) {
		size_t size = strcspn(choice, ",");

		snprintf(word, sizeof(word), "%.*s", (int)size, choice);
		if (!option->help || !strstr(option->help, word))
			return true;
		choice += size + (choice[size] == ',');
	}
	return false;
}

/* The name of the option as the user typed it: "--freq" or "-F". */
static void spell(const struct option *o, bool by_letter, char text[64])
{
	if (by_letter || !o->name)
		snprintf(text, 64, "-%c", o->letter);
	else
		snprintf(text, 64, "--%s", o->name);
}

static bool has_choice(const char *choices, const char *value, size_t length)
{
	while (choices && *choices) {
		size_t size = strcspn(choices, ",");

		if (size == length && !strncmp(choices, value, length))
			return true;
		choices += size + (choices[size] == ',');
	}
	return false;
}

static int check_choice(struct parser *p, const struct option *o, const char *typed,
                        const char *value, size_t length)
{
	struct buf choices = {0};

	if (!o->choices || has_choice(o->choices, value, length) ||
	    (o->is_other && o->is_other(value)))
		return 0;
	for (const char *at = o->choices; *at; at++)
		buf_addf(&choices, *at == ',' ? "%c " : "%c", *at);
	error_set(p->err, EINVAL, "%s: '%.*s' is not one of its values; choose from: %s", typed,
	          (int)length, value, buf_text(&choices));
	buf_done(&choices);
	return -EINVAL;
}

static int set_count(struct parser *p, const struct option *o, const char *typed, const char *value,
                     uint64_t *target)
{
	uint64_t number = 0, scale = 1;
	const char *end = value;
	bool good = *value >= '0' && *value <= '9', fits = true;

	for (; *end >= '0' && *end <= '9'; end++) {
		uint64_t digit = (uint64_t)(*end - '0');

		fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
		       !__builtin_add_overflow(number, digit, &number);
	}
	if (*end == 'k' || *end == 'K')
		scale = 1000;
	else if (*end == 'M')
		scale = 1000000;
	else if (*end == 'G')
		scale = 1000000000;
	end += scale > 1;
	if (!good || *end)
		return error_set(p->err, EINVAL,
		                 "%s: '%s' is not a whole number (such as 1000 or 1k)", typed,
		                 value);
	if (!fits || __builtin_mul_overflow(number, scale, target))
		return error_set(p->err, ERANGE, "%s: %s is too large a number", typed, value);
	return 0;
}

static int set_number(struct parser *p, const char *typed, const char *value, double *target)
{
	char *end;
	double number = strtod(value, &end);

	if (end != value && *end == '%')
		end++;
	if (end == value || *end || !isfinite(number))
		return error_set(p->err, EINVAL, "%s: '%s' is not a number (such as 0.5)", typed,
		                 value);
	*target = number;
	return 0;
}

/* Adds to a list of this command line. The first item replaces the default. */
static void list_push(struct parser *p, struct option_list *list, const char *item)
{
	bool known = false;

	vec_each (seen, &p->result->lists)
		known = known || *seen == list;
	if (!known) {
		vec_push(&p->result->lists, list);
		list->items = NULL;
		list->count = 0;
	}
	list->items = xrealloc(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = item;
}

static int set_list(struct parser *p, const struct option *o, const char *typed, const char *value,
                    struct option_list *list)
{
	int r;

	for (;;) {
		size_t length = strcspn(value, ",");
		char *item;

		if (!length)
			return error_set(p->err, EINVAL,
			                 "%s: an empty item; items are separated by one comma",
			                 typed);
		r = check_choice(p, o, typed, value, length);
		if (r)
			return r;
		item = xstrndup(value, length);
		vec_push(&p->result->texts, item);
		list_push(p, list, item);
		if (!value[length])
			return 0;
		value += length + 1;
	}
}

static int set_value(struct parser *p, const struct option *o, const char *typed, const char *value)
{
	void *target = p->options + o->offset;
	int r = 0;

	switch (o->kind) {
	case OPTION_STRING:
		r = check_choice(p, o, typed, value, strlen(value));
		if (!r)
			*(const char **)target = value;
		return r;
	case OPTION_LIST:
		return set_list(p, o, typed, value, target);
	case OPTION_EACH:
		r = check_choice(p, o, typed, value, strlen(value));
		if (!r)
			list_push(p, target, value);
		return r;
	case OPTION_COUNT:
		return set_count(p, o, typed, value, target);
	case OPTION_NUMBER:
		return set_number(p, typed, value, target);
	default:
		return error_set(p->err, EINVAL, "%s takes no value", typed);
	}
}

/*
 * An optional value: the attached text, or else the next word if looks_ahead is set and the word is
 * one of the choices.
 */
static int take_optional(struct parser *p, const struct option *o, bool by_letter,
                         const char *value, bool look)
{
	char typed[64];

	spell(o, by_letter, typed);
	if (!value && look && o->looks_ahead && p->at < p->argc &&
	    has_choice(o->choices, p->argv[p->at], strlen(p->argv[p->at])))
		value = p->argv[p->at++];
	if (value)
		return set_value(p, o, typed, value);
	if (o->kind == OPTION_STRING)
		*(const char **)(void *)(p->options + o->offset) = "";
	return 0;
}

/* `value`: the attached text; NULL: the next word is the value. */
static int take_value(struct parser *p, const struct option *o, bool by_letter, const char *value)
{
	char typed[64], name[64];

	spell(o, by_letter, typed);
	if (!value && p->at < p->argc)
		value = p->argv[p->at++];
	if (!value) {
		option_argument_name(o, name, sizeof(name));
		return error_set(p->err, EINVAL, "%s needs a value: %s %s (%s)", typed, typed, name,
		                 o->help ? o->help : "");
	}
	return set_value(p, o, typed, value);
}

/* Finds a long option. *negated: it is a flag that is given in its "no-" form. */
static const struct option *find_long(struct parser *p, const char *name, size_t length,
                                      bool *negated)
{
	bool no = length > 3 && !strncmp(name, "no-", 3);

	*negated = false;
	vec_each (o, &p->table.rows)
		if (o->kind != OPTION_GROUP && o->name && strlen(o->name) == length &&
		    !strncmp(o->name, name, length))
			return o;
	*negated = true;
	vec_each (o, &p->table.rows) {
		if (o->kind != OPTION_FLAG || !o->name)
			continue;
		if (no && strlen(o->name) == length - 3 && !strncmp(o->name, name + 3, length - 3))
			return o;
		if (!strncmp(o->name, "no-", 3) && strlen(o->name + 3) == length &&
		    !strncmp(o->name + 3, name, length))
			return o;
	}
	return NULL;
}

static int unknown_long(struct parser *p, const char *name, size_t length)
{
	VEC(const char *) names = {0};
	char *word = xstrndup(name, length);
	const char *nearest;
	int r;

	vec_each (o, &p->table.rows)
		if (o->kind != OPTION_GROUP && o->name)
			vec_push(&names, o->name);
	nearest = spelling_nearest(word, names.items, names.count);
	if (nearest)
		r = error_set(p->err, EINVAL, "there is no option --%s; did you mean --%s?", word,
		              nearest);
	else
		r = error_set(p->err, EINVAL, "there is no option --%s; 'assay help %s' lists them",
		              word, p->command->name);
	free(word);
	vec_done(&names);
	return r;
}

static int parse_long(struct parser *p, const char *text)
{
	size_t length = strcspn(text, "=");
	const char *value = text[length] ? text + length + 1 : NULL;
	const struct option *o;
	bool negated;

	o = find_long(p, text, length, &negated);
	if (!o && length == 4 && !strncmp(text, "help", 4) && !value) {
		p->result->help = true;
		return 0;
	}
	if (!o)
		return unknown_long(p, text, length);
	if (option_value_is_optional(o))
		return take_optional(p, o, false, value, true);
	if (option_takes_value(o))
		return take_value(p, o, false, value);
	if (value)
		return error_set(p->err, EINVAL, "--%.*s takes no value, but got '%s'", (int)length,
		                 text, value);
	*(bool *)(p->options + o->offset) = !negated;
	return 0;
}

/* True if the text or word after a letter can be the value of this option. */
static bool has_value(const struct parser *p, const struct option *o, const char *attached)
{
	const char *next = p->at < p->argc ? p->argv[p->at] : NULL;

	if (*attached)
		return true;
	if (!next || (next[0] == '-' && next[1]))
		return false;
	return !o->is_no_value || !o->is_no_value(next);
}

/* Selects between a flag and an option with a value that share a letter. */
static const struct option *find_letter(const struct parser *p, const char *letters)
{
	const struct option *flag = NULL, *valued = NULL;

	vec_each (o, &p->table.rows) {
		if (o->kind == OPTION_GROUP || o->letter != *letters)
			continue;
		if (o->kind == OPTION_FLAG)
			flag = flag ? flag : o;
		else
			valued = valued ? valued : o;
	}
	if (!flag || !valued)
		return flag ? flag : valued;
	return has_value(p, valued, letters + 1) ? valued : flag;
}

static int parse_letters(struct parser *p, const char *word)
{
	for (const char *letters = word; *letters && !p->result->help; letters++) {
		const struct option *o = find_letter(p, letters);

		if (!o && *letters == 'h') {
			p->result->help = true;
		} else if (!o && *letters == '=' && letters > word) {
			return error_set(p->err, EINVAL,
			                 "-%s: the value of -%c follows it directly, without '='",
			                 word, letters[-1]);
		} else if (!o) {
			return error_set(p->err, EINVAL,
			                 "there is no option -%c; 'assay help %s' lists them",
			                 *letters, p->command->name);
		} else if (option_value_is_optional(o)) {
			/* "-gfp" has a value, "-ga" has another letter, "-ag fp" has its value in
			 * the next word.
			 */
			bool attached = o->looks_ahead &&
			                has_choice(o->choices, letters + 1, strlen(letters + 1));
			int r = take_optional(p, o, true, attached ? letters + 1 : NULL,
			                      !letters[1]);

			if (r || attached)
				return r;
		} else if (option_takes_value(o)) {
			return take_value(p, o, true, letters[1] ? letters + 1 : NULL);
		} else {
			*(bool *)(p->options + o->offset) = true;
		}
	}
	return 0;
}

int option_parse(const struct command *command, void *options, int argc, char **argv,
                 struct option_result *result, struct error *err)
{
	struct parser p = {.command = command,
	                   .options = options,
	                   .result = result,
	                   .err = err,
	                   .argv = argv,
	                   .argc = argc,
	                   .at = 1};
	int r = 0;

	memset(result, 0, sizeof(*result));
	result->argv = xcalloc((size_t)argc + 1, sizeof(*result->argv));
	option_table_init(&p.table, command->options);
	while (!r && !result->help && p.at < argc) {
		char *word = argv[p.at++];

		if (word[0] == '-' && word[1] == '-' && word[2]) {
			r = parse_long(&p, word + 2);
		} else if (word[0] == '-' && word[1] && word[1] != '-') {
			r = parse_letters(&p, word + 1);
		} else {
			bool dashes = !strcmp(word, "--");

			if (!dashes || command->keeps_dashes)
				result->argv[result->argc++] = word;
			if (dashes || command->stop_early)
				while (p.at < argc)
					result->argv[result->argc++] = argv[p.at++];
		}
	}
	option_table_done(&p.table);
	return r;
}

void option_result_done(struct option_result *result)
{
	vec_each (list, &result->lists) {
		free((*list)->items);
		(*list)->items = NULL;
		(*list)->count = 0;
	}
	vec_each (text, &result->texts)
		free(*text);
	vec_done(&result->lists);
	vec_done(&result->texts);
	free(result->argv);
	result->argv = NULL;
}

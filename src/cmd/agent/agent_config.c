/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/agent/agent_config.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX ((size_t)1 << 20)

static int read_text(struct buf *text, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		status = error_set(err, errno, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		status = error_set(err, EINVAL, "%s is not a regular file", path);
	else if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH))
		status = error_set(err, EPERM,
		                   "%s: other users may write to it: 'chown root %s' and 'chmod "
		                   "go-w %s'",
		                   path, path, path);
	else if ((size_t)st.st_size > BYTES_MAX)
		status = error_set(err, EFBIG, "%s is too large for a configuration", path);
	else if (buf_read(text, fd) < 0)
		status = error_set(err, errno, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return status;
}

static char *trim(char *from, char *to)
{
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
		to--;
	*to = 0;
	return from;
}

static const struct option *find(const struct option_table *t, const char *name)
{
	vec_each (o, &t->rows)
		if (o->kind != OPTION_GROUP && o->name && !strcmp(o->name, name))
			return o;
	return NULL;
}

/* The word of a command line; NULL: the value of a flag is wrong. */
static char *word_of(const struct option *o, const char *name, const char *value)
{
	if (!o || option_takes_value(o))
		return xasprintf("--%s=%s", name, value);
	if (!strcmp(value, "yes"))
		return xasprintf("--%s", name);
	return strcmp(value, "no") ? NULL : xasprintf("--no-%s", name);
}

struct reading {
	struct agent_config *c;
	const struct command *command;
	const char *const *refused, *const *allowed; /* allowed NULL: all others */
	void *options;
	const char *path;
	unsigned line;
	char place[600]; /* of an error: of a file with the line */
	struct option_table table;
};

static bool has_name(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

/* Options that do not exist get their message from the parser. */
static int name_check(const struct reading *r, const char *name, struct error *err)
{
	if (!strcmp(name, "help") || (r->refused && has_name(r->refused, name)))
		return error_set(err, EINVAL, "%s: '%s' is for the command line only", r->place,
		                 name);
	if (!r->allowed || has_name(r->allowed, name) || !find(&r->table, name))
		return 0;
	return error_set(err, EPERM, "%s: '%s' is for the machine's own configuration only",
	                 r->place, name);
}

static int set(struct reading *r, const char *name, const char *value, struct error *err)
{
	char *word = word_of(find(&r->table, name), name, value), *words[3];
	struct error why = {0};
	int status = name_check(r, name, err);

	if (!status && !word)
		status = error_set(err, EINVAL, "%s: '%s' is yes or no, not '%s'", r->place, name,
		                   value);
	if (status) {
		free(word);
		return status;
	}
	vec_push(&r->c->words, word);
	words[0] = (char *)(uintptr_t)r->command->name;
	words[1] = word;
	words[2] = NULL;
	status = option_parse(r->command, r->options, 2, words, vec_add(&r->c->results), &why);
	return status ? error_set(err, EINVAL, "%s: %s", r->place, why.text) : 0;
}

static int read_line(struct reading *r, char *line, char *end, struct error *err)
{
	char *equals, *name, *value;

	line = trim(line, end);
	if (!*line || *line == '#')
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return error_set(err, EINVAL, "%s: a line is 'option = value', not '%.60s'",
		                 r->place, line);
	value = trim(equals + 1, equals + strlen(equals));
	name = trim(line, equals);
	return set(r, name, value, err);
}

/* The lines of `text`, which are cut into words there. */
static int read_lines(struct reading *r, struct buf *text, struct error *err)
{
	char *at, *end;
	int status = 0;

	buf_putc(text, '\n');
	option_table_init(&r->table, r->command->options);
	if (memchr(text->data, 0, text->size))
		status = error_set(err, EINVAL, "%s is not text", r->path);
	for (at = text->data; !status && at < text->data + text->size; at = end + 1) {
		end = strchr(at, '\n');
		if (r->allowed)
			snprintf(r->place, sizeof(r->place), "%s", r->path);
		else
			snprintf(r->place, sizeof(r->place), "%s:%u", r->path, ++r->line);
		status = read_line(r, at, end, err);
	}
	option_table_done(&r->table);
	return status;
}

int agent_config_read(struct agent_config *c, const struct command *command,
                      const char *const *refused, void *options, const char *path,
                      struct error *err)
{
	struct reading r = {
	        .c = c, .command = command, .refused = refused, .options = options, .path = path};
	struct buf text = {0};
	int status = read_text(&text, path, err);

	if (!status)
		status = read_lines(&r, &text, err);
	buf_done(&text);
	return status;
}

int agent_config_add(struct agent_config *c, const struct command *command,
                     const char *const *allowed, void *options, const char *name, const char *lines,
                     struct error *err)
{
	struct reading r = {
	        .c = c, .command = command, .allowed = allowed, .options = options, .path = name};
	struct buf text = {0};
	int status;

	buf_puts(&text, lines);
	status = read_lines(&r, &text, err);
	buf_done(&text);
	return status;
}

void agent_config_over(const struct command *command, void *options, const void *line,
                       const void *defaults)
{
	struct option_table table;

	option_table_init(&table, command->options);
	vec_each (o, &table.rows)
		if (o->kind != OPTION_GROUP && option_is_given(o, line, defaults))
			memcpy((char *)options + o->offset, (const char *)line + o->offset,
			       option_value_size(o));
	option_table_done(&table);
}

void agent_config_done(struct agent_config *c)
{
	vec_each (result, &c->results)
		option_result_done(result);
	vec_each (word, &c->words)
		free(*word);
	vec_done(&c->results);
	vec_done(&c->words);
}

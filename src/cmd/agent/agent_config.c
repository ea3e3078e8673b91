/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/agent/agent_config.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
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
	const char *const *refused;
	void *options;
	const char *path;
	unsigned line;
	struct option_table table;
};

static bool is_refused(const struct reading *r, const char *name)
{
	for (size_t i = 0; r->refused[i]; i++)
		if (!strcmp(r->refused[i], name))
			return true;
	return !strcmp(name, "help");
}

static int set(struct reading *r, const char *name, const char *value, struct error *err)
{
	char *word = word_of(find(&r->table, name), name, value), *words[3];
	struct error why = {0};
	int status;

	if (is_refused(r, name))
		status = error_set(err, EINVAL, "%s:%u: '%s' is for the command line only", r->path,
		                   r->line, name);
	else if (!word)
		status = error_set(err, EINVAL, "%s:%u: '%s' is yes or no, not '%s'", r->path,
		                   r->line, name, value);
	else
		status = 0;
	if (status) {
		free(word);
		return status;
	}
	vec_push(&r->c->words, word);
	words[0] = (char *)(uintptr_t)r->command->name;
	words[1] = word;
	words[2] = NULL;
	status = option_parse(r->command, r->options, 2, words, vec_add(&r->c->results), &why);
	return status ? error_set(err, EINVAL, "%s:%u: %s", r->path, r->line, why.text) : 0;
}

static int read_line(struct reading *r, char *line, char *end, struct error *err)
{
	char *equals, *name, *value;

	line = trim(line, end);
	if (!*line || *line == '#')
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return error_set(err, EINVAL, "%s:%u: a line is 'option = value', not '%.60s'",
		                 r->path, r->line, line);
	value = trim(equals + 1, equals + strlen(equals));
	name = trim(line, equals);
	return set(r, name, value, err);
}

int agent_config_read(struct agent_config *c, const struct command *command,
                      const char *const *refused, void *options, const char *path,
                      struct error *err)
{
	struct reading r = {
	        .c = c, .command = command, .refused = refused, .options = options, .path = path};
	int status = read_text(&c->text, path, err);
	char *at, *end;

	if (status)
		return status;
	buf_putc(&c->text, '\n');
	option_table_init(&r.table, command->options);
	if (memchr(c->text.data, 0, c->text.size))
		status = error_set(err, EINVAL, "%s is not text", path);
	for (at = c->text.data; !status && at < c->text.data + c->text.size; at = end + 1) {
		end = strchr(at, '\n');
		r.line++;
		status = read_line(&r, at, end, err);
	}
	option_table_done(&r.table);
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
	buf_done(&c->text);
}

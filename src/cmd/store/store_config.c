/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store config: options of many agents, in a database of its own on a server. */
#include "base/limit.h"
#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "cmd/agent/agent_central.h"
#include "cmd/cli/medium.h"
#include "cmd/cli/print.h"
#include "store/store.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#define NAME "store config"

struct store_config_options {
	bool json;
	struct style_options style;
};

#define AT(field) offsetof(struct store_config_options, field)

extern const struct command store_config_command;

static const struct option config_table[] = {
        {OPTION_FLAG, 0, "json", NULL, "the list as JSON; times in ns", .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

/* ---- the list -------------------------------------------------------------- */

enum config_figure { MACHINES, OPTION, VALUE, SET, AUTHOR };

static struct cell config_cell(const struct row_source *source, const struct column *c,
                               uint32_t row, struct buf *text)
{
	const struct store_central *central = source->model;
	const struct store_central_option *o = &central->options.items[row];

	switch ((enum config_figure)c->argument) {
	case MACHINES:
		return cell_text(o->machines);
	case OPTION:
		return cell_text(o->option);
	case VALUE:
		return cell_text(o->value);
	case SET:
		return cell_int((int64_t)(o->time_s * UINT64_C(1000000000)));
	case AUTHOR:
		return cell_text(o->author);
	}
	return cell_none();
}

static void config_document(struct document *d, const char *name, struct store_central *central)
{
	static const struct column columns[] = {
	        {"machines", "machines", "machines", &unit_text, .argument = MACHINES,
	         .get = config_cell},
	        {"option", "option", "option", &unit_text, .argument = OPTION, .get = config_cell},
	        {"value", "value", "value", &unit_text, .argument = VALUE, .get = config_cell},
	        {"set", "set", "set_ns", &unit_date, .argument = SET, .get = config_cell},
	        {"author", "by", "author", &unit_text, .argument = AUTHOR, .get = config_cell},
	};
	struct row_source *source = row_source_new(central);
	struct row_request q = {0};
	struct buf text = {0};

	source->rows = (uint32_t)central->options.count;
	source->no_total = source->fixed = true;
	row_source_columns(source, columns, sizeof(columns) / sizeof(*columns));
	document_string(d, "kind", "central");
	document_string(d, "store", name);
	buf_addf(&text, "%u in %s", source->rows, name);
	document_line(d, "options", buf_text(&text));
	document_table(d, source->rows ? MEDIA_ALL : MEDIA_PROGRAMS, "Options of agents", "options",
	               row_set_new(source, &q));
	buf_done(&text);
}

static int config_list(struct store_config_options *o, const char *name, struct error *err)
{
	const struct document_reader reader = medium_reader(&o->style, o->json, false);
	struct store_central central;
	struct document document;
	int status = medium_check(&o->style, o->json, err);

	if (status)
		return status;
	status = store_central_read(name, NULL, NULL, &central, err);
	if (!status) {
		document_init(&document);
		config_document(&document, name, &central);
		status = medium_show(
		        &(struct page){.kind = "central", .title = name, .document = &document},
		        &reader, &o->style, NAME);
		document_done(&document);
	}
	store_central_done(&central);
	return status;
}

/* ---- changes --------------------------------------------------------------- */

/* For the reader of a list: the server has no name of the user in its rows. */
static char *config_author(void)
{
	const struct passwd *user = getpwuid(getuid());
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return user ? xasprintf("%.100s@%.100s", user->pw_name, host)
	            : xasprintf("%u@%.100s", (unsigned)getuid(), host);
}

static int word_check(const char *what, const char *word, struct error *err)
{
	if (strlen(word) > LIMIT_CENTRAL_WORD_BYTES)
		return error_set(err, EINVAL, "%s has more than %d bytes: %.60s...", what,
		                 LIMIT_CENTRAL_WORD_BYTES, word);
	if (!agent_central_is_text(word))
		return error_set(err, EINVAL, "%s has a control character", what);
	return *word ? 0 : error_set(err, EINVAL, "%s is empty", what);
}

/* OPTION=VALUE, or OPTION alone to remove it. */
static int change_add(struct store_central *changes, const char *machines, const char *word,
                      bool removed, struct error *err)
{
	const char *equals = strchr(word, '=');
	struct store_central_option o = {.removed = removed};
	int status = word_check("an option", word, err);

	if (!status && !removed == !equals)
		status = error_set(err, EINVAL,
		                   removed ? "'%s': 'unset' needs the name of an option alone"
		                           : "'%s': 'set' needs OPTION=VALUE, such as freq=199",
		                   word);
	if (status)
		return status;
	o.machines = xstrdup(machines);
	o.option = equals ? xstrndup(word, (size_t)(equals - word)) : xstrdup(word);
	o.value = xstrdup(equals ? equals + 1 : "");
	o.author = config_author();
	vec_push(&changes->options, o);
	return 0;
}

static const struct store_central_option *option_of(const struct store_central *central,
                                                    const char *machines, const char *option)
{
	vec_each (o, &central->options)
		if (!strcmp(o->machines, machines) && !strcmp(o->option, option))
			return o;
	return NULL;
}

/* All options that the pattern will have: some are correct together only. */
static int changes_check(const struct store_central *changes, const struct store_central *now,
                         const char *machines, struct error *err)
{
	char *name = xasprintf("'%s'", machines);
	struct buf lines = {0};
	int status;

	vec_each (o, &now->options)
		if (!strcmp(o->machines, machines) && !option_of(changes, machines, o->option))
			buf_addf(&lines, "%s = %s\n", o->option, o->value);
	vec_each (o, &changes->options)
		buf_addf(&lines, "%s = %s\n", o->option, o->value);
	status = agent_central_check(name, buf_text(&lines), err);
	buf_done(&lines);
	free(name);
	return status;
}

/* What is removed need not be correct. */
static int removals_check(const struct store_central *changes, const struct store_central *now,
                          struct error *err)
{
	vec_each (o, &changes->options)
		if (!option_of(now, o->machines, o->option))
			return error_set(err, EINVAL, "'%s' is not set for '%s'", o->option,
			                 o->machines);
	return 0;
}

static int config_change(const char *name, bool removed, int argc, char **argv, struct error *err)
{
	struct store_central changes = {0}, now = {0};
	const char *machines = argc ? argv[0] : "";
	int status = argc > 1 ? word_check("the pattern of machines", machines, err)
	                      : error_set(err, EINVAL, "give machines and options: %s",
	                                  removed ? "unset 'web*' freq" : "set 'web*' freq=199");

	for (int i = 1; !status && i < argc; i++)
		status = change_add(&changes, machines, argv[i], removed, err);
	if (!status)
		status = store_central_read(name, NULL, NULL, &now, err);
	if (!status)
		status = removed ? removals_check(&changes, &now, err)
		                 : changes_check(&changes, &now, machines, err);
	if (!status)
		status = store_central_add(name, &changes, err);
	if (!status)
		print_message("agents on '%s' use %s within a minute", machines,
		              plural(changes.options.count, "the change", "the changes"));
	store_central_done(&changes);
	store_central_done(&now);
	return status;
}

static int config_create(const char *name, struct error *err)
{
	int status = store_central_create(name, err);

	if (!status)
		print_message("%s has a central configuration; 'assay agent --central %s' uses it",
		              name, name);
	return status;
}

static int store_config(void *options, int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : NULL;
	struct error err = {0};
	int status;

	if (!argc)
		return command_fail(2, NAME ": give a database on a server: "
		                            "clickhouse://[USER@]HOST[:PORT]/DATABASE");
	if (!verb)
		status = config_list(options, argv[0], &err);
	else if (!strcmp(verb, "create") && argc == 2)
		status = config_create(argv[0], &err);
	else if (!strcmp(verb, "set") || !strcmp(verb, "unset"))
		status = config_change(argv[0], *verb == 'u', argc - 2, argv + 2, &err);
	else
		status =
		        error_set(&err, EINVAL,
		                  "'%s': after the name comes create, set or unset, or nothing for "
		                  "the list",
		                  verb);
	if (status > 0)
		return status; /* of a list that was not printed */
	return status ? command_fail(err.code == EINVAL || err.code == EPERM ? 2 : 1, NAME ": %s",
	                             err.text)
	              : command_end(0);
}

const struct command store_config_command = {
        .name = NAME,
        .synopsis = "[OPTIONS] NAME [create|set|unset ...]",
        .summary = "options of many agents, in a database on a server",
        .description =
                "Lists or changes the options that agents read with --central. NAME is "
                "clickhouse://[USER@]HOST[:PORT]/DATABASE, with a database of its own: agents "
                "have a user that may only read it, so the users of the server decide who may "
                "write it. A change is 'set MACHINES OPTION=VALUE...' or 'unset MACHINES "
                "OPTION...'.\n\n"
                "MACHINES is a host name or a pattern: 'web*'. Of several patterns with the same "
                "option, the one with the most letters counts. The options are freq, budget, "
                "window, call-graph, stack-size, waits, no-labels and service of 'assay agent', "
                "as in its file: waits=yes. Values are checked before they are written, and once "
                "more by each agent.",
        .examples = "assay store config clickhouse://db/assay_config create\n"
                    "    once, as a user who may create a database\n"
                    "assay store config clickhouse://db/assay_config set 'web*' "
                    "freq=199 budget=2\n"
                    "    a higher rate on some machines\n"
                    "assay store config clickhouse://db/assay_config\n"
                    "    the list\n",
        .options = config_table,
        .options_size = sizeof(struct store_config_options),
        .run = store_config,
};

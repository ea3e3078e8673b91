/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent: samples a machine all day into a store on a server, or to a back end. */
#include "cmd/agent/agent_central.h"
#include "cmd/agent/agent_config.h"
#include "cmd/agent/agent_lock.h"
#include "cmd/agent/agent_run.h"
#include "cmd/cli/print.h"
#include "cmd/session/start_session.h"
#include "session/keep/label_keeper.h"
#include "store/store.h"
#include "web/web_address.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "agent"
#define CENTRAL_LOOK_MS 1000
#define CONFIG "/etc/assay/agent.conf"
#define BUDGET_PERCENT 1
#define CENTRAL_BUDGET_PERCENT 10 /* the most that a server may set */

extern const struct command cmd_agent;

struct agent_options {
	struct start_options start;
	const char *config, *metrics, *central, *central_token_file;
	bool check;
};

#define AT(field) offsetof(struct agent_options, field)

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "Output"},
        {OPTION_STRING, 0, "store", "NAME",
         "the store of many machines: clickhouse://[USER@]HOST[:PORT]/DATABASE",
         .details = "clickhouse+https:// uses TLS. If the user may create a database, a store that "
                    "does not exist is created; --check reports it instead.",
         .offset = AT(start.sink.store)},
        {.kind = OPTION_INCLUDE, .include = start_to_table, .offset = AT(start.sink)},
        {.kind = OPTION_INCLUDE, .include = start_window_table, .offset = AT(start.sink)},
        {.kind = OPTION_INCLUDE, .include = push_option_table, .offset = AT(start.sink.push)},
        {.kind = OPTION_GROUP, .help = "Sampling"},
        {OPTION_STRING, 'F', "freq", "HZ", "samples per second and CPU (default 97)",
         .offset = AT(start.record.frequency)},
        {.kind = OPTION_INCLUDE, .include = record_stack_table, .offset = AT(start.record)},
        {.kind = OPTION_INCLUDE, .include = record_memory_table, .offset = AT(start.record)},
        {.kind = OPTION_INCLUDE, .include = record_waits_table, .offset = AT(start.record)},
        {.kind = OPTION_GROUP, .help = "Labels of processes"},
        {.kind = OPTION_INCLUDE, .include = record_label_table, .offset = AT(start.record)},
        {.kind = OPTION_GROUP, .help = "The agent"},
        {OPTION_STRING, 0, "config", "FILE",
         "the file of options, lines 'option = value' (default " CONFIG ")",
         .details = "The names are those of these options. Lines that begin with # are comments; "
                    "the value of a flag is yes or no. Options of the command line decide. SIGHUP "
                    "reads the file again.",
         .offset = AT(config)},
        {OPTION_STRING, 0, "central", "NAME",
         "options from a database on a server: clickhouse://[USER@]HOST[:PORT]/DATABASE",
         .details = "Read at the start and once a minute; a change begins another session. "
                    "The command line and the file come first. Only these options can come from "
                    "there: freq, budget (at most 10), window, call-graph, stack-size, waits, "
                    "no-labels, service. While the server is away, or if a value is wrong, the "
                    "agent continues as before, and 'assay status' says why. 'assay store config' "
                    "sets them. Certificates are those of --ca-file.",
         .offset = AT(central)},
        {OPTION_STRING, 0, "central-token-file", "FILE",
         "the same as --token-file, for the server of --central", .offset = AT(central_token_file)},
        {OPTION_STRING, 0, "metrics", "ADDRESS",
         "serve the state for Prometheus at http://ADDRESS/metrics: a port, or 127.0.0.1:PORT",
         .details = "Only loopback addresses are possible. A process without rights serves it. "
                    "'assay status --metrics' prints the same text.",
         .offset = AT(metrics)},
        {OPTION_STRING, 0, "name", "NAME", "the name of its session (default \"" NAME "\")",
         .offset = AT(start.name.name)},
        {OPTION_FLAG, 0, "check", NULL,
         "read the configuration, ask the server of the store, print what is wrong, and exit",
         .offset = AT(check)},
        {.kind = OPTION_END},
};

/* Of the command line alone. */
static const char *const not_in_file[] = {"config", "check", NULL};

/*
 * Options that a server may set: none of them names a file, a program or a server, and none takes
 * memory or room on a disk that has no other bound.
 */
static const char *const in_central[] = {"freq",       "budget",     "window",
                                         "call-graph", "stack-size", "waits",
                                         "no-labels",  "service",    NULL};

static void defaults(void *p)
{
	struct agent_options *o = p;

	record_options_default(&o->start.record);
	start_sink_default(&o->start.sink);
	o->start.sink.command = NAME;
	o->start.sink.away = true;
}

/* What a session gets. */
struct agent_values {
	struct agent_options o;
	struct agent_config config; /* the texts of `o` */
	char *central;              /* the lines of the server that it has; NULL: none */
};

struct agent_command {
	const struct agent_options *line;
	struct agent_values now, before; /* before: of the session that is replaced */
	struct agent_central central;
	struct web_address metrics;
};

static void values_done(struct agent_values *v)
{
	agent_config_done(&v->config);
	free(v->central);
	*v = (struct agent_values){0};
}

/* Before and after the file is read. */
static void clear(struct agent_options *o)
{
	memset(o, 0, sizeof(*o));
	defaults(o);
}

/* The lines that a check printed, as one sentence. */
static int value_refused(const struct buf *lines, struct error *err)
{
	const char *text = buf_text(lines), *own = NAME ": ";

	text += !strncmp(text, own, strlen(own)) ? strlen(own) : 0;
	return error_set(err, EINVAL, "%.*s", (int)strcspn(text, "\n"),
	                 *text ? text : "a value is refused");
}

/* The values that a session would refuse, which would then end. */
static int check_values(const struct start_options *o, struct error *err)
{
	struct session_options session = {0};
	struct start_sink_plan plan = {0};
	proc_ids pids = {0};
	struct buf lines = {0};
	int status;

	print_collect(&lines);
	status = record_options_use(&o->record, NAME, NULL, &session, &pids);
	if (!status)
		status = start_sink_plan(&o->sink, &plan);
	print_collect(NULL);
	start_sink_done(&plan);
	vec_done(&pids);
	if (status)
		status = value_refused(&lines, err);
	buf_done(&lines);
	if (status)
		return status;
	return o->record.label_file ? label_keeper_check(o->record.label_file, err) : 0;
}

static int check(const struct agent_options *o, struct web_address *metrics, struct error *err)
{
	int status;
	const struct start_sink_options *s = &o->start.sink;

	if (!s->store == !s->to)
		return error_set(
		        err, EINVAL,
		        "%s: name a store on a server with --store clickhouse://HOST/DATABASE, "
		        "or a back end with --to",
		        s->store ? "--store and --to exclude each other"
		                 : "there is no place for the samples");
	if (s->store && !store_is_remote(s->store))
		return error_set(err, EINVAL,
		                 "--store %s is a file: the agent writes to servers; 'assay start "
		                 "--store %s' writes to a file",
		                 s->store, s->store);
	if (o->central && !store_is_remote(o->central))
		return error_set(err, EINVAL,
		                 "--central %s is not a database on a server: "
		                 "clickhouse://[USER@]HOST[:PORT]/DATABASE",
		                 o->central);
	if (o->central_token_file && !o->central)
		return error_set(err, EINVAL, "--central-token-file is for --central only");
	status = o->metrics ? web_address_parse(metrics, "--metrics", o->metrics, err) : 0;
	return status ? status : check_values(&o->start, err);
}

/* They come before those of the file, which replace them. */
static int add_central(struct agent_values *v, const char *name, const char *lines,
                       struct error *err)
{
	int status = agent_config_add(&v->config, &cmd_agent, in_central, &v->o, name, lines, err);

	if (!status && v->o.start.record.budget > CENTRAL_BUDGET_PERCENT)
		status = error_set(err, EPERM,
		                   "%s: the budget is %g %%, and a server may set at most %d %%; "
		                   "a higher one belongs into the file of the machine",
		                   name, v->o.start.record.budget, CENTRAL_BUDGET_PERCENT);
	v->central = xstrdup(lines);
	return status;
}

static int read_options(struct agent_command *a, const char *central, struct agent_values *v,
                        struct error *err)
{
	const char *path = a->line->config ? a->line->config : CONFIG;
	struct agent_options *o = &v->o, none;
	int status = 0;

	clear(o);
	clear(&none);
	if (central)
		status = add_central(v, a->central.url, central, err);
	if (!status && (a->line->config || !access(path, F_OK) || errno != ENOENT))
		status = agent_config_read(&v->config, &cmd_agent, not_in_file, o, path, err);
	if (status)
		return status;
	agent_config_over(&cmd_agent, o, a->line, &none);
	if (isnan(o->start.record.budget))
		o->start.record.budget = BUDGET_PERCENT;
	if (!o->start.name.name)
		o->start.name.name = NAME;
	return check(o, &a->metrics, err);
}

/* `keep`: the present configuration is the one to go back to. */
static int load(struct agent_command *a, const char *central, bool keep, struct error *err)
{
	struct agent_values v = {0};
	int status = read_options(a, central, &v, err);

	if (status) {
		values_done(&v);
		return status;
	}
	if (keep) {
		values_done(&a->before);
		a->before = a->now;
	} else {
		values_done(&a->now);
	}
	a->now = v;
	return 0;
}

static void go_back(void *ctx)
{
	struct agent_command *a = ctx;

	values_done(&a->now);
	a->now = a->before;
	a->before = (struct agent_values){0};
}

/* The file of the machine counts, whatever a server says. */
static int reload(void *ctx, bool keep, struct error *err)
{
	struct agent_command *a = ctx;
	struct error why = {0};
	int status = load(a, a->now.central, keep, err);

	if (!status || !a->now.central)
		return status;
	if (!load(a, NULL, keep, &why))
		return 1;
	*err = why;
	return status;
}

/* The lines of the server are not those that the present configuration has. */
static int take_central(void *ctx, bool keep, struct error *err)
{
	struct agent_command *a = ctx;
	const char *lines = buf_text(&a->central.lines), *now = a->now.central;
	int status;

	if (!strcmp(lines, now ? now : ""))
		return 1;
	status = load(a, lines, keep, err);
	return status < 0 ? status : 0;
}

int agent_central_check(const char *name, const char *lines, struct error *err)
{
	struct agent_values v = {0};
	int status;

	clear(&v.o);
	status = add_central(&v, name, lines, err);
	/* A service is the name of what is sent to a back end. */
	if (v.o.start.sink.push.service)
		v.o.start.sink.to = "otlp+http://127.0.0.1:4318";
	else
		v.o.start.sink.store = "clickhouse://127.0.0.1/assay";
	if (!status)
		status = check_values(&v.o.start, err);
	values_done(&v);
	return status;
}

/* What `assay agent --check` says about the server of --central. */
static int try_central(struct agent_command *a)
{
	struct pollfd p = {.events = POLLIN};
	struct error err = {0};
	int status = agent_central_start(&a->central, &err);

	while (!status) {
		p.fd = agent_central_fd(&a->central);
		poll(&p, 1, CENTRAL_LOOK_MS);
		status = agent_central_take(&a->central, &err);
		if (status != -EAGAIN)
			break;
		status = 0;
	}
	if (a->central.pid)
		waitpid(a->central.pid, NULL, 0);
	if (!status)
		status = take_central(a, false, &err);
	if (status < 0)
		return command_fail(1, NAME ": %s", err.text);
	for (char *at = a->now.central; at && *at; at += strcspn(at, "\n") + 1)
		print_message(NAME ": the server sets %.*s", (int)strcspn(at, "\n"), at);
	return 0;
}

/* --check: as far as it is possible without sampling. */
static int try_it(struct agent_command *a)
{
	struct store_options how = {.read_only = true};
	struct start_sink_plan plan;
	struct store *store = NULL;
	struct error err = {0};
	int status = a->central.url ? try_central(a) : 0;

	if (status)
		return status;
	status = start_sink_plan(&a->now.o.start.sink, &plan);
	how.server = plan.server;
	if (!status && plan.kind == SESSION_STORE && store_open(&store, plan.output, &how, &err))
		status = command_fail(1, NAME ": %s", err.text);
	store_close(store);
	if (!status)
		print_message(NAME ": the configuration is correct%s",
		              plan.kind == SESSION_STORE ? ", and the server has the store" : "");
	start_sink_done(&plan);
	return status;
}

/* Those of the start count as long as the agent runs. */
static void keep_central(struct agent_command *a)
{
	const struct agent_options *o = &a->now.o;
	const char *ca_file = o->start.sink.push.ca_file;

	a->central.url = o->central ? xstrdup(o->central) : NULL;
	a->central.token_file = o->central_token_file ? xstrdup(o->central_token_file) : NULL;
	a->central.ca_file = ca_file ? xstrdup(ca_file) : NULL;
}

static void central_done(struct agent_central *c)
{
	free((char *)(uintptr_t)c->url);
	free((char *)(uintptr_t)c->token_file);
	free((char *)(uintptr_t)c->ca_file);
	buf_done(&c->lines);
}

static int run(void *p, int argc, char **argv)
{
	struct agent_command a = {.line = p};
	struct agent_course course = {.options = &a.now.o.start,
	                              .reload = reload,
	                              .take_central = take_central,
	                              .go_back = go_back,
	                              .ctx = &a,
	                              .central = &a.central,
	                              .lock = -1};
	struct error err = {0};
	int status = 0;

	if (argc)
		return command_fail(2, NAME ": '%s': the agent takes no arguments", argv[0]);
	if (load(&a, NULL, false, &err))
		return command_fail(2, NAME ": %s", err.text);
	keep_central(&a);
	if (a.line->check)
		status = try_it(&a);
	else if (agent_lock_take(&course.lock, &err))
		status = command_fail(1, NAME ": %s", err.text);
	else {
		course.metrics = a.now.o.metrics ? &a.metrics : NULL;
		status = agent_run(&course);
	}
	if (course.lock >= 0)
		close(course.lock);
	central_done(&a.central);
	values_done(&a.now);
	values_done(&a.before);
	return status;
}

const struct command cmd_agent = {
        .name = NAME,
        .synopsis = "[--config FILE] [OPTIONS]",
        .summary = "sample this machine all day, for the store of many machines",
        .description =
                "Samples the whole machine at 97 Hz with at most 1 % of a CPU, and sends a window "
                "every 10 s to a store on a ClickHouse server (--store) or to a back end (--to). "
                "It "
                "runs in the foreground, as a service: deploy/assay-agent.service. While the "
                "server is away, windows wait on the disk, and are sent later. There is one agent "
                "on a machine.\n\n"
                "SIGHUP reads the configuration again and begins another session with it; if it "
                "has a mistake, or no session begins with it, the agent continues as before. "
                "SIGTERM and 'assay stop --name "
                "agent' end it. 'assay status --name agent' shows its state. With --central an "
                "administrator sets the rate and the like for many machines.",
        .examples = "assay agent --store clickhouse://db.example.com/assay\n    this machine, into "
                    "the store of the fleet\n"
                    "assay agent --check\n    is " CONFIG " correct, and does the server answer?\n",
        .options = options,
        .options_size = sizeof(struct agent_options),
        .defaults = defaults,
        .run = run,
};

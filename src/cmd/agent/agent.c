/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent: samples a machine all day into a store on a server, or to a back end. */
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
#include <string.h>
#include <unistd.h>

#define NAME "agent"
#define CONFIG "/etc/assay/agent.conf"
#define BUDGET_PERCENT 1

extern const struct command cmd_agent;

struct agent_options {
	struct start_options start;
	const char *config, *metrics;
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

static void defaults(void *p)
{
	struct agent_options *o = p;

	record_options_default(&o->start.record);
	start_sink_default(&o->start.sink);
	o->start.sink.command = NAME;
	o->start.sink.away = true;
}

struct agent_command {
	const struct agent_options *line;
	struct agent_options o; /* of the file and the line */
	struct agent_config config;
	struct agent_options before; /* of the session that is replaced */
	struct agent_config config_before;
	struct web_address metrics;
};

/* Before and after the file is read. */
static void clear(struct agent_options *o)
{
	memset(o, 0, sizeof(*o));
	defaults(o);
}

/* The values that a session would refuse, which would then end. Their errors are printed here. */
static int check_values(const struct start_options *o, struct error *err)
{
	struct session_options session = {0};
	struct start_sink_plan plan = {0};
	proc_ids pids = {0};
	int status = record_options_use(&o->record, NAME, NULL, &session, &pids);

	if (!status)
		status = start_sink_plan(&o->sink, &plan);
	start_sink_done(&plan);
	vec_done(&pids);
	if (status)
		return error_set(err, EINVAL, "a value is refused, as the line above says");
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
	status = o->metrics ? web_address_parse(metrics, "--metrics", o->metrics, err) : 0;
	return status ? status : check_values(&o->start, err);
}

static int read_options(struct agent_command *a, struct agent_options *o,
                        struct agent_config *config, struct error *err)
{
	const char *path = a->line->config ? a->line->config : CONFIG;
	struct agent_options none;
	int status = 0;

	clear(o);
	clear(&none);
	if (a->line->config || !access(path, F_OK) || errno != ENOENT)
		status = agent_config_read(config, &cmd_agent, not_in_file, o, path, err);
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
static int load(struct agent_command *a, bool keep, struct error *err)
{
	struct agent_config config = {0};
	struct agent_options o;
	int status = read_options(a, &o, &config, err);

	if (status) {
		agent_config_done(&config);
		return status;
	}
	if (keep) {
		agent_config_done(&a->config_before);
		a->config_before = a->config;
		a->before = a->o;
	} else {
		agent_config_done(&a->config);
	}
	a->config = config;
	a->o = o;
	return 0;
}

static void go_back(void *ctx)
{
	struct agent_command *a = ctx;

	agent_config_done(&a->config);
	a->config = a->config_before;
	a->o = a->before;
	a->config_before = (struct agent_config){0};
}

static int reload(void *ctx, bool keep, struct error *err)
{
	return load(ctx, keep, err);
}

/* --check: as far as it is possible without sampling. */
static int try_it(struct agent_command *a)
{
	struct store_options how = {.read_only = true};
	struct start_sink_plan plan;
	struct store *store = NULL;
	struct error err = {0};
	int status = start_sink_plan(&a->o.start.sink, &plan);

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

static int run(void *p, int argc, char **argv)
{
	struct agent_command a = {.line = p};
	struct agent_course course = {
	        .options = &a.o.start, .reload = reload, .go_back = go_back, .ctx = &a, .lock = -1};
	struct error err = {0};
	int status = 0;

	if (argc)
		return command_fail(2, NAME ": '%s': the agent takes no arguments", argv[0]);
	if (load(&a, false, &err))
		status = command_fail(2, NAME ": %s", err.text);
	else if (a.line->check)
		status = try_it(&a);
	else if (agent_lock_take(&course.lock, &err))
		status = command_fail(1, NAME ": %s", err.text);
	else {
		course.metrics = a.o.metrics ? &a.metrics : NULL;
		status = agent_run(&course);
	}
	if (course.lock >= 0)
		close(course.lock);
	agent_config_done(&a.config);
	agent_config_done(&a.config_before);
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
                "agent' end it. 'assay status --name agent' shows its state.",
        .examples = "assay agent --store clickhouse://db.example.com/assay\n    this machine, into "
                    "the store of the fleet\n"
                    "assay agent --check\n    is " CONFIG " correct, and does the server answer?\n",
        .options = options,
        .options_size = sizeof(struct agent_options),
        .defaults = defaults,
        .run = run,
};

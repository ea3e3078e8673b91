/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store: stores on a server are created, and stores are copied. */
#include "cmd/cli/amount.h"
#include "cmd/cli/command.h"
#include "cmd/cli/parse_time.h"
#include "cmd/cli/print.h"

#include "base/clock.h"
#include "base/text/plural.h"
#include "store/store.h"
#include "store/store_path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct store_command_options {
	const char *from, *until, *host, *service, *cluster, *fine, *coarse, *keep;
};

#define AT(field) offsetof(struct store_command_options, field)

extern const struct command store_config_command, store_machines_command;

static int create(void *options, int argc, char **argv)
{
	const struct store_command_options *o = options;
	struct error err = {0};

	if (argc != 1)
		return command_fail(2, "store create: give one name: "
		                       "clickhouse://[USER@]HOST[:PORT]/DATABASE");
	if (store_create(argv[0], o->cluster, &err))
		return command_fail(1, "store create: %s", err.text);
	print_message("%s is a store; 'assay start --store %s' writes to it", argv[0], argv[0]);
	return command_end(0);
}

static const struct option no_table[] = {{.kind = OPTION_END}};

static const struct option create_table[] = {
        {OPTION_STRING, 0, "cluster", "NAME",
         "distributed and replicated tables on this cluster of the servers' configuration",
         .details = "Each server needs the macros {shard} and {replica}, ZooKeeper, and "
                    "distributed_ddl in its configuration. The machines may use any of the "
                    "servers.",
         .offset = AT(cluster)},
        {.kind = OPTION_END},
};

static const struct command store_create_command = {
        .name = "store create",
        .synopsis = "[OPTIONS] NAME",
        .summary = "create a store in a database on a ClickHouse server",
        .description =
                "NAME is clickhouse://[USER@]HOST[:PORT]/DATABASE, or clickhouse+https:// for TLS. "
                "The database and its tables are created if they are missing, and upgraded if an "
                "earlier assay made them, while machines send. 'assay start --store NAME' does it "
                "too if the user has the right. "
                "The password is in the environment variable ASSAY_CLICKHOUSE_PASSWORD, or in a "
                "file that ASSAY_CLICKHOUSE_PASSWORD_FILE names. ASSAY_CLICKHOUSE_CA_FILE "
                "names a file of certificates to trust instead of those of the system.",
        .examples = "assay store create clickhouse://db.example.com/assay\n"
                    "    a store for all machines\n",
        .options = create_table,
        .options_size = sizeof(struct store_command_options),
        .run = create,
};

static const struct option copy_table[] = {
        {OPTION_STRING, 0, "from", "TIME", "start of the time range of a store on a server",
         .offset = AT(from)},
        {OPTION_STRING, 0, "until", "TIME", "end of the time range", .offset = AT(until)},
        {OPTION_STRING, 0, "host", "NAME", "the machine, or several: 'web*' (default: all)",
         .offset = AT(host)},
        {OPTION_STRING, 0, "service", "NAME", "only samples of this service, or of several",
         .offset = AT(service)},
        {.kind = OPTION_END},
};

static int range_of(const struct store_command_options *o, bool remote, struct store_range *range,
                    struct error *err)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	int ret = 0;

	*range = (struct store_range){.host = o->host || !remote ? o->host : "*",
	                              .service = o->service};
	if (o->from)
		ret = when_parse("--from", o->from, now_ns, &range->from_ns, err);
	if (!ret && o->until)
		ret = when_parse("--until", o->until, now_ns, &range->to_ns, err);
	return ret;
}

static int copy_store(void *options, int argc, char **argv)
{
	const struct store_command_options *o = options;
	struct store_range range;
	struct error err = {0};
	uint64_t windows = 0;
	char *from, *to = NULL;
	int status;

	if (argc != 2)
		return command_fail(2, "store copy: give two names: the store, and its copy");
	if (range_of(o, store_is_remote(argv[0]), &range, &err))
		return command_fail(2, "store copy: %s", err.text);
	from = store_path_to_read(argv[0]);
	status = store_path_to_write(argv[1], &to, &err);
	if (!status)
		status = store_transfer(from, &range, to, &windows, &err);
	if (!status && windows)
		print_message("%s has the %" PRIu64 " %s of %s", to, windows,
		              plural(windows, "window", "windows"), from);
	free(from);
	free(to);
	return status ? command_fail(1, "store copy: %s", err.text) : command_end(0);
}

static const struct command store_copy_command = {
        .name = "store copy",
        .synopsis = "[OPTIONS] FROM TO",
        .summary = "copy a store into another one: file to server, server to file",
        .description =
                "Copies the store FROM, a file or a store on a server, to TO. A copy to a server "
                "adds to the data of other machines there; windows that it has already are not "
                "added a second time, so an interrupted copy is run again. A copy to a file is a "
                "new file, with the whole store or with a part of it.",
        .examples = "assay store copy day.db clickhouse://db.example.com/assay\n"
                    "    the history of one machine joins that of the fleet\n"
                    "assay store copy --host web1 --from -1d clickhouse://db.example.com/assay "
                    "web1.db\n"
                    "    a day of one machine as a file, for 'assay sql' and 'assay view'\n",
        .options = copy_table,
        .options_size = sizeof(struct store_command_options),
        .run = copy_store,
};

static int parse_age(const char *option, const char *text, uint64_t *ns, struct error *err)
{
	if (!text || amount_ns(text, ns))
		return 0;
	return error_set(err, EINVAL, "%s needs a time, such as 12h, 30d or 1y, not '%s'", option,
	                 text);
}

static int keep(void *options, int argc, char **argv)
{
	const struct store_command_options *o = options;
	struct store_retention_rules rules = {0};
	struct store_kept kept;
	struct error err = {0};
	char *path;
	int status;

	if (argc != 1)
		return command_fail(2, "store keep: give one store");
	if (parse_age("--fine", o->fine, &rules.fine_ns, &err) ||
	    parse_age("--coarse", o->coarse, &rules.coarse_ns, &err) ||
	    parse_age("--keep", o->keep, &rules.all_ns, &err))
		return command_fail(2, "store keep: %s", err.text);
	path = store_path_to_read(argv[0]);
	status = store_keep(path, &rules, 0, &kept, &err);
	free(path);
	if (status)
		return command_fail(1, "store keep: %s", err.text);
	print_message("%" PRIu64 " %s merged into %" PRIu64 "; %" PRIu64 " %s deleted; %" PRIu64
	              " %s of all machines",
	              kept.merged, plural(kept.merged, "window is", "windows are"), kept.made,
	              kept.days, plural(kept.days, "day is", "days are"), kept.sums,
	              plural(kept.sums, "new sum", "new sums"));
	return command_end(0);
}

static const struct option keep_table[] = {
        {OPTION_STRING, 0, "fine", "TIME",
         "age up to which windows stay as they were measured (default 1d)", .offset = AT(fine)},
        {OPTION_STRING, 0, "coarse", "TIME",
         "age up to which windows of 10 minutes stay, before those of 2 hours (default 30d)",
         .offset = AT(coarse)},
        {OPTION_STRING, 0, "keep", "TIME", "age at which windows are deleted (default 365d)",
         .offset = AT(keep)},
        {.kind = OPTION_END},
};

static const struct command store_keep_command = {
        .name = "store keep",
        .synopsis = "[OPTIONS] STORE",
        .summary = "merge old windows of a store, and delete the oldest",
        .description =
                "Windows become windows of 10 minutes and then of 2 hours as they age, and are "
                "deleted at last. Sums stay the same. A file is kept by its writer in the same "
                "way; a store on a server is kept by this command alone: let one machine run it "
                "each minute. It may run several times, on several machines, and while machines "
                "send; the units assay-keep.timer and assay-keep.service do it. For a store of "
                "several machines it also makes the sums that reports of all "
                "machines use. Ages are relative to the newest window.",
        .examples = "assay store keep clickhouse://db.example.com/assay\n"
                    "    each minute, from cron or a timer\n"
                    "assay store keep --keep 90d clickhouse://db.example.com/assay\n"
                    "    windows older than three months are deleted\n",
        .options = keep_table,
        .options_size = sizeof(struct store_command_options),
        .run = keep,
};

static int run(void *options, int argc, char **argv)
{
	if (argc)
		return command_fail(2,
		                    "store: '%s' is not a subcommand; there are create, copy, "
		                    "keep, machines, config",
		                    argv[0]);
	return command_fail(2, "store: needs a subcommand: create, copy, keep, machines, config");
}

static const struct command *const subcommands[] = {&store_create_command, &store_copy_command,
                                                    &store_keep_command,   &store_machines_command,
                                                    &store_config_command, NULL};

const struct command cmd_store = {
        .name = "store",
        .synopsis = "create|copy|keep|machines|config ...",
        .summary = "create stores on a server, copy stores, merge old windows, list machines, "
                   "configure agents",
        .description =
                "A store has the history of one or more machines: a file of 'assay start --store "
                "FILE', or a database on a ClickHouse server. Reports read both in the same way.",
        .options = no_table,
        .options_size = sizeof(struct store_command_options),
        .run = run,
        .subcommands = subcommands,
};

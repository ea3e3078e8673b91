/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store machines: which machines of a store on a server are silent, behind or failing. */
#include "base/clock.h"
#include "base/text/figure.h"
#include "cmd/cli/amount.h"
#include "cmd/cli/medium.h"
#include "cmd/cli/parse_time.h"
#include "cmd/load/load_machines.h"
#include "store/store_path.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_FROM "-1h"
#define NOT_KNOWN 125 /* as of other commands with a condition: the data cannot be read */

struct store_machines_options {
	const char *from, *until, *host, *after;
	struct option_list fail_if;
	bool json;
	struct style_options style;
};

#define AT(field) offsetof(struct store_machines_options, field)

extern const struct command store_machines_command;

static const struct option machines_table[] = {
        {OPTION_STRING, 0, "from", "TIME",
         "start of the time range whose windows are counted (default -1h)", .offset = AT(from)},
        {OPTION_STRING, 0, "until", "TIME", "end of the time range", .offset = AT(until)},
        {OPTION_STRING, 0, "host", "NAME", "the machine, or several: 'web*' (default: all)",
         .offset = AT(host)},
        {OPTION_STRING, 0, "after", "TIME",
         "a machine is silent or behind from this time on (default: 5 windows, at least 2min)",
         .offset = AT(after)},
        {OPTION_LIST, 0, "fail-if", "STATE,...",
         "exit status 1 if a machine is in one of these states: silent, failing, behind, sending, "
         "ended",
         .choices = "silent,failing,behind,sending,ended", .offset = AT(fail_if)},
        {OPTION_FLAG, 0, "json", NULL, "as JSON; times in ns", .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

static enum machine_state state_named(const char *name)
{
	enum machine_state state = 0;

	while (state < MACHINE_STATES && strcmp(name, machine_state_name(state)) != 0)
		state++;
	return state;
}

static int read_options(const struct store_machines_options *o, struct machine_states *states,
                        struct store_range *range, struct error *err)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	int status;

	*range = (struct store_range){.host = o->host};
	if (o->after && (!amount_ns(o->after, &states->after_ns) || !states->after_ns))
		return error_set(err, EINVAL,
		                 "--after needs a time, such as 90s or 10min, not '%s'", o->after);
	status = when_parse("--from", o->from ? o->from : USUAL_FROM, now_ns, &range->from_ns, err);
	if (!status && o->until)
		status = when_parse("--until", o->until, now_ns, &range->to_ns, err);
	if (!status && o->until && range->to_ns <= range->from_ns)
		status = error_set(err, EINVAL, "--until %s is not after --from %s", o->until,
		                   o->from ? o->from : USUAL_FROM);
	return status;
}

static void fill_document(struct document *d, struct machine_states *states, const char *store,
                          const struct store_range *range)
{
	struct buf text = {0};

	document_string(d, "kind", "machines");
	document_string(d, "store", store);
	document_int(d, "now_ns", (int64_t)states->now_ns);
	document_int(d, "from_ns", (int64_t)range->from_ns);
	machine_states_summary(states, &text);
	document_line(d, "machines", text.size ? buf_text(&text) : "none");
	document_object(d, "states");
	for (int i = 0; i < MACHINE_STATES; i++)
		document_int(d, machine_state_name(i), (int64_t)states->counts[i]);
	document_end(d);
	machine_states_table(d, states);
	machine_states_notes(document_notes(d, MEDIA_READERS, NULL, NULL), states);
	buf_done(&text);
}

/* The exit status by --fail-if, with its reason. */
static int conclude_states(const struct store_machines_options *o,
                           const struct machine_states *states)
{
	struct buf text = {0};
	size_t count = 0;

	vec_each (m, &states->machines) {
		bool meant = false;

		for (size_t i = 0; i < o->fail_if.count; i++)
			meant |= state_named(o->fail_if.items[i]) == m->state;
		if (!meant || count++ >= 10)
			continue;
		buf_addf(&text, "%s%s is %s", text.size ? ", " : "",
		         intern_text(&states->texts, m->name), machine_state_name(m->state));
	}
	if (count > 10)
		buf_addf(&text, ", and %zu more", count - 10);
	if (count)
		command_fail(1, "store machines: %s", buf_text(&text));
	buf_done(&text);
	return count ? 1 : 0;
}

static int list_machines(void *options, int argc, char **argv)
{
	struct store_machines_options *o = options;
	const struct document_reader reader = medium_reader(&o->style, o->json, false);
	struct machine_states states;
	struct store_range range;
	struct document document;
	struct error err = {0};
	char *path;
	int status;

	if (argc != 1)
		return command_fail(2, "store machines: give one store on a server: "
		                       "clickhouse://[USER@]HOST[:PORT]/DATABASE");
	machine_states_init(&states);
	status = read_options(o, &states, &range, &err);
	if (!status)
		status = medium_check(&o->style, o->json, &err);
	path = store_path_to_read(argv[0]);
	if (!status)
		status = load_machines(&states, path, &range, &err);
	if (!status && o->host && !states.machines.count)
		status = error_set(&err, ENODATA, "%s has no machine '%s'", argv[0], o->host);
	if (status) {
		status = command_fail(err.code == EINVAL || err.code == EOPNOTSUPP ? 2 : NOT_KNOWN,
		                      "store machines: %s", err.text);
	} else {
		document_init(&document);
		fill_document(&document, &states, argv[0], &range);
		status = medium_show(
		        &(struct page){.kind = "machines", .title = argv[0], .document = &document},
		        &reader, &o->style, "store machines");
		document_done(&document);
		if (!status)
			status = conclude_states(o, &states);
	}
	machine_states_done(&states);
	free(path);
	return status;
}

const struct command store_machines_command = {
        .name = "store machines",
        .synopsis = "[OPTIONS] STORE",
        .summary = "which machines of a store on a server send, and which are silent or behind",
        .description =
                "Lists the machines of a store on a server: when the last window of each came, "
                "how far it is behind, how many windows came in the time range, and the time of "
                "windows that it had to drop.\n\n"
                "silent: no window came for some time, and the session has not ended. failing: "
                "windows were dropped because the disk or the spool was full, or the session "
                "failed. behind: windows come, but old ones. ended: the session was stopped. Time "
                "is that of the server, so a wrong clock of a machine makes it neither silent nor "
                "behind.",
        .exit_status = "0: no machine is in a state of --fail-if. 1: a machine is. 2: wrong use. "
                       "125: the store cannot be read",
        .examples = "assay store machines clickhouse://db.example.com/assay\n"
                    "    all machines\n"
                    "assay store machines --fail-if silent,failing,behind "
                    "clickhouse://db.example.com/assay\n"
                    "    for a monitoring system\n",
        .options = machines_table,
        .options_size = sizeof(struct store_machines_options),
        .run = list_machines,
};

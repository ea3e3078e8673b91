/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor: reports what assay can do on this machine, and what to change. */
#include "cmd/cli/command.h"
#include "cmd/cli/print.h"

#include "base/text/json.h"
#include "cmd/cli/medium.h"
#include "cmd/doctor/doctor_findings.h"
#include "cmd/doctor/doctor_measure.h"
#include "cmd/doctor/kept_costs.h"
#include "cmd/cli/wrap.h"
#include "output/text/table.h"
#include "view/methods/methods_document.h"

#include <string.h>
#include <unistd.h>

extern const struct command cmd_doctor;

struct doctor_options {
	bool json, measure;
};

static const struct option doctor_list[] = {
        {OPTION_FLAG, 0, "json", NULL, "print the findings as JSON",
         .details = "\"checks\", each with \"group\", \"name\", "
                    "\"state\" (ok, limited or missing), \"what\", and \"cost\" and \"mend\" or "
                    "null.",
         .offset = offsetof(struct doctor_options, json)},
        {OPTION_FLAG, 0, "measure", NULL,
         "measure what sampling, counting and tags cost on this machine (1 s)",
         .details = "The CPU time of a sample, of a recorded context switch, of a counted call and "
                    "of an event tag, instead of the findings. The result is also kept in the "
                    "user's cache, for 'assay help methods'. With --json: \"costs\", each with "
                    "\"cost\", \"ns\", \"low_ns\" and \"high_ns\" (quartiles), and \"reason\" if "
                    "it could not be measured; \"host\", \"kernel\", \"clock\", \"measured_ns\".",
         .offset = offsetof(struct doctor_options, measure)},
        {.kind = OPTION_END},
};

static void add_json(struct buf *b, const struct findings *f)
{
	struct json j;

	json_init(&j, b);
	json_object(&j);
	json_key(&j, "checks");
	json_array(&j);
	vec_each (item, &f->items) {
		json_object(&j);
		json_kstr(&j, "group", item->group);
		json_kstr(&j, "name", item->name);
		json_kstr(&j, "state", finding_state_name(item->state));
		json_kstr(&j, "what", item->what);
		json_key(&j, "cost");
		if (item->cost)
			json_str(&j, item->cost);
		else
			json_null(&j);
		json_key(&j, "mend");
		if (item->mend)
			json_str(&j, item->mend);
		else
			json_null(&j);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	buf_putc(b, '\n');
}

static void add_state(struct buf *b, enum finding_state state, bool colour)
{
	static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};

	buf_addf(b, "  %s%-7s%s  ", colour ? colours[state] : "", finding_state_name(state),
	         colour ? "\033[0m" : "");
}

static void add_line(struct buf *b, const char *label, const char *text)
{
	buf_addf(b, "           %s ", label);
	wrap_text(b, text, 12 + strlen(label), 13);
	buf_putc(b, '\n');
}

static void add_text(struct buf *b, const struct findings *f, bool colour)
{
	size_t counts[3] = {0};
	const char *group = "";

	vec_each (item, &f->items) {
		struct buf what = {0};

		if (strcmp(group, item->group))
			buf_addf(b, "%s%s\n", *group ? "\n" : "", item->group);
		group = item->group;
		counts[item->state]++;
		add_state(b, item->state, colour);
		buf_addf(&what, "%s: ", item->name);
		text_clean(&what, item->what);
		wrap_text(b, what.data, 11, 13);
		buf_putc(b, '\n');
		buf_done(&what);
		if (item->cost)
			add_line(b, "effect:", item->cost);
		if (item->mend) { /* on one line, so that it can be copied */
			buf_puts(b, "           fix:    ");
			text_clean(b, item->mend);
			buf_putc(b, '\n');
		}
	}
	buf_addf(b, "\n%zu ok, %zu limited, %zu missing\n", counts[FINDING_OK],
	         counts[FINDING_LIMITED], counts[FINDING_MISSING]);
}

static int measure(const struct doctor_options *options)
{
	const struct document_reader reader = {.program = options->json};
	const struct style_options style = {0};
	struct method_costs costs;
	struct error err = {0};
	struct document d;

	doctor_measure(&costs);
	document_init(&d);
	costs_document(&d, &costs);
	medium_print(&d, &reader, &style);
	document_done(&d);
	if (kept_costs_write(&costs, &err))
		print_message("the costs are not kept for 'assay help methods': %s", err.text);
	method_costs_done(&costs);
	return 0;
}

static int doctor_run(void *data, int argc, char **argv)
{
	struct doctor_options *options = data;
	struct findings *findings;
	struct rights rights;
	struct buf b = {0};

	if (argc)
		return command_fail(2, "doctor: takes no arguments, but got '%s'", argv[0]);
	if (options->measure)
		return measure(options);
	rights_read(&rights);
	findings = doctor_findings(&rights);
	if (options->json)
		add_json(&b, findings);
	else
		add_text(&b, findings, isatty(STDOUT_FILENO));
	print_text(&b);
	buf_done(&b);
	findings_free(findings);
	return 0;
}

const struct command cmd_doctor = {
        .name = "doctor",
        .synopsis = "[OPTIONS]",
        .summary = "report what assay can do on this machine, and what to change",
        .description =
                "Checks the rights of the user, the clocks for sampling, the data that the kernel "
                "shows, whether calls can be counted, how common libraries are built, and the "
                "limits of a container. Each line has a state (ok, limited or missing), its "
                "effect, and the command that fixes it.\n\n"
                "The command changes nothing and needs no rights. With --measure it keeps a file "
                "in the user's cache.",
        .examples = "assay doctor\n"
                    "    all findings\n"
                    "assay doctor --measure\n"
                    "    what measuring costs on this machine\n"
                    "assay doctor --json | jq -r '.checks[].mend // empty'\n"
                    "    only the commands that fix a finding\n",
        .options = doctor_list,
        .options_size = sizeof(struct doctor_options),
        .run = doctor_run,
};

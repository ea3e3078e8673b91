/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor: reports what assay can do on this machine, and what to change. */
#include "cmd/cli/command.h"
#include "cmd/cli/medium.h"
#include "cmd/cli/print.h"
#include "cmd/doctor/doctor_findings.h"
#include "cmd/doctor/doctor_measure.h"
#include "cmd/doctor/kept_costs.h"
#include "view/methods/methods_document.h"

#include <string.h>

extern const struct command cmd_doctor;

struct doctor_options {
	bool json, measure;
	struct style_options style;
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
        {.kind = OPTION_INCLUDE,
         .include = medium_option_table,
         .offset = offsetof(struct doctor_options, style)},
        {.kind = OPTION_END},
};

/* For programs. */
static void add_checks(struct document *d, const struct findings *f)
{
	document_array(d, "checks");
	vec_each (item, &f->items) {
		document_object(d, NULL);
		document_string(d, "group", item->group);
		document_string(d, "name", item->name);
		document_string(d, "state", finding_state_name(item->state));
		document_string(d, "what", item->what);
		document_string(d, "cost", item->cost);
		document_string(d, "mend", item->mend);
		document_end(d);
	}
	document_end(d);
}

static void add_finding(struct document *d, const struct finding *item)
{
	struct buf text = {0};

	buf_addf(&text, "%s: %s", item->name, item->what);
	document_line(d, finding_state_name(item->state), buf_text(&text));
	buf_done(&text);
	if (item->cost)
		document_line(d, "effect", item->cost);
	if (item->mend)
		document_verbatim(d, "fix", item->mend);
}

/* For readers: a heading for each group. */
static void add_lines(struct document *d, const struct findings *f)
{
	size_t counts[3] = {0};
	const char *group = "";
	struct buf text = {0};

	vec_each (item, &f->items) {
		if (strcmp(group, item->group))
			document_heading(d, "%s", item->group);
		group = item->group;
		counts[item->state]++;
		add_finding(d, item);
	}
	buf_addf(&text, "%zu ok, %zu limited, %zu missing", counts[FINDING_OK],
	         counts[FINDING_LIMITED], counts[FINDING_MISSING]);
	document_text(d, "", buf_text(&text));
	buf_done(&text);
}

static void print_document(const struct doctor_options *o, const struct document *d)
{
	const struct document_reader reader = {.program = o->json};

	medium_print(d, &reader, &o->style);
}

static int measure(const struct doctor_options *options)
{
	struct method_costs costs;
	struct error err = {0};
	struct document d;

	doctor_measure(&costs);
	document_init(&d);
	costs_document(&d, &costs);
	print_document(options, &d);
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
	struct document d;

	if (argc)
		return command_fail(2, "doctor: takes no arguments, but got '%s'", argv[0]);
	if (options->measure)
		return measure(options);
	rights_read(&rights);
	findings = doctor_findings(&rights);
	document_init(&d);
	add_checks(&d, findings);
	add_lines(&d, findings);
	print_document(options, &d);
	document_done(&d);
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

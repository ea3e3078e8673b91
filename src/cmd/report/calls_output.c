/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/calls_output.h"
#include "cmd/cli/print.h"
#include "cmd/report/report_calls.h"
#include "cmd/report/report_groups.h"
#include "cmd/report/report_kinds.h"

#include "base/text/plural.h"
#include "base/text/shell_word.h"
#include "base/file/replace_file.h"
#include "format/calls/calls_file.h"
#include "output/text/table.h"
#include "view/calls/call_names.h"
#include "view/symbolized/symbolized_sums.h"

#include <string.h>

#define AT(field) offsetof(struct calls_output_options, field)

const struct option calls_output_option_table[] = {
        {.kind = OPTION_GROUP, .help = "The report"},
        {.kind = OPTION_INCLUDE, .include = report_option_table, .offset = AT(report)},
        {.kind = OPTION_INCLUDE, .include = report_path_option_table, .offset = AT(report)},
        /* The letters of `assay report`, except -o, which names a file here. */
        {OPTION_FLAG, 'a', NULL, NULL, "the same as --by-name", .offset = AT(report.by_name)},
        {OPTION_FLAG, 'c', NULL, NULL, "the same as --by-calls", .offset = AT(report.by_calls)},
        {OPTION_FLAG, 't', NULL, NULL, "the same as --by-time", .offset = AT(report.by_time)},
        {OPTION_FLAG, 'i', NULL, NULL, "the same as --full-paths", .offset = AT(report.full_paths)},
        {.kind = OPTION_END},
};

void calls_output_defaults(struct calls_output_options *o)
{
	report_options_defaults(&o->report);
}

int calls_output_check(const char *command, const struct calls_output_options *o)
{
	struct report_request q = {0};
	struct error err = {0};

	if (report_kinds_check(LOAD_CALLS, calls_output_option_table, o, &o->report, &err) ||
	    report_options_request(&o->report, &q, &err) ||
	    named_keys_check(q.keys, q.key_count, q.children, &err))
		return command_fail(2, "%s: %s", command, err.text);
	return 0;
}

void calls_output_notes(const calls_notes *notes)
{
	vec_each (note, notes)
		print_message("%s", *note);
}

static void tell(const struct call_paths *paths, const struct calls_output *to, size_t bytes)
{
	struct buf text = {0};
	uint64_t calls = 0;
	size_t running = 0;

	vec_each (p, &paths->processes) {
		calls += call_process_calls(p);
		running += (p->flags & CALL_RUNNING) != 0;
	}
	text_count(&text, calls);
	buf_addf(&text, " %s of %zu %s", plural(calls, "call", "calls"), paths->processes.count,
	         plural(paths->processes.count, "process", "processes"));
	if (running)
		buf_addf(&text, " (%zu still running)", running);
	buf_puts(&text, ", ");
	text_bytes(&text, bytes);
	buf_addf(&text, " in %s; read it with 'assay report ", to->file);
	shell_word_add(&text, to->file);
	buf_putc(&text, '\'');
	print_message("%s", text.data);
	buf_done(&text);
}

static int write_file(const struct call_paths *paths, struct calls_output *to)
{
	struct buf bytes = {0};
	struct error err = {0};
	int status = 0;

	if (calls_file_write(paths, &bytes, &err) ||
	    replace_file(to->file, bytes.data, bytes.size, &err))
		status = command_fail(1, "%s: %s", to->command, err.text);
	else
		to->written = true;
	if (to->written && !to->quiet)
		tell(paths, to, bytes.size);
	buf_done(&bytes);
	return status;
}

static int report(const struct call_paths *paths, struct symbolizer *symbols,
                  const struct report_options *o, const struct program_sizes *sizes)
{
	struct report_request q = {0};
	struct error err = {0};
	int status;

	if (report_options_request(o, &q, &err) || report_groups_use(&q, NULL, &err))
		return report_fail(&o->style, 2, &err);
	q.sizes = sizes;
	status = report_calls_print(paths, symbols, &q, &o->style, false);
	report_groups_done(&q);
	return status;
}

int calls_output(struct call_paths *paths, struct calls_output *to,
                 const struct calls_output_options *options)
{
	/* The programs ran on this machine, so its files and its kernel have the names. */
	struct symbolizer *symbols =
	        symbolizer_new(&paths->images, &(struct symbol_options){.cached = true});
	int status = 0;

	call_paths_close(paths);
	if (to->file) {
		call_names_fill(paths, symbols);
		status = write_file(paths, to);
	}
	if (to->print) {
		int printed = report(paths, symbols, &options->report, to->sizes);

		status = status ? status : printed;
	}
	symbolizer_free(symbols);
	return status;
}

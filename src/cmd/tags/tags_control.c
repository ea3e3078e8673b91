/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags list and get: commands for processes that record event tags. */
#include "base/text/plural.h"
#include "cmd/run_command.h"
#include "cmd/tags/tags.h"
#include "cmd/cli/medium.h"
#include "cmd/report/tags_output.h"
#include "cmd/export/tags_trace.h"
#include "cmd/cli/print.h"
#include "format/ctf/ctf.h"
#include "launch/tags/tags_files.h"

#include <stdlib.h>
#include <string.h>

struct tags_list_options {
	bool json;
	struct style_options style;
};

struct tags_get_options {
	const char *output;
	bool keep, quiet, compress;
};

int tags_find_files(tag_rings_list *list, const char *command, int argc, char **argv)
{
	struct error err = {0};

	if (tags_files_all(list, &err))
		return command_fail(1, "%s: %s", command, err.text);
	return run_choose(
	        command,
	        "is not a process of yours that records event tags; 'assay tags list' lists them",
	        argc, argv, list->items, &list->count, sizeof(*list->items));
}

/* ---- list ---------------------------------------------------------------- */

static const char *mode_word(uint32_t mode)
{
	return mode == ASSAY_TAGS_STOP     ? "stop"
	       : mode == ASSAY_TAGS_WRAP   ? "wrap"
	       : mode == ASSAY_TAGS_STREAM ? "stream"
	                                   : "?";
}

static const char *capture_word(const struct tag_rings_file *file)
{
	return file->flags & ASSAY_TAGS_FULL ? "full" : file->capture ? "on" : "off";
}

enum tags_listed_cell {
	LIST_PID,
	LIST_STATE,
	LIST_SINCE,
	LIST_CAPTURE,
	LIST_MODE,
	LIST_PACKETS,
	LIST_ROOM,
	LIST_DISCARDED,
	LIST_COMMAND,
};

static struct cell listed_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct tag_rings_file *file = &((const tag_rings_list *)s->model)->items[row];

	switch ((enum tags_listed_cell)c->argument) {
	case LIST_PID:
		return cell_int(file->file.pid);
	case LIST_SINCE:
		return cell_int((int64_t)file->file.start_ns);
	case LIST_STATE:
		return cell_text(file->file.running ? "running" : "ended");
	case LIST_CAPTURE:
		return file->file.running ? cell_text(capture_word(file)) : cell_none();
	case LIST_MODE:
		return cell_text(mode_word(file->mode));
	case LIST_PACKETS:
		return cell_int((int64_t)file->packets);
	case LIST_ROOM:
		return cell_int((int64_t)file->room);
	case LIST_DISCARDED:
		return cell_int((int64_t)file->discarded);
	default:
		return cell_text(file->command[0] ? file->command : file->name);
	}
}

static void listed_json(const struct row_source *s, const struct column *c, uint32_t row,
                        struct json *j)
{
	const struct tag_rings_file *file = &((const tag_rings_list *)s->model)->items[row];

	json_kstr(j, "name", file->name);
	json_kstr(j, "command", file->command);
	json_kstr(j, "file", file->file.path);
}

#define LISTED(cell) .argument = cell, .get = listed_cell

static const struct column listed_columns[] = {
        {"pid", "PID", "pid", &unit_number, LISTED(LIST_PID)},
        {"state", "state", "state", &unit_text, LISTED(LIST_STATE)},
        {"since", "since", "start_ns", &unit_date, LISTED(LIST_SINCE)},
        {"capture", "capture", "capture", &unit_text, LISTED(LIST_CAPTURE)},
        {"mode", "mode", "mode", &unit_text, LISTED(LIST_MODE)},
        {"packets", NULL, "packets", &unit_count, LISTED(LIST_PACKETS)},
        {"room", NULL, "room", &unit_count, LISTED(LIST_ROOM)},
        {"in use", "in use", NULL, &unit_share, ROLE_RATIO, .of = "packets", .per = "room"},
        {"discarded", "discarded", "discarded", &unit_count, LISTED(LIST_DISCARDED)},
        {"command", "command", .unit = &unit_text, .json = listed_json, LISTED(LIST_COMMAND)},
};

static int list_print(tag_rings_list *list, size_t ended, const struct document_reader *reader,
                      const struct style_options *style)
{
	struct row_source *s = row_source_new(list);
	const struct row_request all = {0};
	struct document d;
	int status;

	s->rows = (uint32_t)list->count;
	s->no_total = true;
	row_source_columns(s, listed_columns, sizeof(listed_columns) / sizeof(*listed_columns));
	document_init(&d);
	document_table(&d, s->rows ? MEDIA_ALL : MEDIA_PROGRAMS, NULL, "processes",
	               row_set_new(s, &all));
	document_int(&d, "ended", (int64_t)ended);
	status = medium_show(&(struct page){.kind = "status", .title = "tags list", .document = &d},
	                     reader, style, "tags list");
	document_done(&d);
	return status;
}

static int list_run(void *data, int argc, char **argv)
{
	const struct tags_list_options *o = data;
	const struct document_reader reader = {.program = o->json};
	tag_rings_list list = {0};
	size_t ended = 0;
	int status = tags_find_files(&list, "tags list", argc, argv);

	vec_each (file, &list)
		ended += !file->file.running;
	if (!status)
		status = list_print(&list, ended, &reader, &o->style);
	if (!status && !o->json && ended == list.count)
		print_message("no process of yours records event tags now");
	if (!status && !o->json && ended)
		print_message("%zu %s: 'assay tags get' makes a trace of %s, and removes %s", ended,
		              plural(ended, "recording of an exited process",
		                     "recordings of exited processes"),
		              plural(ended, "it", "them"), plural(ended, "it", "them"));
	tag_rings_list_done(&list);
	return status;
}

/* ---- get ----------------------------------------------------------------- */

/* Removes the files of exited processes, which are now in the trace; running processes continue. */
static int remove_ended(const tag_rings_list *list)
{
	tag_rings_list left = {0};
	struct error err = {0};

	vec_each (file, list)
		if (!file->file.running && tag_rings_remove(file, &err))
			return command_fail(1, "tags get: %s", err.text);
	/* The second search also removes the directories of sessions, which are empty now. */
	tags_files_all(&left, NULL);
	tag_rings_list_done(&left);
	return 0;
}

static int get_files(const struct tags_get_options *o, const tag_rings_list *list)
{
	struct tags_collect *collect = tags_collect_new(o->output);
	struct tags_collect_result result = {0};
	struct error err = {0};
	int status = 0, rc = 0;

	if (o->compress)
		tags_collect_compress(collect);
	for (size_t i = 0; i < list->count && !rc; i++)
		rc = tags_collect_add(collect, &list->items[i], &err);
	if (!rc)
		rc = tags_collect_end(collect, NULL, &result, &err);
	tags_collect_free(collect);
	if (rc) {
		status = command_fail(1, "tags get: %s", err.text);
	} else if (!result.processes) {
		status = command_fail(1, "tags get: %s; nothing is written",
		                      result.notes.count ? result.notes.items[0]
		                                         : "the recordings no longer exist");
	} else if (!o->quiet) {
		tags_output_tell(&result, o->output);
	}
	if (!status && !o->keep && !result.notes.count)
		status = remove_ended(list);
	tags_collect_result_done(&result);
	return status;
}

static void get_defaults(void *data)
{
	struct tags_get_options *o = data;

	o->output = TAGS_TRACE_DEFAULT;
}

static int get_run(void *data, int argc, char **argv)
{
	const struct tags_get_options *o = data;
	tag_rings_list list = {0};
	struct error err = {0};
	int status;

	if (ctf_writer_check(o->output, &err))
		return command_fail(1, "tags get: %s", err.text);
	status = tags_find_files(&list, "tags get", argc, argv);
	if (!status && !list.count)
		status = command_fail(
		        1, "tags get: no process of yours records event tags, and no exited "
		           "process left any; 'assay tags -- COMMAND' runs one");
	if (!status)
		status = get_files(o, &list);
	tag_rings_list_done(&list);
	return status;
}

/* ---- the commands --------------------------------------------------------- */

static const struct option list_table[] = {
        {OPTION_FLAG, 0, "json", NULL, "print the list as JSON",
         .details = "\"processes\", each with \"pid\", \"name\", \"command\", \"capture\" (on, off "
                    "or full), \"mode\", \"packets\" in use of \"room\", events \"discarded\", "
                    "\"start_ns\" (since 1970) and \"file\", a path; and \"ended\", the number of "
                    "recordings of exited processes.",
         .offset = offsetof(struct tags_list_options, json)},
        {.kind = OPTION_INCLUDE,
         .include = medium_option_table,
         .offset = offsetof(struct tags_list_options, style)},
        {.kind = OPTION_END},
};

static const struct option get_table[] = {
        {.kind = OPTION_INCLUDE,
         .include = tags_output_option_table,
         .offset = offsetof(struct tags_get_options, output)},
        {OPTION_FLAG, 0, "compress", NULL, "compress the trace; 'assay export --to ctf' expands it",
         .offset = offsetof(struct tags_get_options, compress)},
        {OPTION_FLAG, 0, "keep", NULL, "keep the recordings of exited processes",
         .offset = offsetof(struct tags_get_options, keep)},
        {OPTION_FLAG, 'q', "quiet", .help = "print no closing line",
         .offset = offsetof(struct tags_get_options, quiet)},
        {.kind = OPTION_END},
};

const struct command tags_list = {
        .name = "tags list",
        .synopsis = "[OPTIONS] [PID...]",
        .summary = "list the processes that record event tags",
        .description = "Lists the processes of this user that record event tags, whether capture "
                       "is on, and how much of their memory is in use. The state of a process "
                       "that left a recording and has exited is \"ended\".",
        .options = list_table,
        .options_size = sizeof(struct tags_list_options),
        .run = list_run,
};

const struct command tags_get = {
        .name = "tags get",
        .synopsis = "[OPTIONS] [PID...]",
        .summary = "write a trace of their events, and of those of exited processes",
        .description =
                "Writes a trace of the events that all processes, or the given ones, have in "
                "memory "
                "now, and of exited processes that left events, also after a crash or a kill. "
                "No process is stopped: running processes continue. Recordings of exited "
                "processes are removed when the trace is written.",
        .options = get_table,
        .options_size = sizeof(struct tags_get_options),
        .defaults = get_defaults,
        .run = get_run,
};

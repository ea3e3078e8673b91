/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags import: converts the dump of a capture device to a trace. */
#include "base/text/plural.h"
#include "cmd/tags/tags.h"
#include "cmd/export/tags_trace.h"
#include "cmd/cli/print.h"
#include "format/ctf/names_file.h"
#include "format/ctf/tag_dump.h"
#include "output/text/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct import_options {
	const char *layout, *output;
	bool big_endian, quiet;
	uint64_t clock_bits, hz;
	struct option_list names;
};

#define AT(field) offsetof(struct import_options, field)

static const struct option options[] = {
        {OPTION_STRING, 0, "layout", "FIELDS|csv",
         "the fields of a record with their bits (default tag:16,clock:24), or csv",
         .details =
                 "Fields are tag, clock and pad, in the order of the bytes of a record; each has "
                 "whole bytes: 'clock:32,tag:16,pad:16'. csv: two columns, clock and tag, in "
                 "decimal or 0x, or in the order of a first line 'tag,clock'.",
         .offset = AT(layout)},
        {OPTION_FLAG, 0, "big-endian", NULL, "the most significant byte of a field comes first",
         .offset = AT(big_endian)},
        {OPTION_COUNT, 0, "clock-bits", "N",
         "number of bits after which the clock wraps (default: the field's)",
         .details = "Records have no magic number, so another file may be mistaken for a dump. "
                    "Without this option, assay refuses files of other formats, and a file whose "
                    "clock goes back in every third record although tags rarely repeat.",
         .offset = AT(clock_bits)},
        {OPTION_COUNT, 0, "hz", "N", "ticks of the clock per second (default 1000000)",
         .offset = AT(hz)},
        {OPTION_EACH, 0, "names", "FILE",
         "a names file, or a program that contains names; may be repeated", .offset = AT(names)},
        {.kind = OPTION_INCLUDE, .include = tags_output_option_table, .offset = AT(output)},
        {OPTION_FLAG, 'q', "quiet", NULL, "print no closing line", .offset = AT(quiet)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct import_options *o = p;

	o->output = TAGS_TRACE_DEFAULT;
	o->hz = 1000000;
}

static void tell(const struct import_options *o, const char *path,
                 const struct tag_dump_result *result)
{
	struct buf text = {0};

	if (result->trailing_bytes)
		print_message("%s has %" PRIu64 " %s after its last complete record: skipped", path,
		              result->trailing_bytes,
		              plural(result->trailing_bytes, "byte", "bytes"));
	if (!result->events)
		print_message("%s has no records", path);
	text_counted(&text, result->events, "event", "events");
	if (result->turns)
		buf_addf(&text, ", whose clock wrapped %" PRIu64 " %s,", result->turns,
		         plural(result->turns, "time", "times"));
	if (!o->quiet)
		print_message("%s in %s; 'assay report %s' prints a summary", buf_text(&text),
		              o->output, o->output);
	buf_done(&text);
}

static int import(const struct import_options *o, const char *path, struct tag_names *names,
                  struct error *err)
{
	struct tag_dump_options dump = {.layout = o->layout,
	                                .big_endian = o->big_endian,
	                                .clock_bits = (unsigned)o->clock_bits,
	                                .hz = o->hz};
	struct ctf_writer_facts facts = {.clock = {.hz = o->hz, .offset_ns = INT64_MIN}};
	struct tag_dump_result result = {0};
	struct ctf_writer *writer;
	uint32_t stream;
	int rc = ctf_writer_new(&writer, o->output, err);

	if (rc)
		return rc;
	rc = ctf_writer_stream(writer, ctf_writer_names(writer, names), true, &stream, err);
	if (!rc)
		rc = tag_dump_import(writer, stream, path, &dump, &result, err);
	if (!rc)
		rc = ctf_writer_finish(writer, &facts, err);
	ctf_writer_free(writer);
	if (rc)
		rmdir(o->output); /* fails if there is a file in it */
	else
		tell(o, path, &result);
	return rc;
}

static int run(void *p, int argc, char **argv)
{
	const struct import_options *o = p;
	struct tag_names *names;
	struct error err = {0};
	int status = 0;

	if (argc != 1)
		return command_fail(2, "tags import: needs one file, or - for standard input");
	if (!o->hz || o->hz > UINT64_C(1000000000000))
		return command_fail(2,
		                    "tags import: --hz must be from 1 to 10^12 ticks per second");
	if (o->clock_bits > 64)
		return command_fail(2, "tags import: --clock-bits must be from 1 to 64");
	names = tag_names_new();
	for (size_t i = 0; i < o->names.count && !status; i++)
		if (names_file_read(names, o->names.items[i], &err))
			status = command_fail(1, "tags import: %s", err.text);
	if (!status && import(o, argv[0], names, &err))
		status = command_fail(1, "tags import: %s", err.text);
	tag_names_free(names);
	return status;
}

const struct command tags_import = {
        .name = "tags import",
        .synopsis = "[OPTIONS] DUMP",
        .summary = "convert the dump of another capture device to a trace",
        .description =
                "Reads a sequence of records of a tag and a clock that a device outside the CPU, "
                "an "
                "emulator or another program wrote, and writes a trace for 'assay "
                "report' and 'assay tags trace'. Between two records the clock may wrap "
                "at most once, since only the difference is used. Processes are separated by the "
                "functions that have a '!' in the names file.",
        .examples = "assay tags import --names kernel.names ram.dump\n"
                    "    16-bit tags and a 24-bit clock of microseconds\n"
                    "assay tags import --layout csv --hz 1000000000 --names x.names x.csv\n"
                    "    two columns, nanoseconds and tag\n",
        .options = options,
        .options_size = sizeof(struct import_options),
        .defaults = defaults,
        .run = run,
};

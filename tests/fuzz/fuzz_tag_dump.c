/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a dump: a line with the layout, "be" or "le", and the clock's bits, then the dump.
 * The trace has as many events as the import counted, in ascending time.
 */
#include "format/ctf/tag_dump.h"

#include "fuzz_directory.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint64_t count_events(const char *path)
{
	struct tag_recording *r;
	struct tag_reader *reader;
	struct tag_packet p;
	uint64_t events = 0, last = 0;

	if (ctf_recording_open(&r, path, NULL))
		abort();
	if (r->streams.count) {
		if (r->open(r, 0, &reader, NULL))
			abort();
		while (reader->next(reader, &p, NULL) == 1) {
			if (p.begin < last || p.end < p.begin)
				abort();
			last = p.end;
			events += p.count;
		}
		reader->close(reader);
	}
	tag_recording_free(r);
	return events;
}

static void import(const char *dump, const struct tag_dump_options *options, size_t size)
{
	struct ctf_writer_facts facts = {.clock = {1000000, INT64_MIN}};
	struct tag_names *names = tag_names_new();
	struct tag_dump_result result;
	struct error err = {0};
	struct ctf_writer *w;
	char path[128];
	uint32_t stream;
	int rc;

	snprintf(path, sizeof(path), "%s/trace", fuzz_directory_get());
	if (ctf_writer_new(&w, path, NULL) ||
	    ctf_writer_stream(w, ctf_writer_names(w, names), true, &stream, NULL))
		abort();
	rc = tag_dump_import(w, stream, dump, options, &result, &err);
	if (ctf_writer_finish(w, &facts, NULL))
		abort();
	ctf_writer_free(w);
	if ((rc && !err.text[0]) || result.events > size || result.trailing_bytes >= 16)
		abort();
	if (!rc && count_events(path) != result.events)
		abort();
	tag_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = memchr(bytes, '\n', size < 200 ? size : 200);
	struct tag_dump_options options = {0};
	char layout[201] = "", order[3] = "";
	char line[201] = "", path[128];

	if (!end)
		return 0;
	memcpy(line, bytes, (size_t)(end - bytes));
	if (sscanf(line, "%200s %2s %3u", layout, order, &options.clock_bits) >= 1)
		options.layout = layout;
	options.big_endian = !strcmp(order, "be");
	fuzz_put("dump", end + 1, size - (size_t)(end + 1 - bytes), path);
	import(path, &options, size);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a trace again: compressed or not, in the layout of assay. Uses: base, tags. */
#include "format/ctf/ctf.h"

#include <stdlib.h>

/* The number of a stream's names in the new trace; names that streams share stay shared. */
static uint32_t names_of(struct ctf_writer *w, const struct tag_recording *r, uint32_t stream,
                         uint32_t *numbers)
{
	for (uint32_t i = 0; i < stream; i++)
		if (r->streams.items[i].names == r->streams.items[stream].names)
			return numbers[i];
	return ctf_writer_names(w, r->streams.items[stream].names);
}

static int copy_stream(struct ctf_writer *w, struct tag_recording *r, uint32_t stream, uint32_t to,
                       struct error *err)
{
	struct tag_reader *reader;
	struct tag_packet p;
	int rc = r->open(r, stream, &reader, err);

	if (rc)
		return rc;
	while ((rc = reader->next(reader, &p, err)) > 0) {
		rc = ctf_writer_packet(w, to, &p, err);
		if (rc)
			break;
	}
	reader->close(reader);
	return rc;
}

static int copy_streams(struct ctf_writer *w, struct tag_recording *r, struct error *err)
{
	uint32_t *numbers = xcalloc(r->streams.count + 1, sizeof(*numbers));
	int rc = 0;

	for (uint32_t i = 0; i < r->streams.count && !rc; i++) {
		uint32_t to;

		numbers[i] = names_of(w, r, i, numbers);
		rc = ctf_writer_stream(w, numbers[i], r->streams.items[i].device, &to, err);
		if (!rc)
			rc = copy_stream(w, r, i, to, err);
	}
	free(numbers);
	return rc;
}

int ctf_copy(struct tag_recording *r, const char *path, bool compress, struct error *err)
{
	const struct ctf_writer_facts facts = {.clock = r->clock,
	                                       .trigger = r->trigger,
	                                       .switches = r->switches,
	                                       .command = r->command,
	                                       .host = r->host,
	                                       .switches_lost = r->switches_lost};
	struct ctf_writer *w;
	int rc = ctf_writer_new(&w, path, err);

	if (rc)
		return rc;
	if (compress)
		ctf_writer_compress(w);
	rc = copy_streams(w, r, err);
	if (!rc)
		rc = ctf_writer_finish(w, &facts, err);
	ctf_writer_free(w);
	return rc;
}

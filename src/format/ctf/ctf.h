/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf: event tags as a CTF 1.8 trace: a directory with `metadata` (TSDL) and one file for each
 * stream.
 *
 * Writing: event.header is { 24-bit id; 40-bit timestamp }, ids are tags, and each set of names has
 * its own stream class (two, if devices and threads use it); the packet context is struct
 * assay_tags_packet. A name with an event has the event classes "NAME" (entry) and "NAME:exit", or
 * "NAME" (inline tags). A tag with an event and no name is "tag_N". All other names, and facts for
 * which CTF has no notation (`!`, `=`), are comments in the metadata, which other CTF readers skip.
 * docs/FORMAT.md describes the format.
 *
 * Reading: traces of assay and of other tools, if the event header is an integer id (below 2^24)
 * and an integer timestamp of up to 64 bits each, mapped to one clock, if events have no payload,
 * and if the heads of packets have a fixed size. Words of another layout are converted. Other
 * traces are refused with name and line. The bytes are not trusted. A file that ends too early is
 * read as far as it is complete: a last piece without words reports the loss (`lost`, `gap`).
 * Damage elsewhere is -EBADMSG, with file and byte. An unfinished trace (killed, no metadata) is
 * refused with the way out.
 *
 *	ctf_recording_open()	struct tag_recording, which has its own free function
 *	ctf_writer_new(), _stream(), _packet()..., ctf_writer_finish() or _free()
 *	ctf_copy()		from a recording to a trace
 *
 * Files have mode 0600, the directory 0700. Functions return 0 or -errno. One thread uses a writer.
 * Uses: base, tags.
 */
#ifndef ASSAY_FORMAT_CTF_CTF_H
#define ASSAY_FORMAT_CTF_CTF_H

#include "base/error.h"
#include "tags/tag_stream.h"

/* `path`: the directory, or its metadata. */
int ctf_recording_open(struct tag_recording **r, const char *path, struct error *err);

/* True if the path is a directory with a metadata file. */
bool ctf_is_trace(const char *path);

/* Reports why a path without metadata is not a trace; -ENOENT. */
int ctf_no_trace(const char *path, struct error *err);

struct ctf_writer;

/* Checks that the trace can be created: the path is free, or has an older trace. */
int ctf_writer_check(const char *path, struct error *err);

/*
 * Creates the directory. An existing trace is renamed to PATH.old, and an older .old is removed if
 * it is a trace; else -EEXIST.
 */
int ctf_writer_new(struct ctf_writer **w, const char *path, struct error *err);

/*
 * Compresses all streams (format/ctf/ctf_packed.h). Other readers of CTF cannot read them. To be
 * called before the first packet.
 */
void ctf_writer_compress(struct ctf_writer *w);

/*
 * Adds a stream class for a set of names and returns its number, from 0. The caller owns the names,
 * which are read at ctf_writer_finish().
 */
uint32_t ctf_writer_names(struct ctf_writer *w, const struct tag_names *names);

/* Adds a stream (a file) and returns its number, from 0. `device`: see tags/tag_stream.h. */
int ctf_writer_stream(struct ctf_writer *w, uint32_t names, bool device, uint32_t *stream,
                      struct error *err);

/*
 * Writes words; words of 0 and of ASSAY_TAG_VOID are skipped. Any number of words is accepted: they
 * are divided into packets, each within one turn of the clock. Each packet is written at once;
 * after a failed write the file is as before.
 */
int ctf_writer_packet(struct ctf_writer *w, uint32_t stream, const struct tag_packet *packet,
                      struct error *err);

struct ctf_writer_facts {
	struct tag_clock clock;
	bool switches;
	const char *command; /* NULL: unknown */
	const char *host;    /* NULL: unknown */
	uint64_t switches_lost;
	struct tag_trigger_cost trigger;
};

/* Writes the metadata and closes the files; ctf_writer_free() must be called with or without it. */
int ctf_writer_finish(struct ctf_writer *w, const struct ctf_writer_facts *facts,
                      struct error *err);
void ctf_writer_free(struct ctf_writer *w);

/*
 * Writes a recording as a trace in the directory `path`, which must not be the recording's own
 * directory. After an error the directory has the part that was written.
 */
int ctf_copy(struct tag_recording *r, const char *path, bool compress, struct error *err);

#endif

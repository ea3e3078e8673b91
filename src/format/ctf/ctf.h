/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf: event tags as a CTF 1.8 trace: a directory with `metadata` (TSDL) and a file a
 * stream.
 *
 * Written: event.header is { 24-bit id; 40-bit timestamp }, ids are tags, each names
 * set a stream class of its own (two, if devices and threads have it); packet context as
 * struct assay_tags_packet. Names of which an event came have events "NAME" (entry) and
 * "NAME:exit", or "NAME" (inline tags); tags that came and have no name are "tag_N"; all
 * other names, and what else CTF has no word for (`!`, `=`), stand in comments of the
 * metadata that CTF readers skip. docs/FORMAT.md has it all.
 *
 * Read: traces of this kind, ours or others': any whose event header is an integer id
 * (below 2^24) and an integer timestamp mapped to one clock, of up to 64 bits each, without
 * payloads, and whose packets' heads have a fixed size; converted to words where they are
 * not ours already. What is not of this kind is refused by name and line. Bytes are not
 * trusted. A file that ends too early is read as far as it is whole: a last piece without
 * words tells what is missing (`lost`, `gap`). Damage elsewhere is -EBADMSG, with file and
 * byte. A trace that was not finished (no metadata: killed) is refused with what to do.
 *
 *	ctf_recording_open()	struct tag_recording; frees itself
 *	ctf_writer_new(), _stream(), _packet()..., ctf_writer_finish() or _free()
 *
 * Files 0600, the directory 0700. 0 or -errno. A writer is one thread's. Uses: base, trace.
 */
#ifndef ASSAY_FORMAT_CTF_CTF_H
#define ASSAY_FORMAT_CTF_CTF_H

#include "base/error.h"
#include "tags/tag_stream.h"

/* `path`: the directory, or its metadata. */
int ctf_recording_open(struct tag_recording **r, const char *path, struct error *err);

/* It looks like a CTF trace (a directory with a metadata file). */
bool ctf_is_trace(const char *path);

/* Says why a path without metadata is no trace; -ENOENT. */
int ctf_no_trace(const char *path, struct error *err);

struct ctf_writer;

/* It could be made, as things stand: nothing else than an older trace is in the way. */
int ctf_writer_check(const char *path, struct error *err);

/* Makes the directory; there is one already: it becomes PATH.old (an older .old is removed,
   if it is a trace; else -EEXIST). */
int ctf_writer_new(struct ctf_writer **w, const char *path, struct error *err);

/* A stream class for a set of names; its number, from 0. The names are the caller's, and are
   read at ctf_writer_finish(). */
uint32_t ctf_writer_names(struct ctf_writer *w, const struct tag_names *names);

/* A stream (a file); its number, from 0. `device`: see tags/tag_stream.h. */
int ctf_writer_stream(struct ctf_writer *w, uint32_t names, bool device, uint32_t *stream,
                      struct error *err);

/*
 * Words of 0 and of ASSAY_TAG_VOID are left out. Words may be any number; they are cut into
 * packets as needed, so that each is within one turn of the clock. Written at once (one write
 * a packet); a write that fails leaves the file as it was.
 */
int ctf_writer_packet(struct ctf_writer *w, uint32_t stream, const struct tag_packet *packet,
                      struct error *err);

struct ctf_writer_facts {
	struct tag_clock clock;
	bool switches;
	const char *command; /* NULL: not known */
	const char *host;    /* NULL: not known */
	uint64_t switches_lost;
};

/* Writes the metadata and closes; after it, or without it, ctf_writer_free(). */
int ctf_writer_finish(struct ctf_writer *w, const struct ctf_writer_facts *facts,
                      struct error *err);
void ctf_writer_free(struct ctf_writer *w);

#endif

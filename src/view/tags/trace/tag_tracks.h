/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_tracks: the threads of a trace of event tags, by number, for pictures with a lane for each
 * thread. For a device, the CPU is the process and the device's processes are the threads; 0 is
 * idle and interrupts.
 *
 * A zeroed struct is empty. tag_tracks_of() gives the number of the track of a line; a new track
 * gets the next number. tag_tracks_done() frees. One thread. Uses: base, tags, view.
 */
#ifndef ASSAY_VIEW_TAGS_TRACE_TAG_TRACKS_H
#define ASSAY_VIEW_TAGS_TRACE_TAG_TRACKS_H

#include "base/memory/buf.h"
#include "base/memory/hash.h"
#include "view/tags/trace/tag_trace.h"

struct tag_track {
	uint32_t stream, process; /* process: for a device; otherwise 0 */
	int32_t pid, tid;
	bool device;
	bool named; /* tag_track_names() was true */
};

struct tag_tracks {
	VEC(struct tag_track) items;
	struct id_table index;
};

uint32_t tag_tracks_of(struct tag_tracks *tracks, const struct tag_trace *t,
                       const struct trace_line *line);
void tag_tracks_done(struct tag_tracks *tracks);

/* True at the first line that says which process of a device the track is. */
bool tag_track_names(struct tag_track *track, const struct trace_line *line,
                     const struct tag_identity *who);
/* Whether the device recorded the name of the process whose line it is. */
static inline bool tag_line_is_named(const struct trace_line *line, const struct tag_identity *who)
{
	return line->kind == TRACE_LINE_IN && line->process && who->process[0];
}

/* Append the name of the process, and of the thread. `who`: the identity in the track's first
 * line, and in the line of tag_track_names(). */
void tag_track_process(const struct tag_track *track, const struct tag_identity *who,
                       struct buf *out);
void tag_track_thread(const struct tag_track *track, const struct tag_identity *who,
                      struct buf *out);

#endif

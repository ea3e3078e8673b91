/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/trace/tag_tracks.h"

#include <inttypes.h>

static bool track_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct tag_track *track = &((const struct tag_tracks *)ctx)->items.items[id];
	const struct tag_track *k = key;

	return track->stream == k->stream && track->process == k->process && track->pid == k->pid &&
	       track->tid == k->tid;
}

uint32_t tag_tracks_of(struct tag_tracks *tracks, const struct tag_trace *t,
                       const struct trace_line *line)
{
	const struct tag_identity *who = &t->whos.items[line->who];
	struct tag_track track = {.stream = who->stream};
	uint64_t hash;
	uint32_t id;

	track.device = t->recording->streams.items[who->stream].device;
	track.process = track.device ? line->process : 0;
	track.pid = track.device ? (int32_t)who->stream + 1 : who->pid;
	track.tid = track.device ? (int32_t)line->process
	            : who->tid   ? who->tid
	                         : (int32_t)who->stream + 1;
	hash = hash_pair(hash_pair(track.stream, track.process),
	                 hash_pair((uint32_t)track.pid, (uint32_t)track.tid));
	id = id_table_find(&tracks->index, hash, track_equal, tracks, &track);
	if (id != ID_NONE)
		return id;
	id = (uint32_t)tracks->items.count;
	id_table_add(&tracks->index, hash, id);
	vec_push(&tracks->items, track);
	return id;
}

void tag_tracks_done(struct tag_tracks *tracks)
{
	vec_done(&tracks->items);
	id_table_done(&tracks->index);
}

bool tag_track_names(struct tag_track *track, const struct trace_line *line,
                     const struct tag_identity *who)
{
	if (!track->device || track->named || !tag_line_is_named(line, who))
		return false;
	track->named = true;
	return true;
}

void tag_track_process(const struct tag_track *track, const struct tag_identity *who,
                       struct buf *out)
{
	if (track->device)
		buf_addf(out, "cpu %" PRIu32, who->stream);
	else
		buf_puts(out, who->process);
}

void tag_track_thread(const struct tag_track *track, const struct tag_identity *who,
                      struct buf *out)
{
	if (track->device && !track->process)
		buf_puts(out, "no process");
	else if (track->device && track->named)
		buf_puts(out, who->process);
	else if (track->device)
		buf_addf(out, "process %" PRIu32, track->process);
	else
		buf_puts(out, who->thread);
}

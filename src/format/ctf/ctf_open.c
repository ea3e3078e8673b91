/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a CTF trace as a recording: its metadata, and a stream for each file beside it. Uses: base,
 * trace.
 */
#include "format/ctf/ctf.h"

#include "base/limit.h"
#include "format/ctf/ctf_packed.h"
#include "format/ctf/ctf_packet.h"

#include "base/read/regular_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_MAX 172032u /* a header and a context of 64 KB each, strings, padding */

struct ctf_recording {
	struct tag_recording recording;
	struct ctf_trace trace;
	VEC(char *) files; /* of each stream */
};

static char *directory_of(const char *path)
{
	static const char name[] = "/metadata";
	size_t length = strlen(path), tail = sizeof(name) - 1;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return xstrdup(path);
	if (!strcmp(path, name + 1))
		return xstrdup(".");
	if (length > tail && !strcmp(path + length - tail, name))
		return xstrndup(path, length - tail);
	return xstrdup(path);
}

bool ctf_is_trace(const char *path)
{
	char *directory = directory_of(path);
	char *metadata = xasprintf("%s/metadata", directory);
	struct stat st;
	bool is = !stat(metadata, &st) && S_ISREG(st.st_mode);

	free(metadata);
	free(directory);
	return is;
}

static int no_metadata(const char *directory, int code, struct error *err)
{
	char *stream = xasprintf("%s/stream_0", directory);
	bool begun = !access(stream, F_OK), there = !access(directory, F_OK);

	free(stream);
	if (code == ENOTDIR && there)
		return error_set(
		        err, code,
		        "%s is not a trace of event tags, which is a directory with a file "
		        "'metadata'",
		        directory);
	if (code == ENOENT && !there)
		return error_set(err, code,
		                 "%s: no such trace; 'assay tags -o %s -- COMMAND' "
		                 "would create one",
		                 directory, directory);
	if (code == ENOENT && !begun)
		return error_set(err, code,
		                 "%s is a directory and not a trace of event tags, which has a "
		                 "file 'metadata'",
		                 directory);
	if (code == ENOENT)
		return error_set(
		        err, code,
		        "%s has no metadata: its recording was not finished (killed?), and the "
		        "names of its tags are unknown; record again, or get the data that "
		        "the processes still hold with: assay tags get",
		        directory);
	return error_set(err, code, "cannot read %s/metadata: %s", directory,
	                 code == EINVAL ? "not a regular file" : strerror(code));
}

int ctf_no_trace(const char *directory, struct error *err)
{
	return no_metadata(directory, ENOENT, err);
}

static int read_metadata(struct ctf_trace *t, const char *directory, struct error *err)
{
	static const uint8_t packets[] = {0x57, 0x1d, 0xd1, 0x75},
	                     swapped[] = {0x75, 0xd1, 0x1d, 0x57};
	char *path = xasprintf("%s/metadata", directory), *text = NULL;
	struct stat st;
	ssize_t size;
	int fd = regular_file_open(path, &st), rc = 0;

	if (fd < 0) {
		rc = no_metadata(directory, -fd, err);
		goto out;
	}
	if ((uint64_t)st.st_size > LIMIT_METADATA_BYTES) {
		rc = error_set(err, EFBIG, "%s has more than %zu MB", path,
		               LIMIT_METADATA_BYTES >> 20);
		goto out;
	}
	text = xmalloc((size_t)st.st_size + 1);
	size = regular_file_read(fd, text, (size_t)st.st_size);
	if (size < 0)
		rc = error_set(err, (int)-size, "cannot read %s: %s", path, strerror((int)-size));
	else if (size >= 4 && (!memcmp(text, packets, 4) || !memcmp(text, swapped, 4)))
		rc = error_set(err, EINVAL,
		               "%s is a trace of LTTng, and assay reads traces of event tags "
		               "alone: 'babeltrace2 %s' prints it; 'assay record' samples a "
		               "machine, and 'assay waits' traces its switches",
		               directory, directory);
	else
		rc = ctf_trace_read(t, text, (size_t)size, path, err);
out:
	if (fd >= 0)
		close(fd);
	free(text);
	free(path);
	return rc;
}

static int is_stream(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "metadata");
}

/* Sets up a stream from the first packet of its file. False: the file is empty. */
static int look_at(struct ctf_recording *r, const char *path, uint64_t size, int fd, uint8_t *bytes,
                   struct error *err)
{
	struct tag_stream *s = vec_add(&r->recording.streams);
	const ssize_t before = sizeof(struct ctf_packed_head);
	struct ctf_head head;
	const char *why;
	ssize_t have = regular_file_read(fd, bytes, HEAD_MAX);
	int rc;

	if (have < 0)
		return error_set(err, (int)-have, "cannot read %s: %s", path, strerror((int)-have));
	if (ctf_is_packed(bytes, (uint64_t)have)) { /* the packet's head is not compressed */
		have = have > before ? have - before : 0;
		memmove(bytes, bytes + before, (size_t)have);
	}
	rc = ctf_head_read(&r->trace, bytes, (uint64_t)have, &head, &why);
	if (rc < 0 && bytes[0])
		return error_set(
		        err, EBADMSG,
		        "%s: byte 0: %s: it is not a stream of this trace, or is damaged; the "
		        "rest can be read without it",
		        path, why);
	s->id = (uint32_t)r->recording.streams.count - 1;
	s->device = r->trace.classes.items[head.class].device;
	s->names = r->recording.names.items[head.class];
	s->pid = head.pid;
	s->tid = head.tid;
	memcpy(s->process, head.process, sizeof(s->process));
	memcpy(s->thread, head.thread, sizeof(s->thread));
	s->begin = head.begin;
	s->bytes = size;
	vec_push(&r->files, xstrdup(path));
	return 0;
}

static int add_stream(struct ctf_recording *r, const char *path, uint8_t *bytes, struct error *err)
{
	struct stat st;
	int fd, rc = 0;

	if (stat(path, &st))
		return error_set(err, errno, "cannot read %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode) ||
	    !st.st_size) /* skip LTTng's index, and streams without packets */
		return 0;
	fd = regular_file_open(path, &st);
	if (fd < 0)
		return error_set(err, -fd, "cannot read %s: %s", path,
		                 fd == -EINVAL ? "not a regular file" : strerror(-fd));
	rc = look_at(r, path, (uint64_t)st.st_size, fd, bytes, err);
	close(fd);
	return rc;
}

static int add_streams(struct ctf_recording *r, const char *directory, struct error *err)
{
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, is_stream, versionsort), rc = 0;
	uint8_t *bytes;

	if (count < 0)
		return error_set(err, errno, "cannot read %s: %s", directory, strerror(errno));
	bytes = xcalloc(1, HEAD_MAX);
	for (int i = 0; i < count; i++) {
		char *path = xasprintf("%s/%s", directory, entries[i]->d_name);

		rc = rc ? rc : add_stream(r, path, bytes, err);
		free(path);
		free(entries[i]);
	}
	free(bytes);
	free(entries);
	return rc;
}

static int open_stream(struct tag_recording *recording, uint32_t stream, struct tag_reader **reader,
                       struct error *err)
{
	struct ctf_recording *r = (struct ctf_recording *)recording;

	return ctf_reader_open(reader, &r->trace, r->files.items[stream], err);
}

static void free_recording(struct tag_recording *recording)
{
	struct ctf_recording *r = (struct ctf_recording *)recording;

	for (size_t i = 0; i < recording->names.count; i++)
		tag_names_free(recording->names.items[i]);
	for (size_t i = 0; i < r->files.count; i++)
		free(r->files.items[i]);
	vec_done(&recording->names);
	vec_done(&recording->streams);
	vec_done(&r->files);
	free(recording->path);
	free(recording->command);
	free(recording->host);
	ctf_trace_done(&r->trace);
	free(r);
}

/* Moves the facts of the metadata to the recording, which then owns names and command. */
static void adopt(struct ctf_recording *r)
{
	struct ctf_trace *t = &r->trace;

	r->recording.clock = t->clock;
	r->recording.switches = t->switches;
	r->recording.switches_lost = t->switches_lost;
	r->recording.trigger = t->trigger;
	r->recording.command = t->command;
	r->recording.host = t->host;
	t->command = t->host = NULL;
	for (size_t i = 0; i < t->names.count; i++)
		vec_push(&r->recording.names, t->names.items[i]);
	t->names.count = 0;
}

int ctf_recording_open(struct tag_recording **recording, const char *path, struct error *err)
{
	struct ctf_recording *r = xcalloc(1, sizeof(*r));
	int rc;

	r->recording.path = directory_of(path);
	r->recording.open = open_stream;
	r->recording.free = free_recording;
	rc = read_metadata(&r->trace, r->recording.path, err);
	if (!rc) {
		adopt(r);
		rc = add_streams(r, r->recording.path, err);
	}
	if (rc)
		free_recording(&r->recording);
	else
		*recording = &r->recording;
	return rc;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes streams of packets. Each packet is one write, so that a killed recorder leaves whole
 * packets; a failed write is undone. Only the most recently written of thousands of streams have
 * open files. Uses: base, tags.
 */
#include "format/ctf/ctf_writer.h"

#include "format/ctf/ctf_packed.h"

#include "base/file/write_all.h"
#include "tags/tag_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define NO_CLASS UINT32_MAX
#define OPEN_MAX_FILES 128u
#define WORDS_MAX CTF_PACKED_WORDS /* for each packet: 1 MB, which readers return in one piece */
#define TURN (1ull << ASSAY_TAGS_CLOCK_BITS)

struct written_stream {
	uint32_t class;
	int fd; /* -1: not open */
	bool made;
	uint64_t used; /* sequence number of its last write */
	uint64_t size; /* bytes */
	uint64_t sequence, discarded;
	uint64_t end; /* ticks, of the previous packet */
};

struct ctf_writer {
	char *path;
	int directory;
	ctf_written_classes classes;
	ctf_written_names_list names;
	VEC(struct written_stream) streams;
	uint32_t open[OPEN_MAX_FILES]; /* streams whose files are open */
	unsigned open_count;
	uint64_t writes;
	VEC(uint64_t) words; /* only the events of a packet, if some of its words are not events */
	struct ctf_packer *packer; /* NULL: streams are not compressed */
};

int ctf_writer_new(struct ctf_writer **writer, const char *path, struct error *err)
{
	struct ctf_writer *w;
	int directory = ctf_directory_make(path, err);

	if (directory < 0)
		return directory;
	w = xcalloc(1, sizeof(*w));
	w->path = xstrdup(path);
	w->directory = directory;
	*writer = w;
	return 0;
}

void ctf_writer_compress(struct ctf_writer *w)
{
	if (!w->packer)
		w->packer = ctf_packer_new();
}

void ctf_writer_free(struct ctf_writer *w)
{
	if (!w)
		return;
	ctf_packer_free(w->packer);
	for (unsigned i = 0; i < w->open_count; i++)
		close(w->streams.items[w->open[i]].fd);
	for (size_t i = 0; i < w->classes.count; i++) {
		struct ctf_seen *seen = w->classes.items[i].seen;

		for (size_t page = 0; page < sizeof(seen->pages) / sizeof(*seen->pages); page++)
			free(seen->pages[page]);
		free(seen);
	}
	vec_done(&w->classes);
	vec_done(&w->names);
	vec_done(&w->streams);
	vec_done(&w->words);
	close(w->directory);
	free(w->path);
	free(w);
}

uint32_t ctf_writer_names(struct ctf_writer *w, const struct tag_names *names)
{
	vec_push(&w->names, (struct ctf_written_names){names, {NO_CLASS, NO_CLASS}});
	return (uint32_t)w->names.count - 1;
}

int ctf_writer_stream(struct ctf_writer *w, uint32_t names, bool device, uint32_t *stream,
                      struct error *err)
{
	uint32_t *class;

	if (names >= w->names.count || w->streams.count >= NO_CLASS)
		return error_set(err, EINVAL, "%s: a stream without names", w->path);
	class = &w->names.items[names].class[device];
	if (*class == NO_CLASS) {
		*class = (uint32_t)w->classes.count;
		vec_push(&w->classes, (struct ctf_written_class){
		                              names, device, xcalloc(1, sizeof(struct ctf_seen))});
	}
	*stream = (uint32_t)w->streams.count;
	vec_push(&w->streams, (struct written_stream){.class = *class, .fd = -1});
	return 0;
}

/* Closes the file that was not written for the longest time. */
static void close_one(struct ctf_writer *w)
{
	unsigned oldest = 0;

	for (unsigned i = 1; i < w->open_count; i++)
		if (w->streams.items[w->open[i]].used < w->streams.items[w->open[oldest]].used)
			oldest = i;
	close(w->streams.items[w->open[oldest]].fd);
	w->streams.items[w->open[oldest]].fd = -1;
	w->open[oldest] = w->open[--w->open_count];
}

static int open_file(struct ctf_writer *w, uint32_t stream, struct error *err)
{
	struct written_stream *s = &w->streams.items[stream];
	char name[32];

	s->used = ++w->writes;
	if (s->fd >= 0)
		return 0;
	if (w->open_count == OPEN_MAX_FILES)
		close_one(w);
	snprintf(name, sizeof(name), "stream_%u", stream);
	s->fd = openat(w->directory, name,
	               O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
	                       (s->made ? 0 : O_CREAT | O_EXCL),
	               0600);
	if (s->fd < 0)
		return error_set(err, errno, "cannot write %s/%s: %s", w->path, name,
		                 strerror(errno));
	s->made = true;
	w->open[w->open_count++] = stream;
	return 0;
}

static int write_plain(int fd, const struct assay_tags_packet *header, const uint64_t *words,
                       size_t bytes)
{
	struct iovec parts[2] = {{(void *)(uintptr_t)header, sizeof(*header)},
	                         {(void *)(uintptr_t)words, bytes}};
	size_t total = sizeof(*header) + bytes;
	ssize_t done;
	int rc = 0;

	do
		done = writev(fd, parts, 2);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	if ((size_t)done < sizeof(*header)) {
		rc = write_all(fd, (const char *)header + done, sizeof(*header) - (size_t)done);
		done = sizeof(*header);
	}
	if (!rc && (size_t)done < total)
		rc = write_all(fd, (const char *)words + ((size_t)done - sizeof(*header)),
		               total - (size_t)done);
	return rc;
}

/* Writes all bytes or none: a reader could not read past an incomplete packet. */
static int append(struct ctf_writer *w, uint32_t stream, const struct assay_tags_packet *header,
                  const uint64_t *words, size_t count, struct error *err)
{
	struct written_stream *s = &w->streams.items[stream];
	size_t bytes = count * sizeof(*words), total = sizeof(*header) + bytes;
	const uint8_t *block;
	int rc;

	if (w->packer) {
		block = ctf_pack(w->packer, header, words, count, &total);
		rc = block ? write_all(s->fd, (const char *)block, total) : -ENOMEM;
	} else {
		rc = write_plain(s->fd, header, words, bytes);
	}
	if (!rc) {
		s->size += total;
		return 0;
	}
	if (ftruncate(s->fd, (off_t)s->size))
		return error_set(err, -rc,
		                 "cannot write %s/stream_%u: %s; the file ends within a packet",
		                 w->path, stream, strerror(-rc));
	return error_set(err, -rc, "cannot write %s/stream_%u: %s", w->path, stream, strerror(-rc));
}

static void see(struct ctf_seen *seen, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t tag = words[i] & ASSAY_TAGS_TAG_MASK;
		uint64_t **page = &seen->pages[tag / CTF_SEEN_PAGE];

		if (ctf_seen(seen,
		             tag)) /* the usual case: a test is faster than writing the bit again */
			continue;
		if (!*page)
			*page = xcalloc(CTF_SEEN_PAGE / 64, sizeof(**page));
		(*page)[tag % CTF_SEEN_PAGE / 64] |= 1ull << tag % 64;
	}
}

/*
 * The number of words that fit into a packet that begins at `begin`; *last: the time of the last of
 * them.
 */
static size_t run_of(const uint64_t *words, size_t count, uint64_t begin, uint64_t *last)
{
	uint64_t now = begin, span = tag_words_span(words, count);
	size_t i;

	if (count && count <= WORDS_MAX && tag_words_ascend(words, count)) {
		uint64_t first = tag_words_time(begin, words[0]);

		*last = first + span;
		if (*last - begin < TURN)
			return count;
	}
	for (i = 0; i < count && i < WORDS_MAX; i++) {
		uint64_t t = tag_words_time(now, words[i]);

		if (t - begin >= TURN)
			break;
		now = t;
	}
	*last = now;
	return i;
}

struct ctf_run {
	uint64_t begin, last;
	const uint64_t *words;
	size_t count;
	bool first, final; /* of the caller's packet */
};

static void fill_header(struct assay_tags_packet *h, struct written_stream *s,
                        const struct tag_packet *p, const struct ctf_run *run)
{
	uint64_t bits = (sizeof(*h) + run->count * 8) * 8;
	uint64_t first = run->count ? tag_words_time(run->begin, run->words[0]) : UINT64_MAX;

	*h = (struct assay_tags_packet){.magic = ASSAY_CTF_MAGIC,
	                                .stream_id = s->class,
	                                .begin = run->begin,
	                                .end = run->last,
	                                .content_bits = bits,
	                                .packet_bits = bits,
	                                .sequence = s->sequence++,
	                                .pid = p->pid,
	                                .tid = p->tid};
	/*
	 * CTF readers expect packets that do not overlap; a beginning may be earlier than its
	 * event.
	 */
	if (h->begin < s->end)
		h->begin = s->end < first ? s->end : first;
	if (run->final && p->end > h->end)
		h->end = p->end;
	h->end = h->end < h->begin ? h->begin : h->end;
	s->discarded += run->first ? p->lost : 0;
	h->discarded = s->discarded;
	h->flags = !run->first
	                   ? 0
	                   : (p->gap ? ASSAY_TAGS_GAP : 0) | (p->forked ? ASSAY_TAGS_FORKED : 0);
	memcpy(h->thread, p->thread, sizeof(h->thread));
	memcpy(h->process, p->process, sizeof(h->process));
	s->end = h->end;
}

/* The events of the packet; usually all words are events. */
static const uint64_t *real_words(struct ctf_writer *w, const struct tag_packet *p, size_t *count)
{
	*count = p->count;
	if (tag_words_are_events(p->words, p->count))
		return p->words;
	vec_reserve(&w->words, p->count);
	*count = 0;
	for (size_t i = 0; i < p->count; i++)
		if (tag_words_are_events(&p->words[i], 1))
			w->words.items[(*count)++] = p->words[i];
	return w->words.items;
}

int ctf_writer_packet(struct ctf_writer *w, uint32_t stream, const struct tag_packet *packet,
                      struct error *err)
{
	struct written_stream before;
	struct ctf_run run = {.begin = packet->begin, .first = true};
	size_t left;
	int rc;

	if (stream >= w->streams.count)
		return error_set(err, EINVAL, "%s: there is no stream %u", w->path, stream);
	rc = open_file(w, stream, err);
	if (rc)
		return rc;
	run.words = real_words(w, packet, &left);
	see(w->classes.items[w->streams.items[stream].class].seen, run.words, left);
	do {
		struct assay_tags_packet header;

		if (!run.first) /* a second packet for the same words begins with its first event */
			run.begin = tag_words_time(run.last, run.words[0]);
		run.count = run_of(run.words, left, run.begin, &run.last);
		left -= run.count;
		run.final = !left;
		before = w->streams.items[stream];
		fill_header(&header, &w->streams.items[stream], packet, &run);
		rc = append(w, stream, &header, run.words, run.count, err);
		if (rc) { /* restore the stream as before, except its descriptor */
			before.fd = w->streams.items[stream].fd;
			w->streams.items[stream] = before;
		}
		run.first = false;
		if (left) /* a packet without words has no pointer to advance */
			run.words += run.count;
	} while (!rc && left);
	return rc;
}

/* The metadata file appears complete, by renaming; a trace without it counts as unfinished. */
int ctf_writer_finish(struct ctf_writer *w, const struct ctf_writer_facts *facts, struct error *err)
{
	int fd, rc;

	if (!facts->clock.hz)
		return error_set(err, EINVAL, "%s: a clock of 0 ticks per second", w->path);
	unlinkat(w->directory, ".metadata", 0);
	fd = openat(w->directory, ".metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
	            0600);
	if (fd < 0)
		return error_set(err, errno, "cannot write %s/metadata: %s", w->path,
		                 strerror(errno));
	rc = ctf_metadata_write(fd, &w->classes, &w->names, facts, w->packer != NULL);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && renameat(w->directory, ".metadata", w->directory, "metadata"))
		rc = -errno;
	if (rc)
		unlinkat(w->directory, ".metadata", 0);
	return rc ? error_set(err, -rc, "cannot write %s/metadata: %s", w->path, strerror(-rc)) : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf_fixture: a directory for traces, files of given bytes, and all events of a stream by the
 * rules of tags/tag_stream.h.
 */
#ifndef ASSAY_TESTS_CTF_FIXTURE_H
#define ASSAY_TESTS_CTF_FIXTURE_H

#include "format/ctf/ctf.h"

#include "base/memory/xalloc.h"
#include "check.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORD(time, tag)                                                                            \
	((((uint64_t)(time)&ASSAY_TAGS_CLOCK_MASK) << ASSAY_TAGS_TAG_BITS) | (uint64_t)(tag))

static char fixture_directory[] = "/tmp/assay-ctf-XXXXXX";
static uint64_t fixture_random = 88172645463325252u;

struct seen_event {
	uint64_t time;
	uint32_t tag;
};

struct all {
	VEC(struct seen_event) events;
	uint64_t lost, gaps,
	        backwards; /* backwards: pieces that begin before the end of the previous one */
	struct error err;
};

/* xorshift: the same sequence in each run. */
static inline uint64_t random_below(uint64_t limit)
{
	fixture_random ^= fixture_random << 13;
	fixture_random ^= fixture_random >> 7;
	fixture_random ^= fixture_random << 17;
	return fixture_random % limit;
}

static inline bool fixture_begin(void)
{
	return mkdtemp(fixture_directory) != NULL;
}

static inline int fixture_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	return remove(path);
}

static inline void fixture_end(void)
{
	nftw(fixture_directory, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path in the directory; the caller frees it. */
static inline char *place(const char *name)
{
	return xasprintf("%s/%s", fixture_directory, name);
}

static inline void put_bytes(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

static inline size_t get_bytes(const char *path, void *bytes, size_t room)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, bytes, room);

	CHECK(fd >= 0 && n >= 0);
	close(fd);
	return n < 0 ? 0 : (size_t)n;
}

static inline int read_stream(struct tag_recording *r, uint32_t stream, struct all *all)
{
	struct tag_reader *reader;
	struct tag_packet p;
	uint64_t end = 0;
	int rc = r->open(r, stream, &reader, &all->err);

	if (rc)
		return rc;
	while ((rc = reader->next(reader, &p, &all->err)) == 1) {
		uint64_t t = p.begin;

		all->lost += p.lost;
		all->gaps += p.gap;
		all->backwards += p.begin < end;
		end = p.end;
		for (size_t i = 0; i < p.count; i++) {
			t += ((p.words[i] >> ASSAY_TAGS_TAG_BITS) - t) & ASSAY_TAGS_CLOCK_MASK;
			vec_push(&all->events,
			         (struct seen_event){t, p.words[i] & ASSAY_TAGS_TAG_MASK});
		}
		CHECK(p.end >= t);
	}
	reader->close(reader);
	return rc;
}

/* Returns 0: all events of a stream are in `all`; or the result of opening or reading. */
static inline int read_all(const char *path, uint32_t stream, struct all *all)
{
	struct tag_recording *r;
	int rc = ctf_recording_open(&r, path, &all->err);

	if (rc)
		return rc;
	if (stream < r->streams.count)
		rc = read_stream(r, stream, all);
	tag_recording_free(r);
	return rc;
}

static inline void all_done(struct all *all)
{
	vec_done(&all->events);
	*all = (struct all){0};
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctf_writer: private declarations of the CTF writer's files. Internal to format/ctf_*.c. Uses:
 * base, trace.
 */
#ifndef ASSAY_FORMAT_CTF_CTF_WRITER_H
#define ASSAY_FORMAT_CTF_CTF_WRITER_H

#include "format/ctf/ctf.h"

#define CTF_SEEN_PAGE 4096u

/* The set of tags with events: one bit each, in pages that are allocated when needed. */
struct ctf_seen {
	uint64_t *pages[(1u << ASSAY_TAGS_TAG_BITS) / CTF_SEEN_PAGE];
};

struct ctf_written_class {
	uint32_t names;
	bool device;
	struct ctf_seen *seen;
};

/* A class without names or events still has a number: the index in `classes`. */
struct ctf_written_names {
	const struct tag_names *names;
	uint32_t class[2]; /* number for threads and number for devices; CTF_NONE: unused */
};

static inline bool ctf_seen(const struct ctf_seen *s, uint32_t tag)
{
	const uint64_t *page = s->pages[tag / CTF_SEEN_PAGE];

	return page && (page[tag % CTF_SEEN_PAGE / 64] >> tag % 64 & 1);
}

typedef VEC(struct ctf_written_class) ctf_written_classes;
typedef VEC(struct ctf_written_names) ctf_written_names_list;

/* Writes the metadata to `fd`. Returns 0 or -errno. */
int ctf_metadata_write(int fd, const ctf_written_classes *classes,
                       const ctf_written_names_list *names, const struct ctf_writer_facts *facts,
                       bool compressed);

/*
 * Creates the empty directory `path`, 0700; an older trace is renamed to PATH.old. Another item is
 * not touched: -EEXIST. Returns a descriptor for openat(), owned by the caller.
 */
int ctf_directory_make(const char *path, struct error *err);

#endif

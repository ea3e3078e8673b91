/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_keeper_internal: shared by the files of the keeper: image_keeper.c reads mappings,
 * image_keeper_file.c has the files, image_keeper_hits.c finds the files that samples hit. Life
 * cycle and threads are those of image_keeper.h. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_KEEP_IMAGE_KEEPER_INTERNAL_H
#define ASSAY_SESSION_KEEP_IMAGE_KEEPER_INTERNAL_H

#include "base/memory/buf.h"
#include "base/file/cache_dir.h"
#include "base/memory/hash.h"
#include "session/keep/image_keeper.h"
#include "source/proc/held_file.h"

/* A file that was mapped executable. */
struct image_keeper_file {
	uint64_t device, inode, generation; /* as reported by the kernel; the key of the file */
	uint64_t since_ns;                  /* time when it was opened */
	char *path;                         /* as mapped */
	struct build_id id;
	uint64_t size, mtime_ns; /* when it was opened */
	uint32_t user;           /* of the process that mapped it first */
	int fd;                  /* of held_file.h; -1: closed */
	int watch;               /* inotify's, -1 none */
	uint32_t ranges;         /* number of its ranges that are compared with samples */
	uint32_t notices; /* number of inotify notices in the second that began at notices_ns*/
	uint64_t notices_ns;
	uint64_t looked; /* number of the read of notices that looked at it last */
	bool old;        /* samples in it may have been missed */
	bool hit;
	bool at_risk;   /* it is or will be removed from its path */
	bool rewritten; /* its content was overwritten */
	bool trusted;   /* as of held_file.h */
	bool done;      /* it is kept, or cannot be kept, so it is not opened again */
};

/* A mapping of a new file, or of a file at risk. */
struct image_keeper_range {
	uint64_t start, end;
	uint64_t reach; /* while sorted: at least the end of this range and of all ranges before it
	                 */
	uint32_t file;  /* index */
	int32_t pid;
	bool ended; /* its process had exited at the last check */
};

/* Files that could not be preserved, with a few names. */
struct image_keeper_trouble {
	size_t count;
	struct buf names;
};

struct image_keeper {
	struct perf_source_event event; /* reports mappings */
	struct perf_source_options source_options;
	struct perf_source *source;
	bool eager;
	struct foreign *foreign;
	struct jit_keeper *jit;
	struct cache_dir *cache;
	struct error cache_error;

	VEC(struct image_keeper_file) files;
	struct id_table file_index, watch_index;
	size_t held, held_most; /* descriptors */
	size_t at_risk;         /* number of files at risk for which a hit is possible */
	uint64_t kept_bytes;
	struct image_keeper_trouble not_kept, rewritten;
	size_t not_held, opened;                  /* counts */
	size_t released;                          /* closed on request */
	uint64_t notice_reads, notices_due_ns;    /* of inotify: reads, and when the next is due */
	size_t notice_looks, noisy, notices_lost; /* counts: checks of files, dropped watches */

	VEC(struct image_keeper_range) ranges;
	bool sorted;
	uint64_t swept_ns;        /* time of the last search for exited processes */
	uint32_t ip_at, chain_at; /* in a sample; chain_at 0: no chain */
	struct buf cut;           /* the first part of a split record */
	struct buf news;          /* the same for the keeper's own ring */

	int epoll, inotify;
	int patience_ms; /* -1: rings wake the recorder */
	uint64_t next_look_ns, rest_ns;
};

/* The file of a mapping, opened if it is new; UINT32_MAX: not a file to preserve. */
uint32_t image_keeper_file_of(struct image_keeper *k, const struct event_mmap *m, int32_t pid);
/*
 * Checks files for which inotify has notices: a limited number of files, and not more often than
 * is due.
 */
void image_keeper_files_read(struct image_keeper *k);
/* Preserves a file that is at risk, if a sample hit it. `last`: the last chance. */
void image_keeper_file_decide(struct image_keeper *k, struct image_keeper_file *f, bool last);
/* Closes a file. */
void image_keeper_file_release(struct image_keeper *k, struct image_keeper_file *f);
/* Removes closed files from the list, if there are many. */
void image_keeper_files_compact(struct image_keeper *k);
void image_keeper_files_done(struct image_keeper *k);

void image_keeper_hits_init(struct image_keeper *k, const struct perf_event_attr *sampled);
void image_keeper_hits_add(struct image_keeper *k, uint32_t file, const struct event_mmap *m,
                           int32_t pid);
void image_keeper_hits_done(struct image_keeper *k);

/* Calls fn for each complete record; a partial record at the end waits in `cut` for the rest. */
typedef void image_keeper_record_fn(struct image_keeper *k, const uint8_t *record, size_t size);
void image_keeper_records(struct image_keeper *k, struct buf *cut, const void *records,
                          size_t bytes, image_keeper_record_fn *fn);

#endif

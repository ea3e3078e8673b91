/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache_dir: what is worth keeping between runs, under $XDG_CACHE_HOME/assay
 * (else $HOME/.cache/assay).
 *
 * One directory a kind ("unwind", "inline", "image", "jit"), one file a name,
 * most often a build-id in hexadecimal. Directories are 0700, files 0600,
 * owned by this user; links are not followed; a directory of another user is
 * refused. A file appears whole or not at all (written aside, then renamed),
 * so that several writers and readers need no lock. What it holds is for its
 * reader to check: a cache may be damaged. Each kind is kept below a number
 * of bytes by taking away what was not used for longest.
 *
 * cache_dir_open / cache_dir_close, NULL-safe; every operation takes a NULL
 * cache and then finds and keeps nothing. Not safe for several threads; safe
 * for several processes. Uses: base.
 */
#ifndef ASSAY_BASE_FILE_CACHE_DIR_H
#define ASSAY_BASE_FILE_CACHE_DIR_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct cache_dir;

/* -errno with a sentence where there can be no cache: no home, not ours, read only. */
int cache_dir_open(struct cache_dir **c, struct error *err);
void cache_dir_close(struct cache_dir *c);

/* A descriptor for reading, owned by the caller; -ENOENT where there is none. Marks it as used. */
int cache_dir_find(struct cache_dir *c, const char *kind, const char *name);
/* The path that such a file has or would have, malloc'd; NULL with a NULL cache or a bad name. */
char *cache_dir_path(const struct cache_dir *c, const char *kind, const char *name);

/* Keeps these bytes; what was there under that name is replaced. */
int cache_dir_keep(struct cache_dir *c, const char *kind, const char *name, const void *bytes,
                   size_t size, struct error *err);
/* The same with all that a regular file holds, through its descriptor. */
int cache_dir_keep_file(struct cache_dir *c, const char *kind, const char *name, int fd,
                        struct error *err);
void cache_dir_remove(struct cache_dir *c, const char *kind, const char *name);

/* Takes files of a kind away, longest unused first, until they hold at most so many bytes. */
void cache_dir_trim(struct cache_dir *c, const char *kind, uint64_t bytes);

#endif

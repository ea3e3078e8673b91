/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache_dir: files that are kept between runs, under $XDG_CACHE_HOME/assay (else
 * $HOME/.cache/assay).
 *
 * There is one directory for each kind ("unwind", "inline", "image", "jit"), and one file for each
 * name, most often a build-id in hexadecimal. Directories have mode 0700, files 0600. They belong
 * to this user; links are not followed, and a directory of another user is refused. A file is
 * written under a temporary name and renamed, so readers see it whole or not at all, and no locks
 * are needed. Readers must check the contents, since a cache may be damaged. The size of each kind
 * is limited: the files that were unused for the longest time are deleted.
 *
 * cache_dir_open / cache_dir_close, NULL-safe; with a NULL cache, every operation finds and keeps
 * nothing. Not safe for several threads; safe for several processes. Uses: base.
 */
#ifndef ASSAY_BASE_FILE_CACHE_DIR_H
#define ASSAY_BASE_FILE_CACHE_DIR_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct cache_dir;

/* -errno with a sentence if there can be no cache: no home directory, not owned, read-only. */
int cache_dir_open(struct cache_dir **c, struct error *err);
void cache_dir_close(struct cache_dir *c);

/*
 * A descriptor for reading, owned by the caller, and marks the file as used; -ENOENT if there is
 * none.
 */
int cache_dir_find(struct cache_dir *c, const char *kind, const char *name);
/*
 * The contents of the file, private and read-only; the caller calls munmap() with their size. NULL:
 * there is no such file, or it has less than `least` or more than `most` bytes. Files of the cache
 * are never modified, so contents stay as they were checked.
 */
void *cache_dir_map(struct cache_dir *c, const char *kind, const char *name, uint64_t least,
                    uint64_t most, size_t *size);
/*
 * The path that such a file has or would have, malloc'd; NULL if the cache is NULL or the name
 * invalid.
 */
char *cache_dir_path(const struct cache_dir *c, const char *kind, const char *name);

/* Keeps these bytes; a file with this name is replaced. */
int cache_dir_keep(struct cache_dir *c, const char *kind, const char *name, const void *bytes,
                   size_t size, struct error *err);
/* The same with the contents of a regular file, through its descriptor. */
int cache_dir_keep_file(struct cache_dir *c, const char *kind, const char *name, int fd,
                        struct error *err);
void cache_dir_remove(struct cache_dir *c, const char *kind, const char *name);

/* Deletes files of a kind, longest unused first, until they have at most this number of bytes. */
void cache_dir_trim(struct cache_dir *c, const char *kind, uint64_t bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debuginfod: debug files from servers, by libdebuginfod of elfutils.
 *
 * Servers are used only if the user requests it. No function here waits for a network: files that
 * an earlier run fetched are in the cache (cache_dir.h, kind "debuginfod"), those that other
 * programs fetched in the cache of the library; they are used at once. A separate process fetches
 * the others for the next run; it continues after this process has exited.
 *
 * A server is not trusted: a file has at most 1 GB, the cache 4 GB (files that were not used for
 * the longest time are deleted), a tenth of the disk (at most 2 GB) stays free, a file takes at
 * most 10 minutes and all together 30, and one process of a user fetches at a time.
 *
 * The library is loaded when it is needed; an error reports that it is missing. Stateless. Uses:
 * base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUGINFOD_H
#define ASSAY_SYMBOL_DEBUG_DEBUGINFOD_H

#include "image/elf/elf_file.h"

enum debuginfod_state {
	DEBUGINFOD_HERE,
	DEBUGINFOD_NOWHERE, /* a short time ago no server had it, or it was too large */
	DEBUGINFOD_UNASKED,
};

/* *f: the file, owned by the caller, if it is in the cache and its build-id matches; else NULL. */
enum debuginfod_state debuginfod_cached(struct elf_file **f, const struct build_id *id);

/* Starts to fetch files from servers (URLs, separated by spaces). */
int debuginfod_fetch(const struct build_id *ids, size_t count, const char *urls, struct error *err);

#endif

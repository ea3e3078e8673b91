/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debuginfod: debug files from servers, by libdebuginfod of elfutils.
 *
 * Servers are used only if the user requests it. No function here waits for a network: files that
 * an earlier run fetched are in the cache of the library and are used at once. A separate process
 * fetches the others for the next run; it continues after this process has exited. The library
 * is loaded when it is needed; an error reports that it is missing. Stateless. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUGINFOD_H
#define ASSAY_SYMBOL_DEBUG_DEBUGINFOD_H

#include "image/elf/elf_file.h"

enum debuginfod_state {
	DEBUGINFOD_HERE,
	DEBUGINFOD_NOWHERE, /* no server had the file a short time ago */
	DEBUGINFOD_UNASKED,
};

/* *f: the file, owned by the caller, if it is in the cache and its build-id matches; else NULL. */
enum debuginfod_state debuginfod_cached(struct elf_file **f, const struct build_id *id);

/* Starts to fetch files from servers (URLs, separated by spaces). */
int debuginfod_fetch(const struct build_id *ids, size_t count, const char *urls, struct error *err);

#endif

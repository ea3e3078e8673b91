/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debuginfod: debug files from servers, through elfutils' libdebuginfod.
 *
 * Asked only where the user said so. Nothing here waits for a network: what an
 * earlier run fetched lies in that library's own cache and is used at once;
 * the rest is fetched by a process of its own, which goes on when this one has
 * ended, and is there the next time. The library is loaded when it is needed;
 * without it there is an error that says so. No state. Uses: base, image.
 */
#ifndef ASSAY_SYMBOL_DEBUG_DEBUGINFOD_H
#define ASSAY_SYMBOL_DEBUG_DEBUGINFOD_H

#include "image/elf/elf_file.h"

enum debuginfod_state {
	DEBUGINFOD_HERE,
	DEBUGINFOD_NOWHERE, /* no server had it a short time ago */
	DEBUGINFOD_UNASKED,
};

/* *f: the file, owned by the caller, if it is here and fits; else NULL. */
enum debuginfod_state debuginfod_cached(struct elf_file **f, const struct build_id *id);

/* Begins to fetch these from servers (URLs, separated by blanks). */
int debuginfod_fetch(const struct build_id *ids, size_t count, const char *urls, struct error *err);

#endif

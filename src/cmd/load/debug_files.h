/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_files: --debuginfod: which debug files are worth fetching, and a word
 * about it to stderr.
 *
 * Once, after the report was printed; what cannot be fetched is said and changes
 * no exit status. One thread. Uses: base, profile, symbol.
 */
#ifndef ASSAY_CMD_LOAD_DEBUG_FILES_H
#define ASSAY_CMD_LOAD_DEBUG_FILES_H

#include "profile/calls/call_paths.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

/*
 * Of the images with the most samples, those that lack their debug files are
 * asked for in the background. After the view has been made. Does nothing
 * where --debuginfod was not given.
 */
void debug_files_fetch(struct profile *p, struct symbolizer *symbols);

/* The same for the images of counted functions. */
void debug_files_fetch_calls(const struct call_paths *c, struct symbolizer *symbols);

#endif

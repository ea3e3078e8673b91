/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_files: --debuginfod: selects the debug files to fetch, and prints a message about it to
 * stderr.
 *
 * Called once, after the report was printed. A failure is reported and does not change the exit
 * status. One thread. Uses: base, profile, symbol.
 */
#ifndef ASSAY_CMD_LOAD_DEBUG_FILES_H
#define ASSAY_CMD_LOAD_DEBUG_FILES_H

#include "profile/calls/call_paths.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

/*
 * Starts to fetch missing debug files of the images with the most samples, in the background. Call
 * it after the view was made. Does nothing without --debuginfod.
 */
void debug_files_fetch(struct profile *p, struct symbolizer *symbols);

/* As above, for the images of counted functions. */
void debug_files_fetch_calls(const struct call_paths *c, struct symbolizer *symbols);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_finder: finds the names of the code that a recorded process generated: in its jitdump, else
 * in its perf map; the stored copy first, then the file that the process wrote. If there are no
 * names, the result has the reason and the way out. A jit_finder is plain data of its caller; one
 * thread. Uses: base, event, image, process.
 */
#ifndef ASSAY_FORMAT_JIT_JIT_FINDER_H
#define ASSAY_FORMAT_JIT_JIT_FINDER_H

#include "base/file/cache_dir.h"
#include "event/recording.h"
#include "process/process.h"

struct jit_finder {
	const struct recording *recording; /* features are set before the first event */
	const char *root;                  /* --symfs, NULL: none */
	struct cache_dir *cache;           /* NULL: none */
};

#define JIT_AGAIN_NS 1000000000u

/*
 * A process_jit_fn (process/process.h); ctx is a struct jit_finder. Never NULL: without names the
 * result has the reason.
 */
struct jit_code *jit_finder_find(void *ctx, const struct process_jit_request *request);

/*
 * A process_jit_again_fn, for recordings of this moment. Lines that were added to a perf map are
 * read each time. A jitdump that grew is read as a whole, for at most 1 % of the time. Missing
 * names are looked for once in JIT_AGAIN_NS.
 */
struct jit_code *jit_finder_again(void *ctx, const struct process_jit_request *request,
                                  struct jit_code *code);

#endif

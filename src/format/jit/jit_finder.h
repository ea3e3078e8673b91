/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_finder: names for the code that a recorded process generated: from its
 * jitdump, else from its perf map; as the recorder kept them, else from where
 * the process wrote them. Names that cannot be had come with the reason, and
 * what would help. A jit_finder is plain data of its caller; one thread. Uses:
 * base, event, image, process.
 */
#ifndef ASSAY_FORMAT_JIT_JIT_FINDER_H
#define ASSAY_FORMAT_JIT_JIT_FINDER_H

#include "base/file/cache_dir.h"
#include "event/recording.h"
#include "process/process.h"

struct jit_finder {
	const struct recording *recording; /* features are known before the first event */
	const char *root;                  /* --symfs, NULL: none */
	struct cache_dir *cache;           /* NULL: none */
};

/* A process_jit_fn, ctx is a struct jit_finder. Never NULL: without names there is the reason. */
struct jit_code *jit_finder_find(void *ctx, const struct process_jit_request *request);

#endif

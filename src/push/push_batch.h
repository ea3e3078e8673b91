/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_batch: a symbolized profile as one request to a back end, or one file.
 *
 * The labels are attributes of the resource in OTLP (host.name, service.name, service.version), and
 * labels of the series in Pyroscope (hostname, service_name, version); a file in a directory has
 * them as comments. So are all other labels of the processes (process/process_labels.h): in
 * Pyroscope characters of names other than letters, digits and '_' are '_'. The same profile and
 * labels give the same bytes, with the same id, so that a receiver can find repeated batches.
 *
 * push_batch_make(), push_batch_done(); a zeroed struct is accepted. One thread. Uses: base,
 * export, profile.
 */
#ifndef ASSAY_PUSH_PUSH_BATCH_H
#define ASSAY_PUSH_PUSH_BATCH_H

#include "base/memory/buf.h"
#include "profile/symbolized_profile.h"
#include "push/push_target.h"

struct push_labels {
	const char *host, *service;
	const char *labels;  /* lines "key=value" of the processes; NULL: none */
	const char *version; /* NULL: the label service.version, else the build-id of the program
	                        with most samples, if known */
};

struct push_batch {
	uint64_t samples; /* the sum of the first value; 0 if that is negative */
	struct buf query; /* appended to the URL: empty, or begins with "?" */
	struct buf body;  /* as it is sent, but not yet compressed, except pprof */
};

int push_batch_make(enum push_kind kind, const struct push_labels *labels,
                    struct symbolized_profile *n, struct push_batch *b, struct error *err);
void push_batch_done(struct push_batch *b);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_target: the place to which profiles are sent.
 *
 *	otlp+http://HOST:4318			OTLP profiles; POST /v1development/profiles
 *	pyroscope+http://HOST:4040		Pyroscope; POST /push.v1.PusherService/Push
 *	pyroscope-ingest+http://HOST:4040	Pyroscope; POST /ingest
 *	pprof-dir:DIR				a directory of pprof files
 *
 * With https in place of http, TLS is used. A path in the address is a prefix of the path of the
 * request. push_target_parse(), push_target_done(); a zeroed struct is accepted. Any thread. Uses:
 * base.
 */
#ifndef ASSAY_PUSH_PUSH_TARGET_H
#define ASSAY_PUSH_PUSH_TARGET_H

#include "base/error.h"

#include <stdbool.h>

#define PUSH_TARGETS                                                                               \
	"otlp+http://HOST:4318, pyroscope+http://HOST:4040, pyroscope-ingest+http://HOST:4040 "    \
	"(or https), pprof-dir:DIR"

enum push_kind { PUSH_OTLP, PUSH_PYROSCOPE, PUSH_INGEST, PUSH_PPROF_DIR };

struct push_target {
	enum push_kind kind;
	char *url;       /* of requests, without a query; NULL: a directory */
	char *user;      /* NULL: none */
	char *directory; /* NULL: a server */
};

/* True for a text that is an address or pprof-dir:, even if it has errors. */
bool push_target_is(const char *text);
int push_target_parse(const char *text, struct push_target *t, struct error *err);
void push_target_done(struct push_target *t);

#endif

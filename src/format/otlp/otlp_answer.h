/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * otlp_answer: the answer of a receiver of OTLP profiles (ExportProfilesServiceResponse of
 * opentelemetry/proto/collector/profiles/v1development, 1.11).
 *
 * The bytes come from a stranger: text is made printable and cut. Stateless; the caller frees the
 * message. Uses: base.
 */
#ifndef ASSAY_FORMAT_OTLP_OTLP_ANSWER_H
#define ASSAY_FORMAT_OTLP_OTLP_ANSWER_H

#include "base/memory/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct otlp_answer {
	int64_t rejected; /* profiles; 0: all were accepted */
	struct buf message;
};

/* False: the bytes are not such a message; then `a` is empty. */
bool otlp_answer_read(const void *bytes, size_t size, struct otlp_answer *a);

#endif

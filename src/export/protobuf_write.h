/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * protobuf_write: fields of protobuf messages, appended to a buf. A field that is missing has the
 * value 0, so protobuf_number() writes none for 0. Stateless. Uses: base.
 */
#ifndef ASSAY_EXPORT_PROTOBUF_WRITE_H
#define ASSAY_EXPORT_PROTOBUF_WRITE_H

#include "base/memory/buf.h"

#include <stdint.h>

void protobuf_varint(struct buf *b, uint64_t v);
void protobuf_number(struct buf *b, unsigned field, uint64_t v);
/* The same, also for 0. */
void protobuf_key_number(struct buf *b, unsigned field, uint64_t v);
void protobuf_fixed64(struct buf *b, unsigned field, uint64_t v);
/* A text, bytes or a message. */
void protobuf_bytes(struct buf *b, unsigned field, const void *bytes, size_t size);
void protobuf_text(struct buf *b, unsigned field, const char *text);
/* Appends `message` as a field, and clears it. */
void protobuf_message(struct buf *b, unsigned field, struct buf *message);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_blob: the data of a page before it is compressed: a head in JSON, and arrays of numbers that
 * the head refers to. docs/FORMAT.md describes both.
 *
 * page_blob_init(); keys are written to `json`, and arrays by the functions below, each of which
 * writes its reference as the next value of `json`; page_blob_pack(); page_blob_done(). Nothing
 * fails except packing. One thread. Uses: base.
 */
#ifndef ASSAY_OUTPUT_HTML_PAGE_BLOB_H
#define ASSAY_OUTPUT_HTML_PAGE_BLOB_H

#include "base/error.h"
#include "base/memory/buf.h"
#include "base/memory/vec.h"
#include "base/text/json.h"

#include <stdint.h>

struct page_blob {
	struct buf head, arrays;
	struct json json; /* writes to `head` */
};

void page_blob_init(struct page_blob *b);
void page_blob_done(struct page_blob *b);

/* `key` NULL: in an array of JSON; likewise below. A text as a terminal shows it, since names may
 * contain control characters; NULL: nothing is written. */
void page_blob_plain(struct page_blob *b, const char *key, const char *text);

void page_blob_u8(struct page_blob *b, const char *key, const uint8_t *items, size_t count);
void page_blob_u16(struct page_blob *b, const char *key, const uint16_t *items, size_t count);
void page_blob_u32(struct page_blob *b, const char *key, const uint32_t *items, size_t count);
void page_blob_i32(struct page_blob *b, const char *key, const int32_t *items, size_t count);
void page_blob_f64(struct page_blob *b, const char *key, const double *items, size_t count);
/* Numbers of variable length (LEB128), encoded by page_varint(). */
void page_blob_varints(struct page_blob *b, const char *key, const struct buf *bytes);
void page_varint(struct buf *out, uint64_t value);

/* A list of texts. Zeros are an empty list. */
struct page_texts {
	VEC(uint32_t) ends; /* of each text in `bytes` */
	struct buf bytes;
};
void page_texts_add(struct page_texts *t, const char *text, size_t size);
void page_blob_texts(struct page_blob *b, const char *key, const struct page_texts *t);
void page_texts_done(struct page_texts *t);

/* Appends the blob, compressed by zlib. The JSON must be complete. */
int page_blob_pack(const struct page_blob *b, struct buf *out, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page_blob.h"

#include "base/memory/deflate.h"
#include "base/text/plain_text.h"

#include <string.h>

#define MAGIC "assaypg1"
#define ALIGNMENT 8
#define LEVEL 6 /* of zlib: higher levels save 1 to 2 %, and take twice the time or more */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are written as they are");

void page_blob_init(struct page_blob *b)
{
	*b = (struct page_blob){0};
	json_init(&b->json, &b->head);
	b->json.compact = true;
}

void page_blob_done(struct page_blob *b)
{
	buf_done(&b->head);
	buf_done(&b->arrays);
}

void page_blob_plain(struct page_blob *b, const char *key, const char *text)
{
	struct buf plain = {0};

	if (!text)
		return;
	plain_text_add(&plain, text, strlen(text));
	if (key)
		json_key(&b->json, key);
	json_str(&b->json, buf_text(&plain));
	buf_done(&plain);
}

static size_t to_alignment(size_t size)
{
	return (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT;
}

static void add_array(struct page_blob *b, const char *key, const char *type, const void *items,
                      size_t size, size_t count)
{
	buf_pad(&b->arrays, '\0', to_alignment(b->arrays.size));
	if (key)
		json_key(&b->json, key);
	json_object(&b->json);
	json_kstr(&b->json, "type", type);
	json_ku64(&b->json, "at", b->arrays.size);
	json_ku64(&b->json, "count", count);
	json_end_object(&b->json);
	if (count)
		buf_add(&b->arrays, items, count * size);
}

void page_blob_u8(struct page_blob *b, const char *key, const uint8_t *items, size_t count)
{
	add_array(b, key, "u8", items, sizeof(*items), count);
}

void page_blob_u16(struct page_blob *b, const char *key, const uint16_t *items, size_t count)
{
	add_array(b, key, "u16", items, sizeof(*items), count);
}

void page_blob_u32(struct page_blob *b, const char *key, const uint32_t *items, size_t count)
{
	add_array(b, key, "u32", items, sizeof(*items), count);
}

void page_blob_i32(struct page_blob *b, const char *key, const int32_t *items, size_t count)
{
	add_array(b, key, "i32", items, sizeof(*items), count);
}

void page_blob_f64(struct page_blob *b, const char *key, const double *items, size_t count)
{
	add_array(b, key, "f64", items, sizeof(*items), count);
}

void page_blob_varints(struct page_blob *b, const char *key, const struct buf *bytes)
{
	add_array(b, key, "varint", bytes->data, 1, bytes->size);
}

void page_varint(struct buf *out, uint64_t value)
{
	char bytes[10];
	size_t size = 0;

	while (value >= 0x80) {
		bytes[size++] = (char)(value | 0x80);
		value >>= 7;
	}
	bytes[size++] = (char)value;
	buf_add(out, bytes, size);
}

void page_texts_add(struct page_texts *t, const char *text, size_t size)
{
	if (size)
		buf_add(&t->bytes, text, size);
	vec_push(&t->ends, (uint32_t)t->bytes.size);
}

void page_blob_texts(struct page_blob *b, const char *key, const struct page_texts *t)
{
	uint32_t *offsets = xcalloc(t->ends.count + 1, sizeof(*offsets));

	if (t->ends.count)
		memcpy(offsets + 1, t->ends.items, t->ends.count * sizeof(*offsets));
	if (key)
		json_key(&b->json, key);
	json_object(&b->json);
	page_blob_u32(b, "offsets", offsets, t->ends.count + 1);
	page_blob_u8(b, "bytes", (const uint8_t *)t->bytes.data, t->bytes.size);
	json_end_object(&b->json);
	free(offsets);
}

void page_texts_done(struct page_texts *t)
{
	vec_done(&t->ends);
	buf_done(&t->bytes);
}

int page_blob_pack(const struct page_blob *b, struct buf *out, struct error *err)
{
	static const char zeros[ALIGNMENT];
	uint32_t sizes[2] = {(uint32_t)b->head.size, 0};
	struct deflate d;
	int ret = deflate_begin(&d, DEFLATE_ZLIB, LEVEL, out, err);

	if (ret)
		return ret;
	deflate_add(&d, MAGIC, strlen(MAGIC));
	deflate_add(&d, sizes, sizeof(sizes));
	deflate_add(&d, b->head.data, b->head.size);
	deflate_add(&d, zeros, to_alignment(b->head.size));
	deflate_add(&d, b->arrays.data, b->arrays.size);
	return deflate_finish(&d, err);
}

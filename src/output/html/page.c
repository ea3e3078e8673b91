/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page.h"

#include "base/text/base64.h"
#include "output/html/page_document.h"
#include "output/html/page_stacks.h"

#include <string.h>

#define FORMAT "1"
#define PLACE "<!--assay-data-->" /* of the data in the bundle */
#define BASE64_BYTES (48u * 1024) /* at once; a multiple of BASE64_BLOCK */

static const char bundle[] =
#include "output/page_html.inc"
        ;

_Static_assert(BASE64_BYTES % BASE64_BLOCK == 0, "pieces end between blocks");

static void write_code(struct page_blob *b, const struct page *page)
{
	json_key(&b->json, "code");
	json_array(&b->json);
	for (size_t i = 0; i < page->code_count; i++) {
		json_object(&b->json);
		page_blob_plain(b, "function", page->code[i].function);
		page_blob_plain(b, "image", page->code[i].image);
		page_document_write(b, "document", &page->code[i].document);
		json_end_object(&b->json);
	}
	json_end_array(&b->json);
}

static void write_head(struct page_blob *b, const struct page *page)
{
	json_object(&b->json);
	json_key(&b->json, "format");
	json_raw(&b->json, FORMAT);
	json_kstr(&b->json, "assay", ASSAY_VERSION);
	page_blob_plain(b, "title", page->title);
	json_kstr(&b->json, "kind", page->kind);
	page_document_write(b, "document", page->document);
	write_code(b, page);
	page_stacks_write(b, "stacks", page->stacks);
	page_stacks_write(b, "before", page->before);
	page_lanes_write(b, "lanes", page->lanes);
	page_waits_write(b, "waits", page->waits);
	json_end_object(&b->json);
}

int page_data(const struct page *page, struct buf *out, struct error *err)
{
	struct page_blob b;
	int ret;

	page_blob_init(&b);
	write_head(&b, page);
	ret = page_blob_pack(&b, out, err);
	page_blob_done(&b);
	return ret;
}

/* The bundle without the place of the data: what comes before it, and what comes after it. */
static const char *after_data(size_t *before)
{
	const char *place = strstr(bundle, PLACE);

	*before = place ? (size_t)(place - bundle) : sizeof(bundle) - 1;
	return bundle + *before + (place ? strlen(PLACE) : 0);
}

void page_shell(const char *element, struct buf *out)
{
	size_t before;
	const char *after = after_data(&before);

	buf_add(out, bundle, before);
	buf_puts(out, element);
	buf_puts(out, after);
}

int page_write(const struct page *page, struct spill *out, struct error *err)
{
	struct buf data = {0};
	size_t before;
	const char *after = after_data(&before);
	int ret = page_data(page, &data, err);

	if (!ret) {
		buf_add(&out->buf, bundle, before);
		buf_puts(&out->buf, "<script type=\"application/octet-stream\" "
		                    "id=\"assay-data\" data-format=\"" FORMAT "\">");
		for (size_t i = 0; i < data.size; i += BASE64_BYTES) {
			size_t left = data.size - i;

			base64_add(&out->buf, data.data + i,
			           left < BASE64_BYTES ? left : BASE64_BYTES);
			spill_some(out);
		}
		buf_puts(&out->buf, "</script>");
		buf_puts(&out->buf, after);
	}
	buf_done(&data);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/document_print.h"

#include "cmd/cli/print.h"
#include "output/document_output.h"

/* Intervals and bars together leave no room for names on narrower terminals. */
#define ROOMY 120

static void write_text(void *ctx, const struct buf *out)
{
	print_text(out);
}

void document_print(const struct document *d, const struct document_reader *reader, bool nested,
                    const struct style_options *style)
{
	const struct output_stream stream = {.write = write_text};
	struct document_text_options to = {.wide = reader->wide};
	struct buf out = {0};

	if (reader->program) {
		document_json_print(d, nested, &stream, &out);
	} else if (reader->markdown) {
		document_markdown_print(d, &stream, &out);
	} else {
		style_choose(style, &to.style);
		if (reader->wide && to.style.width && to.style.width < ROOMY)
			to.style.bars = false;
		document_text_print(d, &to, &stream, &out);
	}
	print_text(&out);
	buf_done(&out);
}

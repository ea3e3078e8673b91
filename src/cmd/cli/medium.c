/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/medium.h"

#include "cmd/cli/pager.h"
#include "cmd/cli/print.h"

/* Intervals and bars together leave no room for names on narrower terminals. */
#define ROOMY 120

const struct option medium_option_table[] = {
        {OPTION_FLAG, 0, "markdown", NULL, "as Markdown, for issue trackers",
         .offset = offsetof(struct style_options, media.markdown)},
        {OPTION_FLAG, 0, "bars", NULL, "a bar of stars for each row of each sorted table",
         .details = "On a terminal tables of shares have bars without this option. Other tables "
                    "get bars of the column that they are sorted by: a whole bar is its sum or, "
                    "of a column without a sum, its largest value. Bars get shorter on a narrow "
                    "terminal.",
         .offset = offsetof(struct style_options, bars)},
        {.kind = OPTION_INCLUDE, .include = style_option_table},
        {.kind = OPTION_END},
};

static void write_text(void *ctx, const struct buf *out)
{
	print_text(out);
}

void medium_text(const struct document *d, const struct document_reader *reader,
                 const struct style_options *style, struct buf *out)
{
	struct document_text_options to = {.wide = true};

	if (reader->program) {
		document_json_print(d, reader->nested, NULL, out);
	} else if (style->media.markdown) {
		document_markdown_print(d, NULL, out);
	} else {
		style_choose(style, &to.style);
		to.style.width = 0;
		document_text_print(d, &to, NULL, out);
	}
}

void medium_print(const struct document *d, const struct document_reader *reader,
                  const struct style_options *style)
{
	const struct output_stream stream = {.write = write_text};
	struct document_text_options to = {.wide = reader->wide};
	struct buf out = {0};

	if (reader->program) {
		document_json_print(d, reader->nested, &stream, &out);
	} else if (style->media.markdown) {
		document_markdown_print(d, &stream, &out);
	} else {
		style_choose(style, &to.style);
		if (to.wide && to.style.width && to.style.width < ROOMY)
			to.style.bars = false;
		to.style.bars |= style->bars;
		to.style.chart = style->bars;
		if (style->pager)
			pager_begin();
		document_text_print(d, &to, &stream, &out);
	}
	print_text(&out);
	buf_done(&out);
	pager_end();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * document_output: prints documents (view/document/document.h) in any medium.
 *
 * Each function appends to `out`. With a stream, `out` is passed on and emptied from time to time,
 * so that tables larger than memory can be printed; the rest is left in `out`. The functions know
 * no kind of recording: a new medium is one more function here. Nothing fails. One thread. Uses:
 * base, view.
 */
#ifndef ASSAY_OUTPUT_DOCUMENT_OUTPUT_H
#define ASSAY_OUTPUT_DOCUMENT_OUTPUT_H

#include "output/text/table.h"
#include "view/document/document.h"

struct output_stream {
	void (*write)(void *ctx, const struct buf *out); /* NULL: everything stays in `out` */
	void *ctx;
};

/* The medium for readers; none: text. */
struct document_media {
	bool markdown;
	const char *html; /* the file of a page (html/page.h); NULL: none */
};

struct document_text_options {
	struct text_style style;
	bool wide; /* all columns, whatever the width of the terminal */
};

void document_text_print(const struct document *d, const struct document_text_options *o,
                         const struct output_stream *stream, struct buf *out);

/* One JSON object with all sections for programs. `nested`: trees as objects that contain their
 * children; else lists in which each node names its caller by id. */
void document_json_print(const struct document *d, bool nested, const struct output_stream *stream,
                         struct buf *out);

/* The same as one line of text. */
void document_json_line(const struct document *d, struct buf *out);

void document_markdown_print(const struct document *d, const struct output_stream *stream,
                             struct buf *out);

/* Passes `out` on if it is large. `stream` may be NULL. */
void output_stream_flush(const struct output_stream *stream, struct buf *out);

#endif

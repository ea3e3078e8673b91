/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The quality of call chains: how many are complete, and why the others are not. */
#include "view/samples/document/report_document.h"

#include "base/text/figure.h"
#include "base/text/plural.h"

#include <inttypes.h>
#include <string.h>

static double stack_share(const struct stacks *s, enum stack_quality quality)
{
	return (double)s->quality_samples[quality] / (double)s->samples;
}

/* The reasons for a quality, most samples first, without rare ones: "(why, why)". */
static void stack_reasons(const struct stacks *s, enum stack_quality quality, struct buf *out)
{
	bool told[STACK_ENDS] = {false};
	size_t count = 0, most;

	do {
		most = STACK_ENDS;
		for (size_t i = 0; i < STACK_ENDS; i++)
			if (!told[i] && s->end_samples[i] &&
			    stacks_quality((enum stack_end)i) == quality &&
			    (most == STACK_ENDS || s->end_samples[i] > s->end_samples[most]))
				most = i;
		if (most == STACK_ENDS || s->end_samples[most] * 10 < s->quality_samples[quality])
			break;
		told[most] = true;
		buf_addf(out, "%s%s", count++ ? ", " : " (", stacks_why((enum stack_end)most));
	} while (count < 3);
	buf_puts(out, count ? ")" : "");
}

/* After the first image, images with a smaller share of the samples are left out. */
#define STACK_IMAGE_SHARE 0.0005

/* Adds the reason to each image only if the reasons differ. */
static void stack_images(const struct report *r, struct buf *out)
{
	const struct stacks *s = &r->stacks;
	size_t count = s->image_count;
	bool alike = true;

	while (count > 1 &&
	       (double)s->images[count - 1].samples < STACK_IMAGE_SHARE * (double)s->samples)
		count--;
	for (size_t i = 1; i < count; i++)
		alike &= !strcmp(s->images[i].why, s->images[0].why);
	for (size_t i = 0; i < count; i++) {
		buf_puts(out, i ? ", " : "; most in ");
		buf_puts(out, view_image_short(r->view, s->images[i].image));
		buf_putc(out, ' ');
		text_share(out, (double)s->images[i].samples / (double)s->samples);
		if (!alike && *s->images[i].why)
			buf_addf(out, " (%s)", s->images[i].why);
	}
}

static void unknown_marks(struct report_writing *w)
{
	uint64_t count = w->report->view->profile->unknown_marks;

	if (!count)
		return;
	buf_addf(&w->text, "%" PRIu64 " %s at a mark whose meaning is unknown", count,
	         plural(count, "call chain is cut", "call chains are cut"));
	report_line(w, "chains");
}

/* The quality of the call chains, over the samples with a user stack. */
void report_document_stacks(struct report_writing *w)
{
	static const enum stack_quality bad[] = {STACK_QUALITY_TRUNCATED, STACK_QUALITY_BROKEN,
	                                         STACK_QUALITY_UNKNOWN};
	const struct stacks *s = &w->report->stacks;
	struct buf *text = &w->text;

	if (!s->present || !s->samples) {
		unknown_marks(w);
		return;
	}
	text_share(text,
	           stack_share(s, STACK_QUALITY_WHOLE) + stack_share(s, STACK_QUALITY_STITCHED));
	buf_puts(text, " whole");
	if (s->quality_samples[STACK_QUALITY_STITCHED]) {
		buf_puts(text, " (");
		text_share(text, stack_share(s, STACK_QUALITY_STITCHED));
		buf_puts(text, " stitched)");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (!s->quality_samples[bad[i]])
			continue;
		buf_puts(text, ", ");
		text_share(text, stack_share(s, bad[i]));
		buf_addf(text, " %s", stack_quality_name(bad[i]));
		stack_reasons(s, bad[i], text);
	}
	stack_images(w->report, text);
	report_line(w, "stacks");
	unknown_marks(w);
}

static void stack_image(struct document *d, const struct report *r,
                        const struct stacks_image *image)
{
	document_object(d, NULL);
	document_string(d, "image", image_path(&r->view->profile->images, image->image));
	document_int(d, "samples", image->samples);
	document_string(d, "why", image->why);
	document_end(d);
}

static void stack_reason_facts(struct document *d, const struct stacks *s)
{
	document_array(d, "reasons");
	for (size_t i = 0; i < STACK_ENDS; i++) {
		if (!s->end_samples[i] || !*stacks_why((enum stack_end)i))
			continue;
		document_object(d, NULL);
		document_string(d, "end", stacks_why((enum stack_end)i));
		document_int(d, "samples", s->end_samples[i]);
		document_end(d);
	}
	document_end(d);
}

void report_document_stack_facts(struct report_writing *w)
{
	static const char *const names[STACK_QUALITIES] = {
	        [STACK_QUALITY_UNKNOWN] = "unknown",     [STACK_QUALITY_NONE] = "none",
	        [STACK_QUALITY_WHOLE] = "whole",         [STACK_QUALITY_STITCHED] = "stitched",
	        [STACK_QUALITY_TRUNCATED] = "truncated", [STACK_QUALITY_BROKEN] = "broken"};
	const struct report *r = w->report;
	const struct stacks *s = &r->stacks;
	struct document *d = w->document;

	if (!s->present) {
		document_null(d, "stacks");
		return;
	}
	document_object(d, "stacks");
	document_int(d, "samples", s->samples);
	document_int(d, "unknown_marks", (int64_t)r->view->profile->unknown_marks);
	for (size_t i = 0; i < STACK_QUALITIES; i++)
		document_int(d, names[i], s->quality_samples[i]);
	stack_reason_facts(d, s);
	document_array(d, "images");
	for (size_t i = 0; i < s->image_count; i++)
		stack_image(d, r, &s->images[i]);
	document_end(d);
	document_end(d);
}

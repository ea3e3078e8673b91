/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_page.h"

#include "cmd/report/report_groups.h"
#include "cmd/report/switch_lanes.h"
#include "cmd/report/wait_lanes.h"
#include "view/annotate/annotate_document.h"
#include "view/annotate/hot_functions.h"
#include "view/symbolized/symbolized.h"

#include <stdlib.h>
#include <string.h>

#define CODE_SHARE 0.01 /* of the samples, of a function whose code is shown */
#define CODE_MOST 20
/* Code between two symbols of a stripped file may have megabytes, and is of many functions. */
#define CODE_BYTES (64u << 10)

int report_page_begin(struct report_page *p, const char *kind, const char *title,
                      const struct report_request *q, struct error *err)
{
	static const char store[] = "--store=";
	const char *words = q->reader.words ? q->reader.words : "";

	while (*words == ' ')
		words++;
	if (!strncmp(words, store, strlen(store)))
		words += strlen(store);
	p->page.kind = kind;
	p->page.title = *words ? words : title;
	if (!q->rules && report_groups_read(&p->rules, NULL, true, err))
		return -err->code;
	p->stacks.rules = q->rules ? q->rules : p->rules;
	return 0;
}

struct symbolized_profile *report_page_named(struct report_page *p)
{
	symbolized_profile_init(&p->named);
	p->has_named = true;
	p->named.depth_max = NAMED_DEPTH_MAX;
	p->stacks.n = &p->named;
	p->page.stacks = &p->stacks;
	return &p->named;
}

struct page_lanes *report_page_lanes(struct report_page *p)
{
	page_lanes_init(&p->lanes);
	p->has_lanes = true;
	p->page.lanes = &p->lanes;
	return &p->lanes;
}

int report_page_waits(struct report_page *p, struct report *r, struct error *err)
{
	const struct wait_options o = {.request = {.filter = r->options.filter}};
	struct wait_report *waits;
	int ret;

	if (!wait_lanes_has(r->view->profile))
		return 0;
	ret = wait_report_new(&waits, r->view, &r->view->profile->waits, &o, err);
	if (ret)
		return ret;
	wait_lanes_fill(&p->waits, waits);
	wait_report_free(waits);
	p->has_waits = true;
	p->page.waits = &p->waits;
	return 0;
}

/* The CPUs of the machine, or those with samples if there are more. */
static unsigned cpus_of(const struct profile *p)
{
	unsigned cpus = 0;

	vec_each (recording, &p->recordings)
		if ((*recording)->cpus_online > cpus)
			cpus = (*recording)->cpus_online;
	vec_each (row, &p->rows)
		if (row->cpu != PROFILE_CPU_UNKNOWN && row->cpu >= cpus)
			cpus = row->cpu + 1u;
	return cpus;
}

void report_page_samples(struct report_page *p, struct report *r)
{
	const struct profile *profile = r->view->profile;

	p->row_of = xcalloc(profile->rows.count + 1, sizeof(*p->row_of));
	named_of_samples(report_page_named(p), r->view, &r->selection, p->row_of);
	p->stacks.cpus = cpus_of(profile);
	p->stacks.row_of = p->row_of;
	p->stacks.times = profile->axis.tracks.count ? profile : NULL;
	if (p->stacks.times && !p->has_waits && profile->switches.absences.count)
		switch_lanes_fill(report_page_lanes(p), profile,
		                  filter_is_empty(&r->options.filter) ? NULL : &r->selection);
}

static void add_code(struct report_page *p, struct annotate *a)
{
	/* Readers get all columns. */
	const struct document_reader reader = {.wide = true};
	struct page_code code = {.function = a->symbol->name, .image = a->image};

	vec_push(&p->annotated, a);
	document_init(&code.document);
	annotate_document_fill(&code.document, a, a->lines.count <= PAGE_ROWS, &reader);
	vec_push(&p->code, code);
}

/* Functions without code on this machine, and very long ones, are left out. */
void report_page_code(struct report_page *p, struct report *r, enum report_page_code_of code)
{
	hot_functions hot = {0};

	if (code == REPORT_PAGE_NO_CODE)
		return;
	hot_functions_find(r->view, &r->selection, CODE_SHARE, CODE_MOST, &hot);
	vec_each (function, &hot) {
		const struct annotate_options how = {.symbol = function->symbol,
		                                     .source = code == REPORT_PAGE_SOURCE,
		                                     .delays = r->delays};
		struct annotate *a;

		if (function->symbol->size > CODE_BYTES)
			continue;
		if (!annotate_new(&a, r->view, &r->selection, &how, NULL))
			add_code(p, a);
	}
	vec_done(&hot);
	p->page.code = p->code.items;
	p->page.code_count = p->code.count;
}

void report_page_done(struct report_page *p)
{
	vec_each (code, &p->code)
		document_done(&code->document);
	vec_done(&p->code);
	vec_each (a, &p->annotated)
		annotate_free(*a);
	vec_done(&p->annotated);
	if (p->has_named)
		symbolized_profile_done(&p->named);
	if (p->has_lanes)
		page_lanes_done(&p->lanes);
	if (p->has_waits)
		page_waits_done(&p->waits);
	group_rules_free(p->rules);
	free(p->row_of);
}

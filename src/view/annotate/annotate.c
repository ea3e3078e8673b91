/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/annotate/annotate.h"

#include "base/memory/buf.h"
#include "base/text/figure.h"
#include "base/text/plural.h"
#include "symbol/demangle/demangle.h"
#include "view/annotate/disassembly.h"
#include "view/annotate/source_files.h"
#include "view/delay/delays.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES_SHOWN 8
#define INLINES_MAX 64

/* Lines without samples are hot near a line with samples: this many before and after it, and in
 * gaps of at most HOT_GAP lines. */
#define HOT_AROUND 4
#define HOT_GAP 3

struct annotate_hit {
	uint64_t address;
	uint64_t samples;
};

/* A function that matches the request. */
struct candidate {
	const struct symbol *symbol;
	uint64_t samples;
	VEC(struct annotate_hit) hits;
};

struct candidates {
	VEC(struct candidate) items;
};

/* The parsed request. */
struct annotate_wanted {
	const struct symbol *symbol; /* NULL: the other fields */
	char *image;                 /* NULL: any */
	const char *name;
	uint64_t start; /* valid if by_start */
	bool by_start;
};

static bool image_fits(struct view *v, uint32_t image, const char *name)
{
	return !strcmp(view_image_short(v, image), name) ||
	       !strcmp(image_path(&v->profile->images, image), name);
}

static bool is_image(struct view *v, const char *name)
{
	for (size_t i = 0; i < v->profile->images.images.count; i++)
		if (image_fits(v, (uint32_t)i, name))
			return true;
	return false;
}

/* "IMAGE:NAME". C++ names contain colons too, so the text before the colon must be an image. */
static void parse_wanted(struct view *v, const char *text, struct annotate_wanted *w)
{
	const char *colon = text;
	char *end;

	*w = (struct annotate_wanted){.name = text};
	while ((colon = strchr(colon, ':'))) {
		w->image = xstrndup(text, (size_t)(colon - text));
		if (is_image(v, w->image)) {
			w->name = colon + 1;
			break;
		}
		free(w->image);
		w->image = NULL;
		colon++;
	}
	if (!strncmp(w->name, "0x", 2)) {
		w->start = strtoull(w->name, &end, 16);
		w->by_start = !*end;
	}
}

static bool fits(struct view *v, const struct annotate_wanted *w, const struct symbol *symbol)
{
	if (w->symbol)
		return symbol == w->symbol;
	if (w->image && !image_fits(v, symbol->image, w->image))
		return false;
	if (w->by_start)
		return symbol->named && symbol->start == w->start;
	return demangle_matches(symbol->name, w->name);
}

static struct candidate *candidate_of(struct candidates *c, const struct symbol *symbol)
{
	struct candidate *new;

	vec_each (item, &c->items) {
		if (item->symbol == symbol)
			return item;
	}
	new = vec_add(&c->items);
	new->symbol = symbol;
	return new;
}

static void find_candidates(struct view *v, const struct selection *selection,
                            const struct annotate_wanted *w, struct candidates *c)
{
	const struct profile *p = v->profile;
	const struct symbol *symbol;
	const struct profile_row *row;
	struct candidate *candidate;
	uint32_t frame;

	for (size_t i = 0; i < selection->rows.count; i++) {
		row = &p->rows.items[selection->rows.items[i]];
		if (row->path == PATH_ROOT || !row->samples)
			continue;
		frame = p->paths.items[row->path].frame;
		symbol = view_function(v, frame);
		if (!fits(v, w, symbol))
			continue;
		candidate = candidate_of(c, symbol);
		candidate->samples += row->samples;
		vec_push(&candidate->hits,
		         (struct annotate_hit){
		                 symbolizer_address(v->symbols, p->frames.items[frame].frame),
		                 row->samples});
	}
}

static int compare_candidates(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->symbol->start < b->symbol->start ? -1 : a->symbol->start > b->symbol->start;
}

static bool same_code(struct view *v, const struct symbol *a, const struct symbol *b)
{
	struct symbol_code x, y;

	return a->start == b->start && a->size == b->size && !strcmp(a->name, b->name) &&
	       !strcmp(view_image_short(v, a->image), view_image_short(v, b->image)) &&
	       !symbolizer_code(v->symbols, a->image, a->start, a->size, &x, NULL) &&
	       !symbolizer_code(v->symbols, b->image, b->start, b->size, &y, NULL) &&
	       x.size == y.size && !memcmp(x.bytes, y.bytes, x.size);
}

/* One file may be mapped from several paths (in containers): equal bytes are one function. */
static void merge_candidates(struct view *v, struct candidates *c)
{
	struct candidate *items = c->items.items;
	size_t kept = 0, to;

	for (size_t i = 0; i < c->items.count; i++) {
		for (to = 0; to < kept; to++)
			if (same_code(v, items[to].symbol, items[i].symbol))
				break;
		if (to == kept) {
			items[kept++] = items[i];
			continue;
		}
		items[to].samples += items[i].samples;
		vec_each (hit, &items[i].hits) {
			vec_push(&items[to].hits, *hit);
		}
		vec_done(&items[i].hits);
	}
	c->items.count = kept;
}

/* The reason why symbols are missing for the image with the most unnamed samples; NULL: all have
 * names. */
static const char *find_trouble(struct view *v, const struct selection *selection)
{
	const struct profile *p = v->profile;
	uint64_t *samples = xcalloc(p->images.images.count, sizeof(*samples));
	const struct symbol *symbol;
	const struct profile_row *row;
	uint32_t most = IMAGE_ID_UNKNOWN;

	for (size_t i = 0; i < selection->rows.count; i++) {
		row = &p->rows.items[selection->rows.items[i]];
		symbol = view_function(v, p->paths.items[row->path].frame);
		if (symbol->named || symbol->image == IMAGE_ID_UNKNOWN)
			continue;
		samples[symbol->image] += row->samples;
		if (samples[symbol->image] > samples[most])
			most = symbol->image;
	}
	free(samples);
	return most == IMAGE_ID_UNKNOWN ? NULL : symbolizer_trouble(v->symbols, most);
}

/* Whether the requested function was inlined at this frame. */
static bool is_inlined_at(struct view *v, const struct annotate_wanted *w, struct frame frame)
{
	struct symbol_inline found[INLINES_MAX];
	size_t count = symbolizer_inlines(v->symbols, frame, found, INLINES_MAX);

	for (size_t i = 0; i < count; i++)
		if (demangle_matches(found[i].name, w->name))
			return true;
	return false;
}

/* The first function found into which the requested function was inlined; NULL: none. */
static const struct symbol *find_around(struct view *v, const struct selection *selection,
                                        const struct annotate_wanted *w)
{
	const struct profile *p = v->profile;

	for (size_t i = 0; i < selection->rows.count; i++) {
		uint32_t path = p->rows.items[selection->rows.items[i]].path;
		uint32_t frame = p->paths.items[path].frame;

		if (path != PATH_ROOT && !p->frames.items[frame].kernel &&
		    is_inlined_at(v, w, p->frames.items[frame].frame))
			return view_function(v, frame);
	}
	return NULL;
}

static int complain_none(struct view *v, const struct selection *selection,
                         const struct annotate_wanted *w, struct error *err)
{
	const char *trouble = find_trouble(v, selection);
	const struct symbol *around = w->by_start ? NULL : find_around(v, selection, w);

	if (around)
		return error_set(err, ENOENT,
		                 "%s was inlined: its instructions are in its callers, see 'assay "
		                 "annotate %s'",
		                 w->name, around->name);
	return error_set(err, ENOENT,
	                 "no sample is in a function \"%s\"%s%s: 'assay report' lists the "
	                 "functions that have samples%s%s",
	                 w->name, w->image ? " of " : "", w->image ? w->image : "",
	                 trouble ? ". Most samples without a name: " : "", trouble ? trouble : "");
}

static int complain_many(struct view *v, const struct candidates *c,
                         const struct annotate_wanted *w, struct error *err)
{
	struct buf text = {0};

	vec_each (item, &c->items) {
		if (item - c->items.items == CANDIDATES_SHOWN)
			break;
		buf_addf(&text, "%s%s:0x%llx (%s, %llu %s)", text.size ? ", " : "",
		         view_image_short(v, item->symbol->image),
		         (unsigned long long)item->symbol->start, item->symbol->name,
		         (unsigned long long)item->samples,
		         plural(item->samples, "sample", "samples"));
	}
	error_set(err, EINVAL, "%zu functions have the name \"%s\"; give one of these: %.800s%s",
	          c->items.count, w->name, buf_text(&text),
	          c->items.count > CANDIDATES_SHOWN ? ", ..." : "");
	buf_done(&text);
	return -EINVAL;
}

static int compare_hits(const void *pa, const void *pb)
{
	const struct annotate_hit *a = pa, *b = pb;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Sorts the hits by address and adds up hits of the same address. */
static void sum_hits(struct candidate *c)
{
	struct annotate_hit *items = c->hits.items;
	size_t kept = 0;

	qsort(items, c->hits.count, sizeof(*items), compare_hits);
	for (size_t i = 0; i < c->hits.count; i++) {
		if (kept && items[kept - 1].address == items[i].address)
			items[kept - 1].samples += items[i].samples;
		else
			items[kept++] = items[i];
	}
	c->hits.count = kept;
}

/* The assembly, followed by the name of the branch target. */
static char *line_text(struct view *v, const struct symbol *symbol, const struct symbol_code *code,
                       const struct instruction *i)
{
	uint64_t offset = i->target - symbol->start;
	const struct symbol *to;
	struct frame frame;

	if (!i->branch || (code->unlinked && i->target == i->address + i->size))
		return xstrdup(i->text);
	if (offset < symbol->size)
		return xasprintf("%s <+0x%llx>", i->text, (unsigned long long)offset);
	if (!symbolizer_frame(v->symbols, symbol->image, i->target, &frame))
		return xstrdup(i->text);
	to = symbolizer_find(v->symbols, frame);
	if (!to->named || to->range)
		return xstrdup(i->text);
	if (to->start == i->target)
		return xasprintf("%s <%s>", i->text, to->name);
	return xasprintf("%s <%s+0x%llx>", i->text, to->name,
	                 (unsigned long long)(i->target - to->start));
}

static void add_source(struct annotate *a, struct view *v, struct annotate_line *line, bool text)
{
	struct symbol_inline found[INLINES_MAX];
	struct frame frame;

	if (!symbolizer_frame(v->symbols, a->symbol->image, line->address, &frame))
		return;
	line->first_inline = (uint32_t)a->inlines.count;
	line->inlines = (uint32_t)symbolizer_inlines(v->symbols, frame, found, INLINES_MAX);
	for (uint32_t i = 0; i < line->inlines; i++)
		vec_push(&a->inlines, found[i]);
	if (!symbolizer_line(v->symbols, frame, &line->file, &line->line))
		return;
	if (!text)
		return;
	if (!a->sources) {
		struct file_namer namer = symbolizer_namer(v->symbols, a->symbol->image);

		a->sources = source_files_new(&namer);
	}
	line->source = source_files_line(a->sources, line->file, line->line);
}

/* Marks the lines whose samples came late, because the timer waited until interrupts were on. */
static void add_marks(struct annotate *a, const struct delays *delays)
{
	vec_each (line, &a->lines) {
		if (!delays || !delays->maskable || !line->samples)
			continue;
		if (kernel_exits_find(delays->exits, a->symbol, line->address))
			line->mark = ANNOTATE_KERNEL_EXIT;
		else if (delays_find(delays, a->symbol, line->address))
			line->mark = ANNOTATE_INTERRUPTS_OFF;
		if (line->mark)
			a->marked += line->samples;
	}
}

static void add_inside(struct annotate *a, const struct annotate_hit *hit)
{
	struct annotate_line *line = vec_add(&a->lines);

	line->address = hit->address;
	line->samples = hit->samples;
	line->text = xstrdup("(inside the instruction before)");
	a->inside += hit->samples;
}

/* Merges instructions and hits, both in address order. */
static void add_lines(struct annotate *a, struct view *v, const struct disassembly *d,
                      const struct symbol_code *code, const struct candidate *c, bool text)
{
	struct annotate_line *line;
	size_t hit = 0;

	vec_each (i, &d->items) {
		while (hit < c->hits.count && c->hits.items[hit].address < i->address)
			add_inside(a, &c->hits.items[hit++]);
		line = vec_add(&a->lines);
		line->address = i->address;
		line->bytes = code->bytes + (i->address - code->address);
		line->size = i->size;
		line->text = line_text(v, a->symbol, code, i);
		add_source(a, v, line, text);
		if (hit >= c->hits.count || c->hits.items[hit].address != i->address)
			continue;
		line->samples = c->hits.items[hit++].samples;
		if (!i->decoded)
			a->inside += line->samples;
	}
	while (hit < c->hits.count)
		add_inside(a, &c->hits.items[hit++]);
}

static void mark_hot_lines(struct annotate *a)
{
	struct annotate_line *lines = a->lines.items;
	size_t count = a->lines.count,
	       done = 0; /* it is decided for lines before `done` whether they are hot */

	for (size_t i = 0; i < count; i++) {
		size_t from = i < HOT_AROUND ? 0 : i - HOT_AROUND;
		size_t to = count - i <= HOT_AROUND ? count : i + HOT_AROUND + 1;

		if (!lines[i].samples)
			continue;
		for (from = from <= done + HOT_GAP ? done : from; from < to; from++)
			lines[from].hot = true;
		done = to;
	}
	for (size_t i = done; count - done <= HOT_GAP && i < count; i++)
		lines[i].hot = true;
}

/* What the user who chose the paths of sources and debug files may not read. */
static void add_left_out(struct annotate *a, struct view *v)
{
	const char *why, *debug = symbolizer_refusal(v->symbols, a->symbol->image);
	size_t files = source_files_refused(a->sources, &why);
	struct buf text = {0};

	if (files) {
		text_counted(&text, files, "source file is left out: ",
		             "source files are left out, the first one: ");
		buf_puts(&text, why);
	}
	if (debug)
		buf_addf(&text, "%sdebug information is left out: %s", files ? "; " : "", debug);
	if (text.size)
		a->left_out = xstrdup(buf_text(&text));
	buf_done(&text);
}

static int fill(struct annotate *a, struct view *v, struct candidate *c,
                const struct annotate_options *options, struct error *err)
{
	const struct symbol *symbol = c->symbol;
	struct symbol_code code;
	struct disassembly d;
	int r;

	if (symbol->range && !symbol->size)
		return error_set(err, ENOENT,
		                 "%s: no symbol follows this code, so its end is unknown; debug "
		                 "information of the file would name its functions",
		                 image_path(&v->profile->images, symbol->image));
	if (!symbol->named || !symbol->size)
		return error_set(err, ENOENT,
		                 "%s: has no symbols on this machine, so the start of its "
		                 "instructions is unknown",
		                 image_path(&v->profile->images, symbol->image));
	r = symbolizer_code(v->symbols, symbol->image, symbol->start, symbol->size, &code, err);
	if (r)
		return r;
	r = disassemble(&code, &d, err);
	if (r)
		return r;
	a->symbol = symbol;
	a->image = image_path(&v->profile->images, symbol->image);
	a->code_source = code.source;
	a->samples = c->samples;
	sum_hits(c);
	add_lines(a, v, &d, &code, c, options->source);
	add_left_out(a, v);
	add_marks(a, options->delays);
	mark_hot_lines(a);
	disassembly_done(&d);
	return 0;
}

int annotate_new(struct annotate **out, struct view *v, const struct selection *selection,
                 const struct annotate_options *options, struct error *err)
{
	struct annotate *a = xcalloc(1, sizeof(*a));
	struct candidates c = {0};
	struct annotate_wanted w = {.symbol = options->symbol};
	int r;

	*out = NULL;
	if (!w.symbol)
		parse_wanted(v, options->function, &w);
	find_candidates(v, selection, &w, &c);
	if (c.items.count)
		qsort(c.items.items, c.items.count, sizeof(*c.items.items), compare_candidates);
	merge_candidates(v, &c);
	a->event = v->profile->events.items[selection->event].name;
	a->base_samples = selection->base_samples;
	if (c.items.count == 1)
		r = fill(a, v, &c.items.items[0], options, err);
	else if (c.items.count)
		r = complain_many(v, &c, &w, err);
	else
		r = complain_none(v, selection, &w, err);
	vec_each (item, &c.items) {
		vec_done(&item->hits);
	}
	vec_done(&c.items);
	free(w.image);
	if (r)
		annotate_free(a);
	else
		*out = a;
	return r;
}

void annotate_free(struct annotate *a)
{
	if (!a)
		return;
	vec_each (line, &a->lines) {
		free(line->text);
	}
	vec_done(&a->lines);
	vec_done(&a->inlines);
	source_files_free(a->sources);
	free(a->left_out);
	free(a);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/delay/kernel_exits.h"

#include "base/memory/xalloc.h"
#include "view/confidence/confidence.h"
#include "view/delay/delay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Neighbours of one side, which end at a jump. */
#define NEIGHBOURS_MAX 8
/* Code that is decoded where the function is not known, and the largest function. */
#define WINDOW_BYTES 64
#define WINDOW_MIN 8 /* at the end of a file */
/* Where decoding begins, in bytes before an address of an unknown function. */
#define BACK_MIN 16
#define BACK_MAX 48
#define FUNCTION_BYTES (1u << 20)
#define Z95 1.96

/* Samples of one instruction of user code, by image and address. */
struct user_place {
	uint32_t image, frame;
	uint64_t address, samples, weight;
};

struct exit_search {
	struct view *view;
	uint8_t event;
	const uint32_t *rows;
	size_t row_count;
	uint64_t *samples, *weights;   /* per frame: of user mode, at this instruction */
	uint64_t *calls, *faults;      /* per frame: in the kernel, entered from this instruction */
	VEC(struct user_place) places; /* by image and address */
	struct kernel_exits *result;
};

bool event_is_maskable(const struct profile *p, uint8_t event)
{
	return event < p->events.count && p->events.items[event].role == ATTR_CLOCK &&
	       p->events.items[event].period_ns;
}

/* ---- what was sampled ------------------------------------------------------ */

static void count_entry(struct exit_search *s, const struct profile_row *row)
{
	const struct profile *p = s->view->profile;
	enum kernel_entry entry = view_entry(s->view, row->path);
	uint32_t node = row->path;

	if (entry != ENTRY_SYSCALL && entry != ENTRY_FAULT)
		return;
	while (node != PATH_ROOT && p->frames.items[p->paths.items[node].frame].kernel)
		node = p->paths.items[node].parent;
	if (node != PATH_ROOT && !p->frames.items[p->paths.items[node].frame].caller)
		(entry == ENTRY_FAULT ? s->faults : s->calls)[p->paths.items[node].frame] +=
		        row->samples;
}

static void count_rows(struct exit_search *s)
{
	const struct profile *p = s->view->profile;

	for (size_t i = 0; i < s->row_count; i++) {
		const struct profile_row *row = &p->rows.items[s->rows[i]];
		uint32_t frame = p->paths.items[row->path].frame;

		if (row->event != s->event || row->path == PATH_ROOT || !row->samples)
			continue;
		if (row->mode == PROFILE_USER) {
			s->samples[frame] += row->samples;
			s->weights[frame] += row->weight;
		} else if (row->mode == PROFILE_KERNEL) {
			count_entry(s, row);
		}
	}
}

static int by_address(const void *pa, const void *pb)
{
	const struct user_place *a = pa, *b = pb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static void list_places(struct exit_search *s)
{
	const struct profile *p = s->view->profile;

	for (uint32_t i = 0; i < p->frames.count; i++) {
		const struct frame *frame = &p->frames.items[i].frame;

		if (s->samples[i])
			vec_push(&s->places,
			         (struct user_place){frame->image, i,
			                             symbolizer_address(s->view->symbols, *frame),
			                             s->samples[i], s->weights[i]});
	}
	if (s->places.count)
		qsort(s->places.items, s->places.count, sizeof(*s->places.items), by_address);
}

static double samples_at(const struct exit_search *s, uint32_t image, uint64_t address)
{
	struct user_place wanted = {.image = image, .address = address};
	const struct user_place *at;

	if (!s->places.count)
		return 0;
	at = bsearch(&wanted, s->places.items, s->places.count, sizeof(wanted), by_address);
	return at ? (double)at->samples : 0;
}

/* ---- the code -------------------------------------------------------------- */

/* The bytes are not kept, since a live screen looks at them again and again. */
static bool read_code(struct view *v, uint32_t image, uint64_t address, uint64_t size,
                      struct disassembly *code)
{
	uint8_t *bytes = xmalloc(size);
	int machine = symbolizer_bytes(v->symbols, image, address, bytes, size);
	struct symbol_code read = {bytes, address, size, .source = ""};
	bool good;

	read.machine = machine;
	good = machine >= 0 && !disassemble(&read, code, NULL);
	free(bytes);
	return good;
}

static bool is_whole(const struct symbol *f)
{
	return f->named && !f->range && f->size && f->size <= FUNCTION_BYTES;
}

/* The function around an address; without one, the code from the address on. */
static bool read_around(struct view *v, const struct user_place *at, struct disassembly *code)
{
	const struct symbol *f = view_function(v, at->frame);

	if (is_whole(f) && read_code(v, at->image, f->start, f->size, code))
		return true;
	for (uint64_t size = WINDOW_BYTES; size >= WINDOW_MIN; size /= 2)
		if (read_code(v, at->image, at->address, size, code))
			return true;
	return false;
}

enum decoded { DECODED_NOTHING, DECODED_OTHER, DECODED_SYSCALL };

/* What decoding from here to the address ends with. */
static enum decoded decode_to(struct view *v, const struct user_place *at, uint64_t from)
{
	enum decoded found = DECODED_OTHER;
	const struct instruction *last;
	struct disassembly code;

	if (from >= at->address || !read_code(v, at->image, from, at->address - from, &code))
		return DECODED_NOTHING;
	last = code.items.count ? vec_last(&code.items) : NULL;
	if (last && last->address + last->size == at->address && delay_is_syscall(last))
		found = DECODED_SYSCALL;
	disassembly_done(&code);
	return found;
}

/*
 * The bytes before the address may be a part of another instruction. The function shows it. In a
 * file without symbols the code is decoded from several places: after a few instructions most of
 * them are at the same boundaries. Without the disassembler the bytes decide.
 */
static bool confirm(struct view *v, const struct user_place *at)
{
	const struct symbol *f = view_function(v, at->frame);
	unsigned count[DECODED_SYSCALL + 1] = {0};

	if (is_whole(f))
		return decode_to(v, at, f->start) != DECODED_OTHER;
	/* The file's code may begin shortly before the address. */
	for (unsigned back = BACK_MIN; back < BACK_MAX && back < at->address; back++)
		count[decode_to(v, at, at->address - back)]++;
	return count[DECODED_SYSCALL] >= count[DECODED_OTHER];
}

enum code_before { BEFORE_UNKNOWN, BEFORE_OTHER, BEFORE_SYSCALL, BEFORE_UNREAD };

/* Looked up once for each frame of a view. */
static enum code_before code_before(struct view *v, const struct user_place *at)
{
	uint8_t *known = &v->before[at->frame];
	enum delay_bytes found;

	if (*known)
		return (enum code_before) * known;
	found = delay_bytes_before(v->symbols, at->image, at->address);
	if (found == BYTES_UNREAD)
		*known = BEFORE_UNREAD;
	else
		*known = found == BYTES_SYSCALL && confirm(v, at) ? BEFORE_SYSCALL : BEFORE_OTHER;
	return (enum code_before) * known;
}

/* ---- the estimate ---------------------------------------------------------- */

struct neighbours {
	double sum, most;
	unsigned count;
};

static void add_neighbour(const struct exit_search *s, const struct user_place *at,
                          const struct instruction *i, struct neighbours *n)
{
	double samples = samples_at(s, at->image, i->address);

	n->sum += samples;
	n->most = fmax(n->most, samples);
	n->count++;
}

/* The instructions of the same block run as often. */
static void add_block(const struct exit_search *s, const struct user_place *at,
                      const struct disassembly *d, struct neighbours *n)
{
	size_t here = delay_number_of(d, at->address);

	if (here == d->items.count)
		return;
	for (size_t i = here; i + 1 < d->items.count && i - here < NEIGHBOURS_MAX; i++) {
		if (delay_ends_block(&d->items.items[i]))
			break;
		add_neighbour(s, at, &d->items.items[i + 1], n);
	}
	for (size_t i = here; i-- > 0 && here - i <= NEIGHBOURS_MAX;) {
		/* The system call itself is in the block. */
		if (delay_ends_block(&d->items.items[i]) &&
		    (i + 1 < here || !delay_after_syscall(d, at->address)))
			break;
		add_neighbour(s, at, &d->items.items[i], n);
	}
}

static struct kernel_estimate estimate(struct exit_search *s, const struct user_place *at,
                                       double samples)
{
	struct neighbours n = {0};
	struct disassembly code;
	double own;

	if (read_around(s->view, at, &code)) {
		add_block(s, at, &code, &n);
		disassembly_done(&code);
	}
	/* Without neighbours it is not known what the instruction takes by itself. */
	own = n.count ? n.most + Z95 * sqrt(n.most + 1) : samples;
	return (struct kernel_estimate){fmax(samples - (n.count ? n.sum / n.count : 0), 0),
	                                fmax(samples - own, 0), samples};
}

static void scale(struct kernel_estimate *e, double mean, double low, double high)
{
	e->mean *= mean;
	e->low *= low;
	e->high *= high;
}

/* The error of sampling: that of the share of all places. */
static void add_error(struct exit_search *s)
{
	const struct profile *p = s->view->profile;
	uint32_t *group = xcalloc(p->rows.count + 1, sizeof(*group));
	bool *outside = xcalloc(p->rows.count + 1, sizeof(*outside));
	struct kernel_exits *e = s->result;
	struct confidence c;
	struct confidence_input in = {p, &s->view->order, s->event, 1, group, outside};

	memset(outside, true, p->rows.count);
	memset(group, 0xff, (p->rows.count + 1) * sizeof(*group));
	for (size_t i = 0; i < s->row_count; i++) {
		const struct profile_row *row = &p->rows.items[s->rows[i]];

		outside[s->rows[i]] = row->event != s->event;
		if (row->event == s->event && kernel_exits_has(e, p, row))
			group[s->rows[i]] = 0;
	}
	confidence_intervals(&in, &c);
	if (c.share > 0) {
		scale(&e->kernel, 1, c.low / c.share, c.high / c.share);
		vec_each (place, &e->places) {
			double error = Z95 / sqrt((double)place->samples + 1);

			scale(&place->kernel, 1, fmax(1 - error, 0), 1 + error);
		}
	}
	free(group);
	free(outside);
}

/* ---- the places ------------------------------------------------------------ */

static void add_place(struct exit_search *s, const struct user_place *at, bool fault, bool by_chain)
{
	struct kernel_exits *e = s->result;
	uint64_t bound = fault ? s->faults[at->frame] : at->samples;
	struct kernel_exit *place = vec_add(&e->places);
	double ns = (double)at->weight / (double)at->samples;

	place->symbol = view_function(s->view, at->frame);
	place->frame = at->frame;
	place->address = at->address;
	place->fault = fault;
	place->by_chain = by_chain;
	place->samples = bound < at->samples ? bound : at->samples;
	place->weight = (uint64_t)(ns * (double)place->samples);
	place->kernel = estimate(s, at, (double)place->samples);
	scale(&place->kernel, ns, ns, ns);
	if (by_chain) {
		e->chained_weight += place->weight;
		return;
	}
	e->after[at->frame] = true;
	e->samples += place->samples;
	e->weight += at->weight;
	e->kernel.mean += place->kernel.mean;
	e->kernel.low += place->kernel.low;
	e->kernel.high += place->kernel.high;
}

static bool is_file(const struct view *v, uint32_t image)
{
	enum image_kind kind = v->profile->images.images.items[image].kind;

	return kind == IMAGE_FILE || kind == IMAGE_VDSO;
}

/* A few samples in both modes may be chance. */
static bool is_evidence(const struct user_place *at, uint64_t entries)
{
	return at->samples >= DELAY_SAMPLES_MIN && entries >= DELAY_SAMPLES_MIN;
}

static void judge(struct exit_search *s, const struct user_place *at)
{
	enum code_before before = code_before(s->view, at);

	if (before == BEFORE_SYSCALL)
		add_place(s, at, false, false);
	else if (before == BEFORE_UNREAD && is_evidence(at, s->calls[at->frame]))
		add_place(s, at, false, true);
	else if (before != BEFORE_UNREAD && is_evidence(at, s->faults[at->frame]) &&
	         !delay_is_string(s->view->symbols, at->image, at->address))
		add_place(s, at, true, true);
	else if (before == BEFORE_UNREAD && is_file(s->view, at->image))
		s->result->unread += at->weight;
}

static int by_weight(const void *pa, const void *pb)
{
	const struct kernel_exit *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

static void find_all(struct exit_search *s, size_t frames)
{
	uint64_t *columns = xcalloc(4 * (frames + 1), sizeof(*columns));

	s->samples = columns;
	s->weights = columns + frames + 1;
	s->calls = columns + 2 * (frames + 1);
	s->faults = columns + 3 * (frames + 1);
	count_rows(s);
	list_places(s);
	vec_each (at, &s->places)
		judge(s, at);
	if (s->result->places.count) {
		add_error(s);
		qsort(s->result->places.items, s->result->places.count,
		      sizeof(*s->result->places.items), by_weight);
	}
	vec_done(&s->places);
	free(columns);
}

struct kernel_exits *kernel_exits_new(struct view *v, uint8_t event, const uint32_t *rows,
                                      size_t count)
{
	struct kernel_exits *e = xcalloc(1, sizeof(*e));
	struct exit_search s = {
	        .view = v, .event = event, .rows = rows, .row_count = count, .result = e};

	e->after = xcalloc(v->profile->frames.count + 1, sizeof(*e->after));
	if (event_is_maskable(v->profile, event))
		find_all(&s, v->profile->frames.count);
	return e;
}

void kernel_exits_free(struct kernel_exits *e)
{
	if (!e)
		return;
	vec_done(&e->places);
	free(e->after);
	free(e);
}

bool kernel_exits_has(const struct kernel_exits *e, const struct profile *p,
                      const struct profile_row *row)
{
	return row->mode == PROFILE_USER && row->path != PATH_ROOT &&
	       e->after[p->paths.items[row->path].frame];
}

const struct kernel_exit *kernel_exits_find(const struct kernel_exits *e,
                                            const struct symbol *symbol, uint64_t address)
{
	vec_each (place, &e->places)
		if (place->symbol == symbol && place->address == address)
			return place;
	return NULL;
}

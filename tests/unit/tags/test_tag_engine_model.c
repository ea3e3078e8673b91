/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine and the summary are compared with the slow model, on random captures: of threads that
 * are switched out and in, and of devices with several processes, interrupts in idle and in
 * functions, lost exits, gaps, and clocks that wrap. The numbers of each step and each field of the
 * summary must be equal.
 *
 * TAG_MODEL_SEEDS: number of captures of each kind; TAG_MODEL_FIRST: the first seed.
 */
#include "check.h"
#include "tag_model_fixture.h"

#include <inttypes.h>

static uint64_t state;

static uint64_t chance(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

static bool one_in(uint64_t n)
{
	return n && !chance(n);
}

/* The parameters of a capture: probabilities as one in this number; 0: never. */
struct habits {
	unsigned functions, processes, lost, longjmp, packet, gap, late, wrap, zero, garbage,
	        switches;
};

struct life { /* the open calls that really run, in the view of a process */
	VEC(uint32_t) open;
};

struct maker {
	struct capture *c;
	struct habits h;
	uint64_t time;
	struct life lives[6];
	unsigned runs;
};

static void next_packet(struct maker *m)
{
	struct tag_packet *p;
	bool late = one_in(m->h.late);

	if (late)
		m->time -= chance(60) < m->time ? chance(60) : 0;
	p = capture_packet(m->c, m->time - (m->time > 20 ? chance(20) : 0));
	p->gap = one_in(m->h.gap);
	p->lost = one_in(m->h.gap) ? 1 + chance(9) : 0;
	if (!vec_last(&m->c->recording.streams)->device && one_in(8))
		p->tid = 1 + (int32_t)chance(3);
	p->forked = one_in(10);
}

static void put(struct maker *m, uint32_t tag)
{
	uint64_t steps[] = {0, 1, chance(10), chance(1000)};

	if (one_in(m->h.packet))
		next_packet(m);
	if (one_in(m->h.zero))
		capture_word(m->c, 0);
	m->time += steps[chance(4)];
	if (one_in(m->h.wrap))
		m->time += chance(ASSAY_TAGS_CLOCK_MASK);
	if (!one_in(m->h.lost))
		capture_event(m->c, m->time, tag);
}

static uint32_t any_tag(struct maker *m)
{
	static const uint32_t odd_ones[] = {
	        TAG_PLACE,
	        TAG_PLACE + 1,
	        TAG_ODD_PLACE,
	        TAG_ODD_PLACE - 1,
	        TAG_UNKNOWN,
	        TAG_UNKNOWN + 1,
	        0,
	        1,
	        ASSAY_TAG_RESERVED,
	        ASSAY_TAG_SWITCH_IN,
	        ASSAY_TAG_SWITCH_BLOCKED,
	        ASSAY_TAG_SWITCH_PREEMPTED,
	        ASSAY_TAG_OWN,
	        TAG_SWTCH,
	        EXIT(TAG_SWTCH),
	        TAG_SWTCH2,
	        EXIT(TAG_SWTCH2),
	        0x800000,
	        0x800001,
	};

	if (one_in(3))
		return odd_ones[chance(sizeof(odd_ones) / sizeof(*odd_ones))];
	return TAG_A + (uint32_t)chance(2 * m->h.functions);
}

static void call(struct maker *m)
{
	uint32_t tag = TAG_A + 2 * (uint32_t)chance(m->h.functions);

	put(m, tag);
	vec_push(&m->lives[m->runs].open, tag);
}

static void finish(struct maker *m)
{
	struct life *l = &m->lives[m->runs];

	if (!l->open.count)
		return;
	while (l->open.count > 1 && one_in(m->h.longjmp))
		l->open.count--;
	put(m, EXIT(*vec_last(&l->open)));
	l->open.count--;
}

static void interrupts(struct maker *m)
{
	uint32_t outer, inner;

	while (one_in(2)) {
		outer = TAG_A + 2 * (uint32_t)chance(m->h.functions);
		inner = TAG_A + 2 * (uint32_t)chance(m->h.functions);
		put(m, outer);
		if (one_in(2)) {
			put(m, inner);
			put(m, EXIT(inner));
		}
		put(m, EXIT(outer));
	}
}

static void switch_process(struct maker *m)
{
	bool both = one_in(4);

	put(m, TAG_SWTCH);
	if (both)
		put(m, TAG_SWTCH2);
	interrupts(m);
	m->runs = (unsigned)chance(m->h.processes);
	if (one_in(6)) /* a call ends, and another begins in its place */
		m->lives[m->runs].open.count = 0;
	if (both)
		put(m, EXIT(TAG_SWTCH2));
	if (!one_in(10))
		put(m, EXIT(TAG_SWTCH));
}

static void switch_thread(struct maker *m)
{
	put(m, one_in(2) ? ASSAY_TAG_SWITCH_BLOCKED : ASSAY_TAG_SWITCH_PREEMPTED);
	if (!one_in(5))
		put(m, ASSAY_TAG_SWITCH_IN);
}

static void make_stream(struct capture *c, bool device, const struct habits *h)
{
	struct maker m = {.c = c, .h = *h, .time = chance(1u << 20)};
	uint64_t events = 5 + chance(200), words;

	if (one_in(4))
		m.time += chance(UINT64_C(1) << 50);
	capture_stream(c, device, 7, 1);
	next_packet(&m);
	vec_last(&vec_last(&c->streams)->packets)->packet.tid = 1;
	do {
		if (one_in(m.h.garbage))
			put(&m, any_tag(&m));
		else if (one_in(m.h.switches) && device)
			switch_process(&m);
		else if (one_in(m.h.switches))
			switch_thread(&m);
		else if (one_in(20))
			put(&m, ASSAY_TAG_OWN);
		else if (m.lives[m.runs].open.count > chance(8))
			finish(&m);
		else
			call(&m);
		words = 0;
		vec_each (p, &vec_last(&c->streams)->packets)
			words += p->words.count;
	} while (words < events);
	for (size_t i = 0; i < 6; i++)
		vec_done(&m.lives[i].open);
}

static struct habits any_habits(void)
{
	static const unsigned often[] = {0, 3, 10, 40};

	return (struct habits){
	        .functions = 1 + (unsigned)chance(8),
	        .processes = 1 + (unsigned)chance(6),
	        .lost = often[chance(4)],
	        .longjmp = often[chance(4)],
	        .packet = 3 + (unsigned)chance(60),
	        .gap = often[chance(4)],
	        .late = often[chance(4)],
	        .wrap = often[chance(4)],
	        .zero = often[chance(4)],
	        .garbage = one_in(5) ? 1 : often[chance(4)],
	        .switches = 2 + (unsigned)chance(20),
	};
}

static bool same_step(const struct tag_step *a, const struct tag_step *b)
{
	return a->kind == b->kind && a->how == b->how && a->uncertain == b->uncertain &&
	       a->preempted == b->preempted && a->tag == b->tag && a->depth == b->depth &&
	       a->process == b->process && a->call == b->call && a->time == b->time &&
	       a->net == b->net && a->total == b->total && a->wall == b->wall &&
	       a->lost == b->lost && a->pid == b->pid && a->tid == b->tid;
}

static void show_step(const char *whose, const struct tag_step *s)
{
	printf("# %s: kind %d how %d uncertain %d preempted %d tag %u depth %u process %u call "
	       "%" PRIu64 " time %" PRIu64 " net %" PRIu64 " total %" PRIu64 " wall %" PRIu64
	       " lost %" PRIu64 " thread %d/%d\n",
	       whose, s->kind, s->how, s->uncertain, s->preempted, s->tag, s->depth, s->process,
	       s->call, s->time, s->net, s->total, s->wall, s->lost, s->pid, s->tid);
}

static void compare_steps(const struct capture_steps *got, const struct capture_steps *want)
{
	size_t i = 0;

	while (i < got->told.count && i < want->told.count &&
	       same_step(&got->told.items[i], &want->told.items[i]))
		i++;
	if (i == got->told.count && i == want->told.count)
		return;
	CHECK_EQ(got->told.count, want->told.count);
	printf("# step %zu differs\n", i);
	if (i < got->told.count)
		show_step("engine", &got->told.items[i]);
	if (i < want->told.count)
		show_step("model ", &want->told.items[i]);
	check_failures++;
}

static void compare_range(const struct tag_range *got, const struct model_time *times, size_t count)
{
	struct tag_range want = TAG_RANGE_NONE;

	for (size_t i = 0; i < count; i++) {
		const struct model_time *t = &times[i];

		tag_range_add(&want, &(struct tag_range){1,
		                                         {t->net, t->net, t->net},
		                                         {t->total, t->total, t->total}});
	}
	CHECK_EQ(got->calls, want.calls);
	CHECK_EQ(got->net.sum, want.net.sum);
	CHECK_EQ(got->total.sum, want.total.sum);
	if (!count)
		return;
	CHECK_EQ(got->net.min, want.net.min);
	CHECK_EQ(got->net.max, want.net.max);
	CHECK_EQ(got->total.min, want.total.min);
	CHECK_EQ(got->total.max, want.total.max);
}

static void compare_function(const struct tag_function *got, struct model_function *f)
{
	CHECK_EQ(got->calls, f->calls);
	CHECK_EQ(got->elapsed, f->elapsed);
	CHECK_EQ(got->net, f->net);
	CHECK_EQ(got->ended, f->ended);
	CHECK_EQ(got->open, f->open);
	CHECK_EQ(got->unseen, f->unseen);
	CHECK_EQ(got->cut, f->cut);
	compare_range(&got->certain, f->sure.items, f->sure.count);
	compare_range(&got->uncertain, f->unsure.items, f->unsure.count);
}

static void compare_damage(const struct tag_damage *got, const struct tag_damage *want)
{
	CHECK_EQ(got->lost, want->lost);
	CHECK_EQ(got->gaps, want->gaps);
	CHECK_EQ(got->missing_exits, want->missing_exits);
	CHECK_EQ(got->unmatched_exits, want->unmatched_exits);
	CHECK_EQ(got->inherited_exits, want->inherited_exits);
	CHECK_EQ(got->unknown_tags, want->unknown_tags);
	CHECK_EQ(got->guesses, want->guesses);
	CHECK_EQ(got->backwards, want->backwards);
}

/* Appends `from`'s items. */
#define JOIN(to, from)                                                                             \
	do {                                                                                       \
		for (size_t k_ = 0; k_ < (from)->count; k_++)                                      \
			vec_push((to), (from)->items[k_]);                                         \
	} while (0)

static void join_functions(struct model *to, const struct model *from)
{
	vec_each (f, &from->functions) {
		struct model_function *t = model_function(to, f->tag, f->is_inline);

		t->calls += f->calls;
		t->elapsed += f->elapsed;
		t->net += f->net;
		t->ended += f->ended;
		t->open += f->open;
		t->unseen += f->unseen;
		t->cut += f->cut;
		JOIN(&t->sure, &f->sure);
		JOIN(&t->unsure, &f->unsure);
	}
}

/* The expected summary of both streams. */
static void join(struct model *to, const struct model *from)
{
	struct tag_summary *t = &to->sum;
	const struct tag_summary *f = &from->sum;

	join_functions(to, from);
	t->tags += f->tags;
	t->first = f->first < t->first ? f->first : t->first;
	t->last = f->last > t->last ? f->last : t->last;
	t->streams += f->streams;
	t->threads |= f->threads; /* a bit for each tid */
	t->processes += f->processes;
	t->switches += f->switches;
	t->elapsed += f->elapsed;
	t->idle += f->idle;
	t->own += f->own;
	t->blocked += f->blocked;
	t->preempted += f->preempted;
	t->outside += f->outside;
	t->gap += f->gap;
	t->unknown += f->unknown;
	t->damage.lost += f->damage.lost;
	t->damage.gaps += f->damage.gaps;
	t->damage.missing_exits += f->damage.missing_exits;
	t->damage.unmatched_exits += f->damage.unmatched_exits;
	t->damage.inherited_exits += f->damage.inherited_exits;
	t->damage.unknown_tags += f->damage.unknown_tags;
	t->damage.guesses += f->damage.guesses;
	t->damage.backwards += f->damage.backwards;
}

static void compare_sums(const struct tag_summary *got, struct model *m)
{
	size_t functions = 0;

	CHECK_EQ(got->tags, m->sum.tags);
	CHECK_EQ(got->first, m->sum.first);
	CHECK_EQ(got->last, m->sum.last);
	CHECK_EQ(got->streams, m->sum.streams);
	CHECK_EQ(got->threads, m->device ? 0 : __builtin_popcountll(m->sum.threads));
	CHECK_EQ(got->processes, m->device ? m->sum.processes : got->threads != 0);
	CHECK_EQ(got->switches, m->sum.switches);
	CHECK_EQ(got->elapsed, m->sum.elapsed);
	CHECK_EQ(got->idle, m->sum.idle);
	CHECK_EQ(got->own, m->sum.own);
	CHECK_EQ(got->blocked, m->sum.blocked);
	CHECK_EQ(got->preempted, m->sum.preempted);
	CHECK_EQ(got->outside, m->sum.outside);
	CHECK_EQ(got->gap, m->sum.gap);
	CHECK_EQ(got->unknown, m->sum.unknown);
	CHECK_EQ(capture_booked(got), got->elapsed);
	compare_damage(&got->damage, &m->sum.damage);
	vec_each (f, &m->functions)
		functions += f->calls || f->net;
	CHECK_EQ(got->functions.count, functions);
	vec_each (f, &got->functions) {
		bool exit;
		const struct tag_name *name = tag_names_find(m->names, f->tag, &exit);

		/* The tag of a place may also be that of an exit's entry, which has no name. */
		bool place = name && name->kind == TAG_INLINE && f->names != UINT32_MAX;

		CHECK_EQ(f->names, name && (place || name->kind != TAG_INLINE) ? 0 : UINT32_MAX);
		compare_function(f, model_function(m, f->tag, place));
	}
}

static uint64_t count_between(const struct model_time *times, size_t count, bool total,
                              uint64_t low, uint64_t high)
{
	uint64_t found = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t v = total ? times[i].total : times[i].net;

		found += v >= low && v < high;
	}
	return found;
}

static void compare_histogram(const struct tag_histogram *h, struct model *m)
{
	struct model_function *f = model_function(m, h->tag, false);

	for (unsigned i = 0; i < TAG_HISTOGRAM_STEPS; i++) {
		uint64_t low, high, count;

		tag_histogram_bounds(i, &low, &high);
		count = count_between(f->sure.items, f->sure.count, h->total, low, high) +
		        count_between(f->unsure.items, f->unsure.count, h->total, low, high);
		CHECK_EQ(h->count[i], count);
	}
}

/* The model of all streams; its steps must equal those of the engine. */
static struct model model_of(struct capture *c, bool wall)
{
	struct model all, m;

	for (uint32_t i = 0; i < c->streams.count; i++) {
		struct capture_steps steps = {0};
		struct tag_damage damage;

		model_run(&m, &c->recording.streams.items[i], &c->streams.items[i], wall);
		capture_run(c, i, wall, &steps, &damage);
		compare_steps(&steps, &m.steps);
		compare_damage(&damage, &m.sum.damage);
		vec_done(&steps.told);
		vec_each (e, &m.events)
			m.sum.threads |= e->kind == MODEL_THREAD ? UINT64_C(1) << e->tid : 0;
		if (!i) {
			all = m;
			continue;
		}
		join(&all, &m);
		model_done(&m);
	}
	return all;
}

static void compare(struct capture *c, bool wall)
{
	struct tag_histogram h = {.tag = TAG_A, .total = one_in(2)};
	struct tag_summary_options options = {.wall = wall, .histogram = one_in(3) ? &h : NULL};
	struct tag_summary *s = tag_summary_new(&options);
	struct model m = model_of(c, wall);

	CHECK_EQ(tag_summary_recording(s, &c->recording, NULL), 0);
	tag_summary_finish(s);
	compare_sums(s, &m);
	if (options.histogram)
		compare_histogram(&h, &m);
	tag_summary_free(s);
	model_done(&m);
}

static uint64_t setting(const char *name, uint64_t without)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : without;
}

static void many(bool device)
{
	uint64_t first = setting("TAG_MODEL_FIRST", 1),
	         seeds = setting("TAG_MODEL_SEEDS", CHECK_CASES(2500));

	for (uint64_t seed = first; seed < first + seeds && !check_failures; seed++) {
		struct habits h;
		struct capture c;

		state = seed * 0x9e3779b97f4a7c15u + device;
		for (int i = 0; i < 8; i++)
			chance(2);
		h = any_habits();
		capture_init(&c);
		do
			make_stream(&c, device, &h);
		while (one_in(4));
		compare(&c, one_in(3));
		capture_done(&c);
		if (check_failures)
			printf("# seed %" PRIu64 "\n", seed);
	}
}

static void threads_are_as_the_model_has_them(void)
{
	many(false);
}

static void devices_are_as_the_model_has_them(void)
{
	many(true);
}

/* Random words: only the time account is checked, and that the engine ends. */
static void books_close_over_any_words(void)
{
	for (uint64_t seed = 1; seed <= CHECK_CASES(300); seed++) {
		struct capture c;
		struct tag_summary *s = tag_summary_new(NULL);
		struct capture_steps steps = {0};

		state = seed * 0x9e3779b97f4a7c15u;
		capture_init(&c);
		capture_stream(&c, seed % 2, 1, 1);
		for (int i = 0; i < 400; i++) {
			if (one_in(50) || !i)
				capture_packet(&c, chance(2) ? state : chance(1000))->gap =
				        one_in(3);
			capture_word(&c, chance(2) ? state : chance(64) | chance(64) << 24);
		}
		CHECK_EQ(tag_summary_recording(s, &c.recording, NULL), 0);
		tag_summary_finish(s);
		CHECK(capture_booked(s) == s->elapsed);
		capture_run(&c, 0, seed % 3, &steps, NULL);
		vec_done(&steps.told);
		tag_summary_free(s);
		capture_done(&c);
	}
}

int main(void)
{
	RUN(threads_are_as_the_model_has_them);
	RUN(devices_are_as_the_model_has_them);
	RUN(books_close_over_any_words);
	return check_end();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random recordings are written and read again with each event, loss and gap. With arguments,
 * `test_ctf_random DIRECTORY SEED` writes one and prints the data that another reader must find,
 * one line for each event: stream, ticks, name, pid, tid, thread, process; and one line for each
 * loss between packets: "lost", stream, count (tests/e2e/test_tags_ctf.py).
 */
#include "format/ctf/ctf.h"

#include "check.h"
#include "ctf_fixture.h"

#include <inttypes.h>

#define HZ 2595126000u
#define OFFSET_NS 1700000000123456789

enum { STREAMS = 7, PACKETS = 40, NAMES = 300 };

struct made {
	uint64_t time;
	uint32_t tag;
	int32_t pid, tid;
	char thread[17], process[17];
};

struct made_stream {
	uint32_t id;
	VEC(struct made) events;
	VEC(uint64_t) losses; /* between packets: babeltrace2 does not report the first one */
	uint64_t packets, lost, gaps, now;
};

struct world {
	struct ctf_writer *w;
	struct tag_names *names;
	struct made_stream streams[STREAMS];
};

static void make_names(struct tag_names *names)
{
	static const char *const odd[] = {"_ZN3fooC1Ev",   "quote\"d",    "back\\slash",
	                                  "parse@src/l.c", "caf\xc3\xa9", "x:exit"};
	char name[64];

	for (uint32_t i = 0; i < NAMES; i++) {
		enum tag_kind kind = i % 7 == 3   ? TAG_INLINE
		                     : i == 5     ? TAG_SWITCH
		                     : i % 7 == 4 ? TAG_IDLE
		                     : i % 7 == 6 ? TAG_INTERRUPT
		                                  : TAG_FUNCTION;

		snprintf(name, sizeof(name), "%s%u", i % 3 ? "function_" : odd[i / 3 % 6], i);
		tag_names_add(names, 500 + 2 * i, kind, name, strlen(name), NULL);
	}
}

/* Named tags, some unknown ones, some switches. */
static uint32_t random_tag(void)
{
	static const uint32_t own[] = {ASSAY_TAG_SWITCH_BLOCKED, ASSAY_TAG_SWITCH_PREEMPTED,
	                               ASSAY_TAG_SWITCH_IN};

	switch (random_below(20)) {
	case 0:
		return 100000 + (uint32_t)random_below(50);
	case 1:
		return own[random_below(3)];
	default:
		return 500 + (uint32_t)random_below(2 * NAMES);
	}
}

/* Mostly short; sometimes a large part of a turn, so that the clock wraps around. */
static uint64_t random_step(void)
{
	uint64_t dice = random_below(1000);

	return dice < 10 ? random_below(1ull << 40) : dice < 200 ? 0 : random_below(5000);
}

static void make_packet(struct world *world, struct made_stream *s, unsigned number)
{
	uint64_t words[400];
	struct tag_packet p = {.words = words, .tid = (int32_t)(1000 + s->id), .pid = 77};
	size_t count = random_below(5) ? random_below(200) : 0;

	snprintf(p.thread, sizeof(p.thread), "thread %u", s->id);
	snprintf(p.process, sizeof(p.process), "process \"%u\"", number / 20 % 10000);
	/*
	 * A beginning may be earlier than its first event, and than the end of the previous packet.
	 */
	p.begin = s->now - random_below(100);
	for (size_t i = 0; i < count; i++) {
		struct made e = {.tag = random_tag(), .pid = p.pid, .tid = p.tid};

		s->now += random_step();
		e.time = s->now;
		memcpy(e.thread, p.thread, sizeof(e.thread));
		memcpy(e.process, p.process, sizeof(e.process));
		vec_push(&s->events, e);
		words[p.count++] = WORD(e.time, e.tag);
		if (!random_below(30))
			words[p.count++] = 0; /* a slot that was reserved and never written */
	}
	p.end = s->now;
	p.lost = random_below(6) ? 0 : 1 + random_below(1000);
	p.gap = !random_below(9);
	if (p.lost && s->packets)
		vec_push(&s->losses, p.lost);
	s->packets++;
	s->lost += p.lost;
	s->gaps += p.gap;
	CHECK_EQ(ctf_writer_packet(world->w, s->id, &p, NULL), 0);
}

static void make_world(struct world *world, const char *path, uint64_t seed, bool compress)
{
	struct ctf_writer_facts facts = {{HZ, OFFSET_NS}, true, "command", "host", 3, {0}};
	struct error err = {0};
	uint32_t set;

	*world = (struct world){.names = tag_names_new()};
	fixture_random = seed * 0x9e3779b97f4a7c15u + 1;
	make_names(world->names);
	CHECK_EQ(ctf_writer_new(&world->w, path, &err), 0);
	if (compress)
		ctf_writer_compress(world->w);
	set = ctf_writer_names(world->w, world->names);
	for (unsigned i = 0; i < STREAMS; i++) {
		CHECK_EQ(ctf_writer_stream(world->w, set, i == 3, &world->streams[i].id, &err), 0);
		world->streams[i].now = 1ull << (40 + i); /* times of 40 bits and more */
	}
	for (unsigned i = 0; i < PACKETS * STREAMS; i++)
		make_packet(world, &world->streams[random_below(STREAMS)], i / STREAMS);
	CHECK_EQ(ctf_writer_finish(world->w, &facts, &err), 0);
	ctf_writer_free(world->w);
	CHECK_STR(err.text, "");
}

static void world_done(struct world *world)
{
	tag_names_free(world->names);
	for (unsigned i = 0; i < STREAMS; i++) {
		vec_done(&world->streams[i].events);
		vec_done(&world->streams[i].losses);
	}
}

static void check_stream(const struct made_stream *s, const struct all *all)
{
	CHECK_EQ(all->lost, s->lost);
	CHECK_EQ(all->gaps, s->gaps);
	CHECK_EQ(all->backwards, 0);
	CHECK_EQ(all->events.count, s->events.count);
	for (size_t i = 0; i < all->events.count && i < s->events.count; i++)
		CHECK(all->events.items[i].time == s->events.items[i].time &&
		      all->events.items[i].tag == s->events.items[i].tag);
}

static void random_recordings_are_read_as_they_were_written(void)
{
	char *path = place("random");

	for (uint64_t seed = 1; seed <= 20 && !check_failures; seed++) {
		struct world world;

		make_world(&world, path, seed, seed % 2);
		for (unsigned i = 0; i < STREAMS; i++) {
			struct all all = {0};

			CHECK_EQ(read_all(path, i, &all), 0);
			check_stream(&world.streams[i], &all);
			all_done(&all);
		}
		world_done(&world);
	}
	free(path);
}

static void check_files_equal(const char *one, const char *other)
{
	static char a[1 << 20], b[1 << 20];

	for (unsigned i = 0; i < STREAMS + 1; i++) {
		char *x = i < STREAMS ? xasprintf("%s/stream_%u", one, i)
		                      : xasprintf("%s/metadata", one);
		char *y = i < STREAMS ? xasprintf("%s/stream_%u", other, i)
		                      : xasprintf("%s/metadata", other);
		size_t size = get_bytes(x, a, sizeof(a));

		CHECK(size && size < sizeof(a) && size == get_bytes(y, b, sizeof(b)) &&
		      !memcmp(a, b, size));
		free(x);
		free(y);
	}
}

static void check_copy(const char *from, const char *to, bool compress)
{
	struct tag_recording *r = NULL;
	struct error err = {0};

	CHECK_EQ(ctf_recording_open(&r, from, &err), 0);
	CHECK_EQ(ctf_copy(r, to, compress, &err), 0);
	CHECK_STR(err.text, "");
	tag_recording_free(r);
}

/* Names in the metadata are in the order of the recording, so one copy brings them in order. */
static void a_compressed_copy_expands_to_the_same_bytes(void)
{
	char *first = place("first"), *plain = place("plain"), *packed = place("packed");
	char *expanded = place("expanded");
	struct world world;

	make_world(&world, first, 5, false);
	check_copy(first, plain, false);
	check_copy(plain, packed, true);
	check_copy(packed, expanded, false);
	check_files_equal(plain, expanded);
	world_done(&world);
	free(first);
	free(plain);
	free(packed);
	free(expanded);
}

static void print_name(const struct tag_names *names, uint32_t tag)
{
	bool exit;
	const struct tag_name *name = tag_names_find(names, tag, &exit);

	if (name)
		printf("%s%s", name->name, exit ? ":exit" : "");
	else if (tag == ASSAY_TAG_SWITCH_IN)
		printf("sched_switched_in");
	else if (tag >= ASSAY_TAG_RESERVED)
		printf("sched_switched_out_%s",
		       tag == ASSAY_TAG_SWITCH_BLOCKED ? "blocked" : "preempted");
	else
		printf("tag_%u", tag);
}

static void print_world(const struct world *world)
{
	for (unsigned i = 0; i < STREAMS; i++) {
		const struct made_stream *s = &world->streams[i];

		for (size_t k = 0; k < s->events.count; k++) {
			const struct made *e = &s->events.items[k];

			printf("event\t%u\t%" PRIu64 "\t", i, e->time);
			print_name(world->names, e->tag);
			printf("\t%d\t%d\t%s\t%s\n", e->pid, e->tid, e->thread, e->process);
		}
		for (size_t k = 0; k < s->losses.count; k++)
			printf("lost\t%u\t%" PRIu64 "\n", i, s->losses.items[k]);
	}
}

int main(int argc, char **argv)
{
	struct world world;

	if (argc == 3) {
		make_world(&world, argv[1], strtoull(argv[2], NULL, 10), false);
		print_world(&world);
		world_done(&world);
		return check_failures != 0;
	}
	if (!fixture_begin())
		return 1;
	RUN(random_recordings_are_read_as_they_were_written);
	RUN(a_compressed_copy_expands_to_the_same_bytes);
	fixture_end();
	return check_end();
}

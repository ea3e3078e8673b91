/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a flight recorder: it never exceeds its size and always has the newest records,
 * complete. Also the records that are retained after eviction.
 */
#include "base/error.h"
#include "check.h"
#include "session/sinks/evicted_records.h"
#include "session/sinks/flight_memory.h"

#include <stdlib.h>
#include <unistd.h>

#define MB (UINT64_C(1) << 20)

/* A record is filled with its number, so that overwritten bytes are found. */
struct feed {
	struct flight_memory *ring;
	uint64_t added, left, left_samples, left_bytes;
	bool in_order;
};

static size_t size_of(uint64_t number)
{
	/* Mostly small, some as long as records get. */
	if (number % 1000 == 999)
		return 65528;
	return 16 + number * 2654435761u % 500 / 8 * 8;
}

static bool holds(const uint8_t *bytes, uint64_t number)
{
	for (size_t at = 0; at < size_of(number); at += sizeof(number))
		if (memcmp(bytes + at, &number, sizeof(number)))
			return false;
	return true;
}

/* Checks the records of a chunk from that number on; returns the next number. */
static uint64_t follow(struct feed *f, const struct record_chunk *c, uint64_t number)
{
	size_t at = 0;
	uint64_t first = number;

	while (at < c->size) {
		f->in_order &= size_of(number) <= c->size - at && holds(c->bytes + at, number);
		at += size_of(number++);
	}
	f->in_order &= at == c->size && number - first == c->records;
	return number;
}

static void on_leave(void *ctx, const struct record_chunk *c)
{
	struct feed *f = ctx;

	f->left = follow(f, c, f->left);
	f->left_samples += c->samples;
	f->left_bytes += c->size;
}

static void feed_init(struct feed *f, uint64_t bytes, uint64_t span_ns)
{
	struct error err = {0};

	*f = (struct feed){.in_order = true};
	CHECK_EQ(flight_memory_new(&f->ring, bytes, span_ns, on_leave, f, &err), 0);
}

static void feed_one(struct feed *f, uint64_t time_ns)
{
	static uint64_t words[65536 / 8];
	uint64_t number = f->added++;

	for (size_t i = 0; i < size_of(number) / 8; i++)
		words[i] = number;
	flight_memory_add(f->ring, words, size_of(number), time_ns, number % 2);
}

/* Each added record was evicted or is in memory, once and in order. */
static void check_books(struct feed *f)
{
	uint64_t number = f->left, samples = f->left_samples, bytes = 0;

	for (size_t i = 0; i < flight_memory_chunks(f->ring); i++) {
		const struct record_chunk *c = flight_memory_chunk(f->ring, i);

		number = follow(f, c, number);
		samples += c->samples;
		bytes += c->size;
	}
	CHECK_EQ(number, f->added);
	CHECK_EQ(samples, f->added / 2);
	CHECK_EQ(bytes, flight_memory_bytes(f->ring));
	CHECK(bytes <= flight_memory_bytes_max(f->ring));
	CHECK(f->in_order);
}

static void check_bound(uint64_t span_ns)
{
	struct feed f;
	uint64_t most = 0;

	feed_init(&f, MB, span_ns);
	CHECK_EQ(flight_memory_bytes_max(f.ring), MB);
	for (unsigned i = 0; i < 40000; i++) {
		feed_one(&f, 1000 + i);
		if (flight_memory_bytes(f.ring) > most)
			most = flight_memory_bytes(f.ring);
		if (i % 997 == 0)
			check_books(&f);
	}
	check_books(&f);
	CHECK(most <= MB);
	/* The memory is used: at most an eighth is evicted at a time. */
	CHECK(flight_memory_bytes(f.ring) > MB * 3 / 4);
	CHECK(f.left_bytes > 8 * MB);
	flight_memory_free(f.ring);
}

static void the_last_records_are_kept_within_the_limit_of_bytes(void)
{
	check_bound(0);
}

static void nor_with_a_span_that_does_not_fit(void)
{
	check_bound(UINT64_MAX / 2);
}

static void times_of_a_chunk_are_those_of_its_records(void)
{
	struct feed f;
	uint64_t before = 0;
	bool rising = true;

	feed_init(&f, MB, 0);
	for (unsigned i = 0; i < 20000; i++)
		feed_one(&f, i % 7 ? 5000 + i : 0);
	for (size_t i = 0; i < flight_memory_chunks(f.ring); i++) {
		const struct record_chunk *c = flight_memory_chunk(f.ring, i);

		if (!c->first_ns)
			continue; /* one long record, which has no time */
		rising &= c->first_ns > before && c->last_ns >= c->first_ns;
		before = c->last_ns;
	}
	CHECK(rising);
	CHECK(before > 5000 + 20000 - 3);
	flight_memory_free(f.ring);
}

static void records_older_than_the_span_are_evicted(void)
{
	struct feed f;
	const struct record_chunk *oldest;

	feed_init(&f, 64 * MB, 1000000);
	for (uint64_t now = 1; now < 20000000; now += 1000) {
		feed_one(&f, now);
		flight_memory_seal(f.ring);
	}
	check_books(&f);
	oldest = flight_memory_chunk(f.ring, 0);
	/* The whole span is in memory, and little more. */
	CHECK(oldest->first_ns <= 19999001 - 1000000);
	CHECK(oldest->first_ns > 19999001 - 1100000);
	CHECK(flight_memory_bytes(f.ring) < MB);
	flight_memory_free(f.ring);
}

static uint64_t resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* With a short span, unused memory is never written: not in the first round and not in the
 * second. */
static void a_short_span_takes_little_of_much_memory(void)
{
	struct feed f;
	uint64_t before, now = 1;

	feed_init(&f, 64 * MB, 1000000);
	before = resident_bytes();
	CHECK(before > 0);
	for (int turn = 0; turn < 3; turn++) {
		uint64_t end = f.left_bytes + 50 * MB;

		for (; f.left_bytes < end; now += 1000) {
			feed_one(&f, now);
			flight_memory_seal(f.ring);
		}
		CHECK(resident_bytes() < before + 16 * MB);
		check_books(&f);
	}
	flight_memory_free(f.ring);
}

static void a_sealed_chunk_is_not_added_to(void)
{
	struct feed f;
	size_t before;

	feed_init(&f, MB, 0);
	CHECK(!flight_memory_seal(f.ring)); /* there is none */
	feed_one(&f, 1);
	CHECK(!flight_memory_seal(f.ring)); /* it is too small */
	while (flight_memory_bytes(f.ring) < MB / 256)
		feed_one(&f, 2);
	before = flight_memory_chunk(f.ring, 0)->records;
	CHECK(flight_memory_seal(f.ring));
	feed_one(&f, 3);
	CHECK_EQ(flight_memory_chunks(f.ring), 2);
	CHECK_EQ(flight_memory_chunk(f.ring, 0)->records, before);
	CHECK_EQ(flight_memory_chunk(f.ring, 1)->first_ns, 3);
	flight_memory_free(f.ring);
}

static void losses_belong_to_the_chunk_that_reports_them(void)
{
	struct feed f;
	const struct record_chunk *c;

	feed_init(&f, MB, 0);
	feed_one(&f, 1);
	flight_memory_lost(f.ring, 1, 5);
	flight_memory_lost(f.ring, 0, 2);
	flight_memory_lost(f.ring, 1, 3);
	c = flight_memory_chunk(f.ring, 0);
	CHECK_EQ(c->lost.count, 2);
	CHECK_EQ(c->lost.items[0].cpu, 1);
	CHECK_EQ(c->lost.items[0].count, 8);
	CHECK_EQ(c->lost.items[1].count, 2);
	flight_memory_free(f.ring);
}

static void too_much_memory_is_an_error_with_a_way_out(void)
{
	struct error err = {0};
	struct flight_memory *r;

	CHECK(flight_memory_new(&r, UINT64_C(1) << 60, 0, on_leave, NULL, &err) < 0);
	CHECK(strstr(err.text, "--ring") != NULL);
	CHECK(r == NULL);
}

static int list(void *ctx, const void *record, size_t size, struct error *err)
{
	char *text = ctx;
	size_t end = strlen(text);

	memcpy(text + end, record, size);
	text[end + size] = '\0';
	return 0;
}

static const char *listed(const struct evicted_records *k)
{
	static char text[4096];
	struct error err = {0};

	text[0] = '\0';
	CHECK_EQ(evicted_records_each(k, list, text, &err), 0);
	return text;
}

static void the_last_stack_of_a_thread_and_its_callers_are_kept(void)
{
	struct evicted_records k = {.bytes_max = 1000};

	evicted_records_outer(&k, 10, 1, 0, "a1 ", 3);
	evicted_records_outer(&k, 10, 2, 1, "a2 ", 3);
	evicted_records_outer(&k, 10, 3, 2, "a3 ", 3);
	evicted_records_outer(&k, 9, 4, 0, "b4 ", 3);
	CHECK_STR(listed(&k), "b4 a1 a2 a3 ");
	/* Another call at the place of 2: 2 and 3 have ended. */
	evicted_records_outer(&k, 10, 5, 1, "a5 ", 3);
	CHECK_STR(listed(&k), "b4 a1 a5 ");
	evicted_records_outer(&k, 10, 6, 0, "a6 ", 3);
	CHECK_STR(listed(&k), "b4 a6 ");
	evicted_records_forget(&k, 9);
	evicted_records_forget(&k, 77);
	CHECK_STR(listed(&k), "a6 ");
	CHECK_EQ(k.bytes, 3);
	evicted_records_forget(&k, 10);
	CHECK_EQ(k.bytes, 0);
	evicted_records_done(&k);
}

static void outer_stacks_are_bounded_and_the_rest_counted(void)
{
	struct evicted_records k = {.bytes_max = 10};

	for (uint32_t i = 1; i <= 4; i++)
		evicted_records_outer(&k, 10, i, i - 1, "xxx", 3);
	CHECK_EQ(k.bytes, 9);
	CHECK_EQ(k.dropped, 1);
	CHECK_STR(listed(&k), "xxxxxxxxx");
	/* The callers of a missing stack are not found. */
	evicted_records_outer(&k, 10, 5, 4, "yyy", 3);
	CHECK_STR(listed(&k), "yyy");
	CHECK_EQ(k.dropped, 1);
	evicted_records_done(&k);
}

static void a_cgroup_has_its_last_recorded_path(void)
{
	struct evicted_records k = {0};

	evicted_records_cgroup(&k, 7, "/old ", 5);
	evicted_records_cgroup(&k, 8, "/b ", 3);
	evicted_records_cgroup(&k, 7, "/new ", 5);
	CHECK_STR(listed(&k), "/b /new ");
	for (uint64_t i = 0; i < KEPT_NAMES; i++)
		evicted_records_cgroup(&k, 100 + i, "c", 1);
	CHECK_EQ(k.cgroups.records.count, KEPT_NAMES);
	CHECK_EQ(k.cgroups.records.items[0].id, 100);
	evicted_records_done(&k);
}

static void paths_of_cgroups_are_bounded_in_bytes(void)
{
	char path[4096];
	struct evicted_records k = {0};
	uint64_t fit = KEPT_NAME_BYTES / sizeof(path);

	memset(path, 'p', sizeof(path));
	for (uint64_t i = 0; i < fit + 10; i++)
		evicted_records_cgroup(&k, i, path, sizeof(path));
	CHECK_EQ(k.cgroups.records.count, fit);
	CHECK_EQ(k.cgroups.bytes, KEPT_NAME_BYTES);
	CHECK_EQ(k.cgroups.dropped, 10);
	CHECK_EQ(k.cgroups.records.items[0].id, 10);
	/* A new record of a cgroup replaces the older one. */
	evicted_records_cgroup(&k, 10, path, sizeof(path));
	CHECK_EQ(k.cgroups.dropped, 10);
	CHECK_EQ(vec_last(&k.cgroups.records)->id, 10);
	evicted_records_done(&k);
}

static int count_record(void *ctx, const void *record, size_t size, struct error *err)
{
	++*(size_t *)ctx;
	return 0;
}

static void names_of_descriptors_are_kept_until_their_process_exits(void)
{
	struct evicted_records k = {0};
	struct error err = {0};
	size_t count = 0;

	evicted_records_descriptor(&k, 7, 3, "a", 1);
	evicted_records_descriptor(&k, 7, 4, "b", 1);
	evicted_records_descriptor(&k, 8, 3, "c", 1);
	evicted_records_descriptor(&k, 7, 3, "dd", 2);
	CHECK_EQ(k.descriptors.records.count, 3);
	CHECK_EQ(k.descriptors.bytes, 4);
	CHECK_EQ(evicted_records_each(&k, count_record, &count, &err), 0);
	CHECK_EQ(count, 3);
	evicted_records_forget(&k, 7);
	CHECK_EQ(k.descriptors.records.count, 1);
	CHECK_EQ(k.descriptors.bytes, 1);
	evicted_records_done(&k);
}

int main(void)
{
	RUN(the_last_records_are_kept_within_the_limit_of_bytes);
	RUN(nor_with_a_span_that_does_not_fit);
	RUN(times_of_a_chunk_are_those_of_its_records);
	RUN(records_older_than_the_span_are_evicted);
	RUN(a_short_span_takes_little_of_much_memory);
	RUN(a_sealed_chunk_is_not_added_to);
	RUN(losses_belong_to_the_chunk_that_reports_them);
	RUN(too_much_memory_is_an_error_with_a_way_out);
	RUN(the_last_stack_of_a_thread_and_its_callers_are_kept);
	RUN(outer_stacks_are_bounded_and_the_rest_counted);
	RUN(a_cgroup_has_its_last_recorded_path);
	RUN(paths_of_cgroups_are_bounded_in_bytes);
	RUN(names_of_descriptors_are_kept_until_their_process_exits);
	return check_end();
}

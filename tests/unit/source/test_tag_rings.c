/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of event tags: created by the test, listed, drained, read and switched; and written by a
 * child while the test drains them.
 */
#include "check.h"
#include "fixture.h"
#include "source/perf/clock_pair.h"
#include "source/runtime/tag_rings.h"
#include "tag_rings_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static uint32_t state_of(unsigned i)
{
	uint32_t state = 99;
	int fd = open(fixture_path("12-34-0.tags"), O_RDONLY | O_CLOEXEC);

	CHECK(pread(fd, &state, sizeof(state), (off_t)(TF_STATES_AT + i * 4)) == sizeof(state));
	close(fd);
	return state;
}

static void files_are_listed(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STOP);
	tag_rings_list list = {0};
	struct error err = {0};

	tf_fill(f, 0, 0, 0, 5000, 3, 2);
	*tf_state(f, 1) = ASSAY_TAGS_OPEN;
	tf_ring(f, 1)->discarded = 7;
	tf_header(f)->discarded = 2;
	tf_put(f);
	tf_header(f)->start_ns = 900;
	fixture_write("12-34-1.tags", f->bytes, sizeof(f->bytes));
	fixture_write("12-34-1.calls", f->bytes, sizeof(f->bytes));
	memset(f->bytes, 0, 8); /* not initialised yet */
	fixture_write("13-34-0.tags", f->bytes, sizeof(f->bytes));
	CHECK_EQ(tag_rings_list_read(&list, fixture_dir, &err), 0);
	CHECK_EQ(list.count, 2);
	if (list.count == 2) {
		CHECK_EQ(list.items[0].number, 1); /* its header has an earlier begin */
		CHECK_EQ(list.items[1].file.pid, 12);
		CHECK_EQ(list.items[1].file.birth, 34);
		CHECK_EQ(list.items[1].packets, 2);
		CHECK_EQ(list.items[1].room, TF_PACKETS);
		CHECK_EQ(list.items[1].discarded, 9);
		CHECK(!list.items[1].file.running && list.items[1].capture);
		CHECK_STR(list.items[1].command, "prog -x");
	}
	tag_rings_list_done(&list);
	unlink(fixture_path("12-34-1.tags"));
	unlink(fixture_path("12-34-1.calls"));
	unlink(fixture_path("13-34-0.tags"));
	free(f);
}

/* Packets are drained in the order of their ring, at any position in the file. */
/*
 * Files of one process, one for each program that it executed. The number of a removed file is
 * reused, so the latest file is the one with the latest begin.
 */
static void the_latest_program_of_a_process_runs(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STREAM);
	tag_rings_list list = {0};
	struct error err = {0};
	const char *name[2];
	char names[2][32];
	int fd[2];

	unlink(fixture_path("12-34-0.tags"));
	for (unsigned i = 0; i < 2; i++) {
		/* With birth 0 the process may have begun at any time. */
		snprintf(names[i], sizeof(names[i]), "%d-0-%u.tags", (int)getpid(), i);
		name[i] = fixture_path(names[i]);
		tf_header(f)->first.ticks = i ? 1000 : 5000;
		tf_header(f)->start_ns = i ? 10 : 50;
		fixture_write(names[i], f->bytes, sizeof(f->bytes));
		fd[i] = open(name[i], O_RDONLY | O_CLOEXEC);
		CHECK(!flock(fd[i], LOCK_EX | LOCK_NB));
	}
	CHECK_EQ(tag_rings_list_read(&list, fixture_dir, &err), 0);
	CHECK_EQ(list.count, 2);
	if (list.count == 2) {
		CHECK_EQ(list.items[0].number, 1);
		CHECK(!list.items[0].file.running);
		CHECK_EQ(list.items[1].number, 0);
		CHECK(list.items[1].file.running);
	}
	tag_rings_list_done(&list);
	for (int i = 0; i < 2; i++) {
		close(fd[i]);
		unlink(name[i]);
	}
	free(f);
}

/*
 * The lock decides, and not /proc: this process has the id in the name (birth 0: any), and process
 * 12 does not exist here, as one in another PID namespace.
 */
static void a_lock_shows_that_the_process_runs(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STREAM);
	struct error err = {0};
	char names[2][32] = {"12-34-0.tags"};
	const char *name;
	int fd;

	snprintf(names[1], sizeof(names[1]), "%d-0-0.tags", (int)getpid());
	for (int i = 0; i < 2; i++) {
		fixture_write(names[i], f->bytes, sizeof(f->bytes));
		name = fixture_path(names[i]);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		for (int locked = 0; locked < 2; locked++) {
			tag_rings_list list = {0};

			CHECK(!locked || !flock(fd, LOCK_EX | LOCK_NB));
			CHECK_EQ(tag_rings_list_read(&list, fixture_dir, &err), 0);
			CHECK_EQ(list.count, 1);
			CHECK(list.count == 1 && list.items[0].file.running == (locked == 1));
			tag_rings_list_done(&list);
		}
		/* A reader leaves no lock. */
		CHECK(!flock(fd, LOCK_UN) && !flock(fd, LOCK_EX | LOCK_NB));
		close(fd);
		unlink(name);
	}
	free(f);
}

static void closed_packets_are_drained(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STREAM);
	struct tag_rings_packet p;
	struct tag_rings *rings;
	struct error err = {0};
	size_t length;

	tf_fill(f, 0, 0, 6, 2000, 10, 4);
	tf_fill(f, 1, 1, 0, 3000, 2, 2);
	tf_fill(f, 2, 0, 5, 1000, 5, 2);
	tf_words(f, 2)[2] = 0; /* reserved and not written */
	tf_words(f, 2)[3] = tf_word(1003, ASSAY_TAG_VOID);
	tf_fill(f, 3, 1, 1, 4000, 4, 2);
	*tf_state(f, 3) = ASSAY_TAGS_OPEN;
	rings = tf_open(f);
	tag_rings_ended(rings);
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 1);
	CHECK_EQ(p.header.sequence, 5);
	CHECK_EQ(p.header.tid, 12);
	CHECK_EQ(p.count, 3);
	CHECK_EQ(p.holes, 1);
	CHECK_EQ(p.header.end, 1004);
	CHECK_EQ(p.header.content_bits, (128 + 24) * 8);
	CHECK(!p.open && p.words[2] == tf_word(1004, 2));
	CHECK_EQ(state_of(2), ASSAY_TAGS_RETIRED); /* the hole may still be written */
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 1);
	CHECK_EQ(p.header.sequence, 6);
	CHECK_EQ(p.count, 10);
	CHECK_EQ(state_of(0), ASSAY_TAGS_FREE);
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 1);
	CHECK_EQ(p.ring, 1);
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 0);
	CHECK_EQ(state_of(3), ASSAY_TAGS_OPEN);
	/* the remaining packets, which are not freed */
	CHECK_EQ(tag_rings_next(rings, &p, &err), 1);
	CHECK(p.open && p.header.sequence == 1);
	CHECK_EQ(p.count, 4);
	CHECK_EQ(tag_rings_next(rings, &p, &err), 0);
	CHECK_EQ(state_of(3), ASSAY_TAGS_OPEN);
	CHECK_EQ(tag_rings_damaged(rings), 0);
	CHECK_STR(tag_rings_text(rings, &length), "main/2\nleaf/4\n");
	CHECK_EQ(length, 14);
	tag_rings_close(rings);
	free(f);
}

/* A signal handler interrupted the trigger and closed the packet: the event is not lost. */
static void empty_slots_are_waited_for(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STREAM);
	uint64_t word = tf_word(1004, 2);
	struct tag_rings_packet p;
	struct tag_rings *rings;
	struct error err = {0};
	int fd;

	tf_fill(f, 0, 0, 0, 1000, 5, 2);
	tf_words(f, 0)[4] = 0; /* the last slot, included in content_bits */
	tf_packet(f, 0)->end = 1003;
	tf_fill(f, 1, 0, 1, 2000, 5, 2);
	tf_fill(f, 2, 1, 0, 3000, 5, 2);
	rings = tf_open(f);
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 1);
	CHECK_EQ(p.ring, 1); /* other rings are not delayed */
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 0);
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 0);
	CHECK_EQ(state_of(0), ASSAY_TAGS_CLOSED);
	CHECK_EQ(state_of(1), ASSAY_TAGS_CLOSED);
	fd = open(fixture_path("12-34-0.tags"), O_RDWR | O_CLOEXEC);
	CHECK(pwrite(fd, &word, 8, TF_PACKETS_AT + 128 + 4 * 8) == 8);
	close(fd);
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 1);
	CHECK_EQ(p.header.sequence, 0);
	CHECK_EQ(p.count, 5);
	CHECK_EQ(p.header.end, 1004);
	CHECK_EQ(p.holes, 0);
	CHECK_EQ(state_of(0), ASSAY_TAGS_FREE);
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 1);
	CHECK_EQ(p.header.sequence, 1);
	tag_rings_close(rings);
	free(f);
}

/*
 * A program that jumps out of signal handlers leaves empty slots in many packets: they are delayed
 * together, once.
 */
static void many_empty_slots_are_waited_for_once(void)
{
	struct timespec wait = {.tv_nsec = 60000000};
	struct tf *f = tf_new(ASSAY_TAGS_STREAM);
	struct tag_rings_packet p;
	struct tag_rings *rings;
	struct error err = {0};

	for (unsigned i = 0; i < TF_PACKETS; i++) {
		tf_fill(f, i, 0, i, 1000 * (i + 1), 5, 2);
		tf_words(f, i)[3] = 0;
	}
	rings = tf_open(f);
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 0);
	CHECK_EQ(state_of(0), ASSAY_TAGS_CLOSED);
	nanosleep(&wait, NULL); /* all packets are in use, so the delay is short */
	for (unsigned i = 0; i < TF_PACKETS; i++) {
		CHECK_EQ(tag_rings_drain(rings, &p, &err), 1);
		CHECK_EQ(p.header.sequence, i);
		CHECK_EQ(p.holes, 1);
		CHECK_EQ(state_of(i), ASSAY_TAGS_RETIRED);
	}
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 0);
	wait = (struct timespec){.tv_sec = 3, .tv_nsec = 10000000};
	nanosleep(&wait, NULL);
	CHECK_EQ(tag_rings_drain(rings, &p, &err), 0);
	for (unsigned i = 0; i < TF_PACKETS; i++) /* all except a quarter are freed */
		CHECK_EQ(state_of(i), i < 3 ? ASSAY_TAGS_FREE : ASSAY_TAGS_RETIRED);
	tag_rings_close(rings);
	free(f);
}

/* The header of an open packet has no end: it ends with its last word that is not 0. */
static void open_packets_end_with_their_words(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STOP);
	struct tag_rings_packet p;
	struct tag_rings *rings;
	struct error err = {0};

	tf_fill(f, 0, 0, 0, UINT64_C(3) << 40, 6, 2);
	tf_packet(f, 0)->content_bits = tf_packet(f, 0)->end = 0;
	tf_words(f, 0)[5] = tf_words(f, 0)[3] = 0;
	*tf_state(f, 0) = ASSAY_TAGS_OPEN;
	memset(tf_packet(f, 1), 0, 128);
	*tf_state(f, 1) = ASSAY_TAGS_OPEN; /* just taken */
	rings = tf_open(f);
	CHECK_EQ(tag_rings_next(rings, &p, &err), 1);
	CHECK_EQ(p.count, 4);
	CHECK_EQ(p.holes, 1);
	CHECK_EQ(p.header.end, (UINT64_C(3) << 40) + 4);
	CHECK_EQ(tag_rings_next(rings, &p, &err), 0);
	CHECK_EQ(tag_rings_damaged(rings), 0);
	tag_rings_rewind(rings);
	CHECK_EQ(tag_rings_next(rings, &p, &err), 1);
	tag_rings_close(rings);
	free(f);
}

/* The times of all delivered events. */
static void times(struct tag_rings *rings, char *text, size_t room)
{
	struct tag_rings_packet p;
	size_t used = 0;

	tag_rings_rewind(rings);
	text[0] = '\0';
	while (tag_rings_next(rings, &p, NULL) > 0) {
		used += (size_t)snprintf(text + used, room - used, "%s%s", used ? "|" : "",
		                         p.header.flags & ASSAY_TAGS_GAP ? "gap " : "");
		for (size_t i = 0; i < p.count; i++)
			used += (size_t)snprintf(text + used, room - used, "%s%" PRIu64,
			                         i ? " " : "", p.words[i] >> ASSAY_TAGS_TAG_BITS);
		if (!p.count) /* returned for its header */
			continue;
		CHECK(p.header.begin <= p.words[0] >> ASSAY_TAGS_TAG_BITS);
		CHECK_EQ(p.header.end, p.words[p.count - 1] >> ASSAY_TAGS_TAG_BITS);
	}
}

static void events_while_off_are_left_out(void)
{
	static const struct {
		uint64_t off, on;
		const char *want;
	} cases[] = {
	        {0, 0, "10 11 12 13 14|20 21"},   {12, 0, "10 11 12"},
	        {12, 20, "10 11 12|20 21"},       {11, 13, "10 11|gap 13 14|20 21"},
	        {0, 13, "gap 13 14|20 21"},       {30, 0, "10 11 12 13 14|20 21"},
	        {30, 11, "10 11 12 13 14|20 21"}, /* an empty off time */
	        {12, 21, "10 11 12|gap 21"},
	};
	struct tag_rings *rings;
	char text[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tf *f = tf_new(ASSAY_TAGS_STOP);

		tf_fill(f, 0, 0, 0, 10, 5, 2);
		tf_fill(f, 1, 0, 1, 20, 2, 2);
		tf_header(f)->off_count = cases[i].off || cases[i].on;
		tf_header(f)->offs[0] = (struct assay_tags_off){cases[i].off, cases[i].on};
		rings = tf_open(f);
		times(rings, text, sizeof(text));
		if (text[strlen(text) - 1] == '|')
			text[strlen(text) - 1] = '\0';
		CHECK_STR(text, cases[i].want);
		tag_rings_close(rings);
		free(f);
	}
}

/*
 * Capture is switched off and on three times while a thread fills one packet: the events in off
 * times never count.
 */
static void each_time_off_is_remembered(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STOP);
	struct tag_rings_file file = {.file.path = strdup(tf_put(f))};
	struct tag_rings *rings = tf_open(f);
	uint64_t seen[7][2], sum = 0, want = 0;
	struct tag_rings_packet p;
	struct error err = {0};
	int parts = 0;

	for (int i = 0; i < 7; i++) {
		seen[i][0] = clock_pair_ticks();
		seen[i][1] = clock_pair_ticks();
		CHECK_EQ(tag_rings_capture(&file, i % 2, &err), 0);
	}
	tf_fill(f, 0, 0, 0, seen[0][0], 0, 2);
	for (unsigned i = 0; i < 7; i++) {
		tf_words(f, 0)[2 * i] = tf_word(seen[i][0], 2);
		tf_words(f, 0)[2 * i + 1] = tf_word(seen[i][1], 3);
		/* Events before the first switch (off), and in every other interval after it. */
		want += i % 2 ? 0 : seen[i][0] + seen[i][1];
	}
	tf_packet(f, 0)->content_bits = (128 + 14 * 8) * 8;
	{
		int fd = open(file.file.path, O_RDWR | O_CLOEXEC);

		CHECK(pwrite(fd, tf_packet(f, 0), TF_BYTES, TF_PACKETS_AT) == TF_BYTES);
		CHECK(pwrite(fd, tf_state(f, 0), 4, TF_STATES_AT) == 4);
		close(fd);
	}
	CHECK_EQ(tag_rings_look(rings, &err), 0);
	while (tag_rings_next(rings, &p, &err) > 0) {
		uint64_t time = p.header.begin;

		CHECK_EQ(p.count, 2);
		CHECK_EQ(p.header.flags, parts++ ? ASSAY_TAGS_GAP : 0);
		for (size_t i = 0; i < p.count; i++) {
			time += ((p.words[i] >> ASSAY_TAGS_TAG_BITS) - time) &
			        ASSAY_TAGS_CLOCK_MASK;
			sum += time;
		}
		CHECK_EQ(time, p.header.end);
	}
	CHECK_EQ(parts, 4);
	CHECK_EQ(sum, want);
	tag_rings_close(rings);
	free(file.file.path);
	free(f);
}

static void the_switch_is_written(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STOP);
	uint64_t before = clock_pair_ticks(), off;
	struct tag_rings *rings = tf_open(f);
	struct tag_rings_file file = {.file.path = strdup(fixture_path("12-34-0.tags"))};
	struct error err = {0};

	CHECK_EQ(tag_rings_capture(&file, true, &err), 0); /* it is already on */
	CHECK_EQ(tag_rings_look(rings, &err), 0);
	CHECK_EQ(tag_rings_header(rings)->off_count, 0);
	CHECK_EQ(tag_rings_capture(&file, false, &err), 0);
	CHECK_EQ(tag_rings_look(rings, &err), 0);
	CHECK_EQ(tag_rings_header(rings)->off_count, 1);
	CHECK_EQ(tag_rings_header(rings)->offs[0].on, 0);
	off = tag_rings_header(rings)->offs[0].off;
	CHECK(off >= before && off <= clock_pair_ticks());
	CHECK_EQ(tag_rings_header(rings)->capture, 0);
	CHECK_EQ(tag_rings_capture(&file, true, &err), 0);
	CHECK_EQ(tag_rings_look(rings, &err), 0);
	CHECK_EQ(tag_rings_header(rings)->off_count, 1);
	CHECK(tag_rings_header(rings)->offs[0].on > off);
	CHECK_EQ(tag_rings_header(rings)->offs[0].off, off);
	CHECK_EQ(tag_rings_header(rings)->capture, 1);
	CHECK_EQ(tag_rings_remove(&file, &err), 0);
	CHECK_EQ(tag_rings_capture(&file, true, &err), -ENOENT);
	CHECK(strstr(err.text, file.file.path) != NULL);
	free(file.file.path);
	tag_rings_close(rings);
	free(f);
}

/* ---- a process that writes -------------------------------------------------- */

#define ROUNDS 3000
#define WORDS 100

/* Two rings use any free packets; the test knows the number of events in them. */
static void writer(void)
{
	int fd = open(fixture_path("12-34-0.tags"), O_RDWR | O_CLOEXEC);
	struct tf *f = mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	for (unsigned n = 0; n < 2 * ROUNDS; n++) {
		unsigned ring = n % 2, i = 0;

		while (__atomic_load_n(tf_state(f, i), __ATOMIC_ACQUIRE) != ASSAY_TAGS_FREE) {
			i = (i + 1) % TF_PACKETS;
			if (!i)
				sched_yield();
		}
		__atomic_store_n(tf_state(f, i), ASSAY_TAGS_OPEN, __ATOMIC_SEQ_CST);
		memset(tf_packet(f, i), 0, TF_BYTES);
		tf_packet(f, i)->magic = ASSAY_CTF_MAGIC;
		tf_packet(f, i)->begin = n / 2 * WORDS;
		tf_packet(f, i)->sequence = n / 2;
		tf_packet(f, i)->reserved[0] = ring;
		for (unsigned w = 0; w < WORDS; w++)
			tf_words(f, i)[w] = tf_word(n / 2 * WORDS + w, 2 + ring);
		tf_packet(f, i)->end = n / 2 * WORDS + WORDS - 1;
		tf_packet(f, i)->content_bits = (128 + WORDS * 8) * 8;
		__atomic_store_n(tf_state(f, i), ASSAY_TAGS_CLOSED, __ATOMIC_RELEASE);
	}
	_exit(0);
}

static void nothing_is_lost_while_a_process_writes(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STREAM);
	struct tag_rings *rings = tf_open(f);
	uint64_t next[2] = {0}, wrong = 0;
	struct tag_rings_packet p;
	struct error err = {0};
	int status = -1, rc;
	bool ended = false;
	pid_t child = fork();

	if (!child)
		writer();
	for (;;) {
		rc = tag_rings_drain(rings, &p, &err);
		if (rc < 0 || (!rc && ended))
			break;
		if (!rc) {
			ended = waitpid(child, &status, WNOHANG) == child;
			sched_yield();
			continue;
		}
		wrong += p.count != WORDS || p.holes || p.open;
		for (size_t i = 0; i < p.count; i++)
			wrong += p.words[i] != tf_word(next[p.ring & 1]++, 2 + p.ring);
	}
	CHECK_EQ(rc, 0);
	CHECK_EQ(status, 0);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(next[0], ROUNDS * WORDS);
	CHECK_EQ(next[1], ROUNDS * WORDS);
	CHECK_EQ(tag_rings_damaged(rings), 0);
	tag_rings_close(rings);
	free(f);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(files_are_listed);
	RUN(the_latest_program_of_a_process_runs);
	RUN(a_lock_shows_that_the_process_runs);
	RUN(closed_packets_are_drained);
	RUN(empty_slots_are_waited_for);
	RUN(many_empty_slots_are_waited_for_once);
	RUN(open_packets_end_with_their_words);
	RUN(events_while_off_are_left_out);
	RUN(each_time_off_is_remembered);
	RUN(the_switch_is_written);
	RUN(nothing_is_lost_while_a_process_writes);
	fixture_end();
	return check_end();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges switches into events: hand-made ones, and random ones of a simulated thread whose switch
 * times have small errors. No event may be in the time in which the thread is switched out.
 */
#include "check.h"
#include "launch/tags/tags_merge.h"

#include <inttypes.h>
#include <stdlib.h>

#define TURN (UINT64_C(1) << ASSAY_TAGS_CLOCK_BITS)

/* Events at these times, ended by 0. */
struct made {
	uint64_t words[64];
	size_t count;
};

static struct made made(const uint64_t *times)
{
	struct made m = {.count = 0};

	for (; *times; times++)
		m.words[m.count++] = *times << ASSAY_TAGS_TAG_BITS | 2;
	return m;
}

/* "100 o110 i120 130": o blocked, p preempted, i in; a piece begins with "|". */
static const char *text_of(const struct tags_merged *m)
{
	static char text[1024];
	uint64_t time = 0;
	size_t used = 0, piece = 0;

	text[0] = '\0';
	for (size_t i = 0; i < m->words.count; i++) {
		uint64_t word = m->words.items[i];
		uint32_t tag = (uint32_t)(word & ASSAY_TAGS_TAG_MASK);

		if (piece < m->pieces.count && m->pieces.items[piece].first == i) {
			time = m->pieces.items[piece++].begin;
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s",
			                         i ? "|" : "");
		} else if (i) {
			used += (size_t)snprintf(text + used, sizeof(text) - used, " ");
		}
		time += ((word >> ASSAY_TAGS_TAG_BITS) - time) & ASSAY_TAGS_CLOCK_MASK;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIu64,
		                         tag == ASSAY_TAG_SWITCH_BLOCKED     ? "o"
		                         : tag == ASSAY_TAG_SWITCH_PREEMPTED ? "p"
		                         : tag == ASSAY_TAG_SWITCH_IN        ? "i"
		                                                             : "",
		                         time);
	}
	return text;
}

#define OUT(t)                                                                                     \
	{                                                                                          \
		t, ASSAY_TAG_SWITCH_BLOCKED                                                        \
	}
#define PRE(t)                                                                                     \
	{                                                                                          \
		t, ASSAY_TAG_SWITCH_PREEMPTED                                                      \
	}
#define IN(t)                                                                                      \
	{                                                                                          \
		t, ASSAY_TAG_SWITCH_IN                                                             \
	}
#define TIMES(...)                                                                                 \
	(const uint64_t[])                                                                         \
	{                                                                                          \
		__VA_ARGS__, 0                                                                     \
	}
#define SWITCHES(...)                                                                              \
	(const struct tags_switch[])                                                               \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			0, 0                                                                       \
		}                                                                                  \
	}

static void case_is(const uint64_t *events, const struct tags_switch *switches, bool whole,
                    size_t taken, const char *want)
{
	struct made e = made(events);
	struct tags_merged merged = {0};
	struct tags_merge m = {.begin = e.count ? events[0] : 500,
	                       .words = e.words,
	                       .count = e.count,
	                       .switches = switches,
	                       .near = 5};

	while (switches[m.switch_count].ticks)
		m.switch_count++;
	CHECK_EQ(tags_merge(&m, whole, &merged), taken);
	CHECK_STR(text_of(&merged), want);
	tags_merge_done(&merged);
}

static void switches_are_in_time_order(void)
{
	case_is(TIMES(100, 130), SWITCHES(OUT(110), IN(120)), false, 2, "100 o110 i120 130");
	case_is(TIMES(100, 130), SWITCHES(PRE(110), IN(120), OUT(122), IN(124)), false, 4,
	        "100 p110 i120 o122 i124 130");
	case_is(TIMES(100, 130), SWITCHES(OUT(90), IN(95)), false, 2, "o90 i95 100 130");
	/* Switches after the last event belong to the next packet, or to the end. */
	case_is(TIMES(100, 130), SWITCHES(OUT(140), IN(150)), false, 0, "100 130");
	case_is(TIMES(100, 130), SWITCHES(OUT(140), IN(150)), true, 2, "100 130 o140 i150");
	case_is(TIMES(100, 130), SWITCHES(OUT(131)), true, 1, "100 130 o131");
	/* No events at all. */
	case_is((const uint64_t[]){0}, SWITCHES(OUT(140)), false, 0, "");
	case_is((const uint64_t[]){0}, SWITCHES(OUT(140)), true, 1, "o140");
}

static void switches_give_way_to_own_events(void)
{
	/* The switch out is 3 too early, the switch in 2 too late. */
	case_is(TIMES(100, 113, 118, 130), SWITCHES(OUT(110), IN(120)), false, 2,
	        "100 113 o113 i118 118 130");
	case_is(TIMES(100, 111, 112, 130), SWITCHES(OUT(110), IN(120)), false, 2,
	        "100 111 112 o112 i120 130");
	/* 113 is the last event of a packet, and the switch in is not known yet. */
	case_is(TIMES(100, 113), SWITCHES(OUT(110)), false, 1, "100 113 o113");
	/* 118, the last event of a packet, is shortly before the reported switch in. */
	case_is(TIMES(100, 118), SWITCHES(OUT(110), IN(120)), false, 2, "100 o110 i118 118");
	case_is(TIMES(118), SWITCHES(IN(120)), false, 1, "i118 118");
	/* Near no switch: a switch was lost. */
	case_is(TIMES(100, 150, 200), SWITCHES(OUT(110), IN(190)), false, 2,
	        "100 o110 150 i190 200");
	/* Two switches out in a row: the switches in were lost. */
	case_is(TIMES(100, 150), SWITCHES(OUT(110), OUT(120), IN(130), IN(140)), false, 4,
	        "100 o110 o120 i130 i140 150");
}

static void long_waits_begin_a_packet(void)
{
	char want[128];

	snprintf(want, sizeof(want), "100 o110|i%" PRIu64 " o%" PRIu64, 3 * TURN, 3 * TURN + 5);
	case_is(TIMES(100), SWITCHES(OUT(110), IN(3 * TURN), OUT(3 * TURN + 5)), true, 3, want);
}

static void no_record_is_delivered_before_the_floor(void)
{
	struct made e = made(TIMES(95, 130));
	struct tags_switch s[] = {OUT(90), IN(92)};
	struct tags_merged merged = {0};
	struct tags_merge m = {.begin = 95,
	                       .floor = 100,
	                       .words = e.words,
	                       .count = e.count,
	                       .switches = s,
	                       .switch_count = 2,
	                       .near = 5};

	CHECK_EQ(tags_merge(&m, false, &merged), 2);
	CHECK_STR(text_of(&merged), "o100 i100 100 130");
	CHECK_EQ(merged.end, 130);
	tags_merge_done(&merged);
}

/* A thread that runs and waits; its events; the times of the kernel, with errors of up to 4. */
static void own_events_are_never_in_a_wait(void)
{
	uint64_t seed = 88172645463325252u;

	for (int round = 0; round < 2000; round++) {
		struct made e = {.count = 0};
		struct tags_switch s[64];
		struct tags_merged merged = {0};
		struct tags_merge m = {.words = e.words, .switches = s, .near = 5};
		uint64_t now = 1000;
		size_t events = 0;
		bool out = false;

		while (e.count < 40 && m.switch_count + 2 < 60) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			now += seed % 7;
			if (seed >> 60 > 5 || !e.count) {
				if (!e.count)
					m.begin = now;
				e.words[e.count++] = now << ASSAY_TAGS_TAG_BITS | 2;
				continue;
			}
			/* Waits are longer than the errors of the clocks. */
			now += 1;
			s[m.switch_count++] = (struct tags_switch){now + (seed >> 8) % 9 - 4,
			                                           ASSAY_TAG_SWITCH_BLOCKED};
			now += 10 + (seed >> 16) % 30;
			s[m.switch_count++] = (struct tags_switch){now + (seed >> 24) % 9 - 4,
			                                           ASSAY_TAG_SWITCH_IN};
			now += 1;
			/* They come in order. */
			if (m.switch_count > 2 &&
			    s[m.switch_count - 2].ticks < s[m.switch_count - 3].ticks)
				s[m.switch_count - 2].ticks = s[m.switch_count - 3].ticks;
		}
		m.count = e.count;
		tags_merge(&m, true, &merged);
		CHECK_EQ(merged.words.count, e.count + m.switch_count);
		for (size_t i = 0; i < merged.words.count; i++) {
			uint32_t tag = (uint32_t)(merged.words.items[i] & ASSAY_TAGS_TAG_MASK);

			CHECK(!i || merged.words.items[i] >> ASSAY_TAGS_TAG_BITS >=
			                    merged.words.items[i - 1] >> ASSAY_TAGS_TAG_BITS);
			if (tag == 2) {
				CHECK(!out);
				CHECK_EQ(merged.words.items[i], e.words[events]);
				events++;
			} else {
				CHECK(out == (tag == ASSAY_TAG_SWITCH_IN));
				out = !out;
			}
		}
		CHECK_EQ(events, e.count);
		tags_merge_done(&merged);
	}
}

/*
 * The words of a packet are copied at once if their clock does not wrap. The result has to be the
 * same if it wraps: `wraps` shifts all times, so that the clock wraps between 150 and 400.
 */
static void words_are_copied_as_they_are(void)
{
	const uint64_t wraps = TURN - 300, far = TURN / 2;
	const uint64_t times[] = {100, 100, 150, 400, 400 + far, 401 + far, 402 + far};
	const size_t count = sizeof(times) / sizeof(*times);
	struct tags_merged merged[2] = {0};
	uint64_t words[8], shift = 0;

	for (int i = 0; i < 2; i++, shift = wraps) {
		const struct tags_switch s = {140 + shift, ASSAY_TAG_SWITCH_IN};
		struct tags_merge m = {.begin = 100 + shift,
		                       .words = words,
		                       .count = count,
		                       .switches = &s,
		                       .switch_count = 1};

		for (size_t at = 0; at < count; at++)
			words[at] = (times[at] + shift) << ASSAY_TAGS_TAG_BITS | 2;
		CHECK_EQ(tags_merge(&m, false, &merged[i]), 1);
		CHECK_EQ(merged[i].words.count, count + 1);
		CHECK_EQ(merged[i].pieces.count, 2);
		CHECK_EQ(merged[i].end, 402 + far + shift);
	}
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(merged[0].pieces.items[i].first, i ? 5 : 0);
		CHECK_EQ(merged[1].pieces.items[i].first, i ? 5 : 0);
		CHECK_EQ(merged[0].pieces.items[i].begin + wraps, merged[1].pieces.items[i].begin);
	}
	for (size_t i = 0; i <= count; i++)
		CHECK_EQ(merged[0].words.items[i] + (wraps << ASSAY_TAGS_TAG_BITS),
		         merged[1].words.items[i]);
	tags_merge_done(&merged[0]);
	tags_merge_done(&merged[1]);
}

int main(void)
{
	RUN(switches_are_in_time_order);
	RUN(switches_give_way_to_own_events);
	RUN(long_waits_begin_a_packet);
	RUN(no_record_is_delivered_before_the_floor);
	RUN(words_are_copied_as_they_are);
	RUN(own_events_are_never_in_a_wait);
	return check_end();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core of the capture device, compiled freestanding, on a port of this test. The test moves the
 * clock, so the time of every event is known.
 */
#include "../unit/lib/check.h"
#include "tags/device.h"

#include "assay_port.h"

#include <stdlib.h>

void assay_tags_event(unsigned tag);

uint64_t embedded_now = 1000;
struct calls_thread *embedded_self;
void (*embedded_interrupt)(void);

#define PACKETS 4
/*
 * The number of events that fit; the second word contains the time that it took to begin the
 * packet.
 */
#define ROOM ((ASSAY_TAGS_PACKET - ASSAY_TAGS_SLACK - sizeof(struct assay_tags_packet)) / 8)
#define WORDS (ROOM - 1)

static struct assay_tags_header header;
static struct assay_tags_ring rings[ASSAY_TAGS_RINGS];
static uint32_t states[PACKETS];
static _Alignas(4096) char packets[PACKETS * ASSAY_TAGS_PACKET];
static _Alignas(4096) char pages[8][4096];
static unsigned pages_used, page_limit = 8;
static bool no_file, no_room;
static int32_t thread_id = 7;
static unsigned pauses_left; /* until the drainer frees packet 1; 0: it has left */

void port_memory_free(void *at, size_t bytes)
{
	memset(at, 0, bytes);
}

uint64_t port_signals_hold(void)
{
	return 0;
}

void port_signals_release(uint64_t before)
{
}

int32_t port_thread_id(void)
{
	return thread_id;
}

struct tags_thread *tags_port_thread(void)
{
	return pages_used < page_limit ? (struct tags_thread *)pages[pages_used++] : NULL;
}

bool tags_port_begin(void)
{
	return !no_file;
}

bool tags_port_failed(void)
{
	return no_file;
}

bool tags_port_populate(char *at, uint64_t bytes)
{
	return !no_room;
}

void tags_port_names(char thread[16], char process[16])
{
	memcpy(thread, "worker", 7);
	memcpy(process, "program", 8);
}

bool tags_port_wait(void)
{
	if (!pauses_left)
		return false;
	embedded_now += 1000;
	if (!--pauses_left)
		states[1] = ASSAY_TAGS_FREE;
	return true;
}

void tags_port_turned(void)
{
}

/* Starts a new process in this mode. */
static void begin(uint32_t mode)
{
	memset(&header, 0, sizeof(header));
	memset(rings, 0, sizeof(rings));
	memset(states, 0, sizeof(states));
	memset(packets, 0, sizeof(packets));
	memset(pages, 0, sizeof(pages));
	pages_used = 0;
	thread_id = 7;
	no_file = no_room = false;
	embedded_now = 1000;
	header.mode = mode;
	header.capture = 1;
	header.packet_count = PACKETS;
	header.pid = 5;
	tags_device = (struct tags_device){.base = (char *)&header,
	                                   .header = &header,
	                                   .rings = rings,
	                                   .states = states,
	                                   .packets = packets};
	assay_tags_self = &tags_unborn;
}

static struct assay_tags_packet *packet(unsigned i)
{
	return (struct assay_tags_packet *)(packets + i * ASSAY_TAGS_PACKET);
}

static uint64_t *slot_of(unsigned i, unsigned n)
{
	return (uint64_t *)(packet(i) + 1) + n + (n > 0);
}

static uint64_t word(unsigned i, unsigned n)
{
	return *slot_of(i, n);
}

static uint32_t tag_of(uint64_t w)
{
	return w & ASSAY_TAGS_TAG_MASK;
}

static uint64_t clock_of(uint64_t w)
{
	return w >> ASSAY_TAGS_TAG_BITS;
}

static void events(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		embedded_now += 10;
		assay_tags_event(2 + i % 2);
	}
}

static void an_event_has_a_clock_and_a_tag(void)
{
	begin(ASSAY_TAGS_STOP);
	embedded_now = 0x123456789abcull; /* turn 0x12, and the rest */
	assay_tags_event(500);
	embedded_now += 44;
	assay_tags_event(501);
	CHECK_EQ(word(0, 0), 0x3456789abcull << 24 | 500);
	CHECK_EQ(word(0, 1), (0x3456789abcull + 44) << 24 | 501);
	CHECK_EQ(word(0, 2), 0);
	CHECK_EQ(*(slot_of(0, 0) + 1), (0x3456789abcull << 24 | ASSAY_TAG_OWN));
	CHECK_EQ(packet(0)->magic, ASSAY_CTF_MAGIC);
	CHECK_EQ(packet(0)->begin, 0x123456789abcull);
	CHECK_EQ(packet(0)->content_bits, 0);
	CHECK_EQ(packet(0)->tid, 7);
	CHECK_EQ(packet(0)->pid, 5);
	CHECK_EQ(packet(0)->flags, 0);
	CHECK_STR(packet(0)->thread, "worker");
	CHECK_STR(packet(0)->process, "program");
	CHECK_EQ(states[0], ASSAY_TAGS_OPEN);
	CHECK_EQ(rings[0].packet, 1);
}

static void full_packets_are_closed_and_followed(void)
{
	begin(ASSAY_TAGS_STOP);
	events(WORDS + 3);
	CHECK_EQ(states[0], ASSAY_TAGS_CLOSED);
	CHECK_EQ(states[1], ASSAY_TAGS_OPEN);
	CHECK_EQ(packet(0)->content_bits / 8, sizeof(struct assay_tags_packet) + ROOM * 8);
	CHECK_EQ(packet(0)->end, 1000 + 10 * WORDS);
	CHECK_EQ(packet(1)->begin, 1000 + 10 * (WORDS + 1));
	CHECK_EQ(packet(1)->sequence, 1);
	CHECK(word(1, 2) && !word(1, 3));
	CHECK_EQ(rings[0].sequence, 2);
}

static void a_full_device_counts_what_it_discards(void)
{
	begin(ASSAY_TAGS_STOP);
	events(PACKETS * WORDS + 17);
	CHECK_EQ(rings[0].discarded, 17);
	CHECK(header.flags & ASSAY_TAGS_FULL);
	for (unsigned i = 0; i < PACKETS; i++)
		CHECK_EQ(states[i], ASSAY_TAGS_CLOSED);
	events(5);
	CHECK_EQ(rings[0].discarded, 22);
}

static void a_flight_recorder_keeps_the_newest(void)
{
	uint64_t last;

	begin(ASSAY_TAGS_WRAP);
	events((PACKETS + 2) * WORDS + 5);
	CHECK_EQ(rings[0].overwritten, 3);
	CHECK_EQ(rings[0].discarded, 0);
	last = word(2, 4);
	CHECK_EQ(clock_of(last), embedded_now);
	CHECK_EQ(word(2, 5), 0); /* cleared of the events of its previous use */
	CHECK_EQ(packet(3)->sequence, 3);
	CHECK_EQ(packet(0)->sequence, 4);
	CHECK_EQ(packet(2)->sequence, 6);
}

/*
 * A handler may have interrupted the trigger of a slot. If the slot is old, a jump left the
 * trigger.
 */
static void a_flight_recorder_leaves_empty_slots_for_a_while(void)
{
	begin(ASSAY_TAGS_WRAP);
	events(10);
	assay_tags_self->at += 8;
	events((PACKETS + 1) * WORDS);
	CHECK_EQ(packet(0)->sequence, 0);
	CHECK_EQ(word(0, 10), 0);
	embedded_now += 20000000000ull;
	events(PACKETS * WORDS);
	CHECK(packet(0)->sequence > 0 && word(0, 10));
	CHECK_EQ(rings[0].discarded, 0);
}

static void drained_packets_are_used_again(void)
{
	begin(ASSAY_TAGS_STREAM);
	events(WORDS * 2 + 1);
	CHECK_EQ(states[2], ASSAY_TAGS_OPEN);
	states[0] = ASSAY_TAGS_FREE;
	events(WORDS);
	CHECK_EQ(states[2], ASSAY_TAGS_CLOSED);
	CHECK_EQ(states[0], ASSAY_TAGS_OPEN);
	CHECK_EQ(packet(0)->sequence, 3);
	events(2 * WORDS - 1); /* the rest of it and one more */
	CHECK_EQ(rings[0].discarded, 0);
	events(7);
	CHECK_EQ(rings[0].discarded, 7);
	states[1] = ASSAY_TAGS_FREE;
	embedded_now += 100000; /* it tries again after some time */
	events(1);
	CHECK_EQ(rings[0].discarded, 7);
	CHECK_EQ(packet(1)->discarded, 7);
	CHECK_EQ(packet(1)->flags, ASSAY_TAGS_GAP);
}

static void a_thread_waits_for_a_free_packet(void)
{
	begin(ASSAY_TAGS_STREAM);
	header.flags = ASSAY_TAGS_WAIT;
	pauses_left = 5;
	events(PACKETS * WORDS + 1);
	CHECK_EQ(rings[0].discarded, 0);
	CHECK_EQ(rings[0].waits, 1);
	CHECK_EQ(rings[0].waited, 5000);
	CHECK_EQ(packet(1)->sequence, PACKETS);
	CHECK_EQ(packet(1)->flags, 0);
	/* The pause is the device's own time: from the event's own clock to ASSAY_TAG_OWN. */
	CHECK_EQ(clock_of(word(1, 0)), 1000 + 10 * (PACKETS * WORDS + 1));
	CHECK_EQ(*(slot_of(1, 0) + 1),
	         (clock_of(word(1, 0)) + 5000) << ASSAY_TAGS_TAG_BITS | ASSAY_TAG_OWN);
	events(WORDS - 1);
	CHECK_EQ(rings[0].discarded, 0);
	events(7); /* the drainer has left */
	CHECK_EQ(rings[0].discarded, 7);
	CHECK_EQ(rings[0].waits, 1);
}

static void a_thread_does_not_wait_while_capture_is_off(void)
{
	begin(ASSAY_TAGS_STREAM);
	header.flags = ASSAY_TAGS_WAIT;
	pauses_left = 5;
	events(PACKETS * WORDS);
	header.capture = 0;
	events(3);
	CHECK_EQ(pauses_left, 5);
	CHECK_EQ(rings[0].waits, 0);
	pauses_left = 0;
}

static void retired_packets_are_not_used_again(void)
{
	begin(ASSAY_TAGS_STREAM);
	events(WORDS * 2 + 1);
	states[0] = ASSAY_TAGS_RETIRED;
	states[1] = ASSAY_TAGS_FREE;
	events(WORDS);
	CHECK_EQ(states[0], ASSAY_TAGS_RETIRED);
	CHECK_EQ(states[1], ASSAY_TAGS_OPEN);
}

static void a_turn_of_the_clock_begins_a_packet(void)
{
	begin(ASSAY_TAGS_STOP);
	events(3);
	embedded_now += 5ull << 40; /* whole wraps of the clock, which its 40 bits cannot show */
	assay_tags_event(9);
	CHECK_EQ(states[0], ASSAY_TAGS_CLOSED);
	CHECK_EQ(packet(0)->content_bits / 8, sizeof(struct assay_tags_packet) + 5 * 8);
	CHECK_EQ(packet(1)->begin, embedded_now);
	CHECK_EQ(tag_of(word(1, 0)), 9);
	CHECK_EQ(word(0, 3), ASSAY_TAG_VOID | clock_of(word(0, 2)) << 24);
}

static void handler_before_reservation(void)
{
	embedded_now += 1000;
	assay_tags_event(20);
	assay_tags_event(21);
	embedded_now -= 1000; /* the interrupted trigger read its clock before that */
}

static void a_signal_never_puts_time_back(void)
{
	begin(ASSAY_TAGS_STOP);
	assay_tags_event(2);
	embedded_interrupt = handler_before_reservation;
	assay_tags_event(4);
	embedded_now += 2000;
	assay_tags_event(5);
	CHECK_EQ(tag_of(word(0, 1)), 20);
	CHECK_EQ(tag_of(word(0, 2)), 21);
	CHECK_EQ(tag_of(word(0, 3)), 4);
	CHECK_EQ(clock_of(word(0, 3)), clock_of(word(0, 2)));
	CHECK_EQ(clock_of(word(0, 4)), 3000);
}

static void handler_through_a_packets_end(void)
{
	embedded_now += 1000;
	for (unsigned i = 0; i < WORDS; i++)
		assay_tags_event(20 + i % 2);
	embedded_now -= 1000;
}

static void a_handler_may_fill_packets(void)
{
	unsigned count = 0;

	begin(ASSAY_TAGS_STOP);
	events(10);
	embedded_interrupt = handler_through_a_packets_end;
	assay_tags_event(4);
	CHECK_EQ(states[0], ASSAY_TAGS_CLOSED);
	for (unsigned i = 0; i < WORDS; i++)
		count += tag_of(word(1, i)) == 4;
	CHECK_EQ(count, 1);
	for (unsigned i = 1; i < WORDS && word(1, i); i++)
		CHECK(word(1, i) >> 24 >= word(1, i - 1) >> 24);
}

static void a_slot_of_a_packet_that_went_is_void(void)
{
	begin(ASSAY_TAGS_STOP);
	events(10);
	/*
	 * The trigger reserved a slot; a handler then closed the packet; after that the trigger
	 * continues here.
	 */
	assay_tags_self->at += 8;
	events(WORDS);
	CHECK_EQ(word(0, 10), 0);
	tags_slow(4, (uint64_t)(uintptr_t)slot_of(0, 10));
	CHECK_EQ(tag_of(word(0, 10)), ASSAY_TAG_VOID);
	CHECK_EQ(clock_of(word(0, 10)), clock_of(word(0, 9)));
	CHECK_EQ(tag_of(word(1, 11)), 4);
}

/*
 * A trigger has reserved the last slot and is interrupted before it writes the event: it may still
 * write it.
 */
static void a_closed_packet_keeps_its_last_empty_slot(void)
{
	begin(ASSAY_TAGS_STREAM);
	events(WORDS - 1);
	assay_tags_self->at += 8;
	events(1);
	CHECK_EQ(states[0], ASSAY_TAGS_CLOSED);
	CHECK_EQ(word(0, WORDS - 1), 0);
	CHECK_EQ(packet(0)->content_bits / 8, sizeof(struct assay_tags_packet) + ROOM * 8);
	CHECK_EQ(packet(0)->end, clock_of(word(0, WORDS - 2)));
}

static uint64_t offset_in_room(uint64_t slot)
{
	return slot - ASSAY_TAGS_BIAS - assay_tags_self->base;
}

/*
 * A trigger of a thread without a packet reserved a slot in the empty room, and a handler opened a
 * packet before the trigger checked: the trigger must find that its slot is not in the packet.
 */
static void a_slot_of_no_packet_is_in_no_room(void)
{
	begin(ASSAY_TAGS_STOP);
	events(1);
	for (uint64_t slot = 0; slot < 8000; slot += 8)
		CHECK(offset_in_room(slot) >= ASSAY_TAGS_ROOM);
	CHECK(offset_in_room((uint64_t)(uintptr_t)slot_of(0, 0)) == 0);
	CHECK(offset_in_room((uint64_t)(uintptr_t)packets + ASSAY_TAGS_PACKET) >= ASSAY_TAGS_ROOM);
	embedded_now += 10;
	tags_slow(4, 8);
	CHECK_EQ(tag_of(word(0, 1)), 4);
	memset(assay_tags_self, 0, sizeof(*assay_tags_self)); /* a fork's child */
	CHECK(offset_in_room(0) >= ASSAY_TAGS_ROOM);
	CHECK(offset_in_room(800) >= ASSAY_TAGS_ROOM);
}

static void off_records_nothing_and_on_records_the_gap(void)
{
	begin(ASSAY_TAGS_STOP);
	events(2);
	header.capture = 0;
	events(WORDS + 50); /* the packet's end ends it */
	CHECK_EQ(states[0], ASSAY_TAGS_CLOSED);
	CHECK_EQ(header.next, 1);
	CHECK_EQ(rings[0].discarded, 0);
	header.capture = 1;
	events(1);
	CHECK_EQ(packet(1)->flags, ASSAY_TAGS_GAP);
	CHECK_EQ(packet(1)->discarded, 0);
}

static void a_forks_child_begins_with_zero_counts(void)
{
	begin(ASSAY_TAGS_STOP);
	events(4);
	memset(pages, 0, sizeof(pages)); /* as the kernel clears the page in a child */
	memset(rings, 0, sizeof(rings));
	header.pid = 6;
	thread_id = 6;
	states[0] = ASSAY_TAGS_FREE;
	header.next = 0;
	events(1);
	CHECK_EQ(packet(0)->flags, ASSAY_TAGS_FORKED);
	CHECK_EQ(packet(0)->pid, 6);
	CHECK_EQ(pages_used, 1);
	CHECK(word(0, 0) && !word(0, 1));
}

static void a_ring_continues_with_the_next_thread(void)
{
	begin(ASSAY_TAGS_STOP);
	events(3);
	tags_thread_end();
	CHECK_EQ(rings[0].tid, 0);
	CHECK_EQ(states[0], ASSAY_TAGS_CLOSED);
	thread_id = 8;
	events(1);
	CHECK_EQ(rings[0].tid, 8);
	CHECK_EQ(packet(1)->tid, 8);
	CHECK_EQ(packet(1)->sequence, 1);
	CHECK_EQ(header.ring_count, 1);
}

static void threads_without_a_ring_are_counted(void)
{
	begin(ASSAY_TAGS_STOP);
	for (unsigned i = 0; i < ASSAY_TAGS_RINGS; i++)
		rings[i].tid = 100 + (int32_t)i;
	events(6);
	CHECK_EQ(header.discarded, 6);
	CHECK(header.flags & ASSAY_TAGS_NO_RINGS);
	begin(ASSAY_TAGS_STOP);
	page_limit = 0;
	events(2);
	CHECK_EQ(header.discarded, 2);
	CHECK_EQ(rings[0].tid, 0);
	page_limit = 8;
}

static void a_full_disk_is_reported_to_the_caller(void)
{
	begin(ASSAY_TAGS_STOP);
	events(1);
	no_room = true;
	events(WORDS + 4);
	CHECK_EQ(rings[0].discarded, 5);
	CHECK(header.flags & ASSAY_TAGS_FULL);
	begin(ASSAY_TAGS_STOP);
	no_file = true;
	events(3);
	CHECK_EQ(header.next, 0);
}

int main(void)
{
	RUN(an_event_has_a_clock_and_a_tag);
	RUN(full_packets_are_closed_and_followed);
	RUN(a_full_device_counts_what_it_discards);
	RUN(a_flight_recorder_keeps_the_newest);
	RUN(a_flight_recorder_leaves_empty_slots_for_a_while);
	RUN(drained_packets_are_used_again);
	RUN(a_thread_waits_for_a_free_packet);
	RUN(a_thread_does_not_wait_while_capture_is_off);
	RUN(retired_packets_are_not_used_again);
	RUN(a_turn_of_the_clock_begins_a_packet);
	RUN(a_signal_never_puts_time_back);
	RUN(a_handler_may_fill_packets);
	RUN(a_slot_of_a_packet_that_went_is_void);
	RUN(a_closed_packet_keeps_its_last_empty_slot);
	RUN(a_slot_of_no_packet_is_in_no_room);
	RUN(off_records_nothing_and_on_records_the_gap);
	RUN(a_forks_child_begins_with_zero_counts);
	RUN(a_ring_continues_with_the_next_thread);
	RUN(threads_without_a_ring_are_counted);
	RUN(a_full_disk_is_reported_to_the_caller);
	return check_end();
}

/* SPDX-License-Identifier: MIT */
/*
 * device: see device.h. All slow functions hold signals. The events of a signal handler that ran
 * between a trigger's reservation and the slow function are complete and in order.
 *
 * A packet is FREE, then OPEN (owned by one thread), then CLOSED. STOP uses each packet once. WRAP
 * reuses closed packets, the oldest first. STREAM reuses the packets that the drainer released, the
 * lowest first, so that few packets stay in the caches. If a closed packet has a slot that was
 * reserved but not written, the trigger may still write to it after a handler returns. WRAP
 * therefore does not reuse that packet for some seconds, and a drainer retires it.
 */
#include "tags/device.h"

#include "assay_port.h"

#define FIRST_WORD sizeof(struct assay_tags_packet)
#define END_WORD (FIRST_WORD + ASSAY_TAGS_ROOM)
#define TRIES 64u                 /* packets that WRAP examines to find a closed and whole packet */
#define RETRY_TICKS 30000         /* pause after a refusal, about 10 us */
#define LEFT_TICKS 10000000000ull /* seconds: after this time no trigger can still hold a slot */

struct tags_device tags_device;
struct assay_tags_self tags_unborn;
__thread struct assay_tags_self *assay_tags_self = &tags_unborn;

_Static_assert(offsetof(struct assay_tags_self, base) == 8, "the inline sequence has it at 8");
_Static_assert(offsetof(struct assay_tags_self, turn) == 16, "the inline sequence has it at 16");

static void add(uint64_t *count, uint64_t n)
{
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}

/* The running thread's state. NULL: it has none in this process. */
static struct tags_thread *this_thread(void)
{
	struct tags_thread *t = (struct tags_thread *)assay_tags_self;

	return assay_tags_self == &tags_unborn || !t->tid ? NULL : t;
}

static char *packet_at(uint64_t i)
{
	return tags_device.packets + i * ASSAY_TAGS_PACKET;
}

static void refuse(struct tags_thread *t, enum tags_refusal why, uint64_t now)
{
	t->self.base = 0;
	t->self.at = 0;
	t->refusal = why;
	t->refused = now;
	t->gap |= ASSAY_TAGS_GAP;
}

/*
 * Counts a discarded event. A handler may have forked during tags_quick(): the child has no ring,
 * and has lost nothing.
 */
static void discard(struct tags_thread *t)
{
	struct assay_tags_ring *ring = t ? __atomic_load_n(&t->ring, __ATOMIC_RELAXED) : NULL;

	if (ring || !t)
		add(ring ? &ring->discarded : &tags_device.header->discarded, 1);
}

static uint32_t flag(uint32_t flags)
{
	return __atomic_fetch_or(&tags_device.header->flags, flags, __ATOMIC_RELAXED);
}

/*
 * Restarts the count of discarded events. Signals are not held here. If a handler has opened a
 * packet since the slot was reserved, the address that triggers advance lies in that packet. False:
 * this is the case.
 */
static bool count_anew(struct tags_thread *t, uint64_t seen)
{
	return __atomic_compare_exchange_n(&t->self.at, &seen, 0, false, __ATOMIC_RELAXED,
	                                   __ATOMIC_RELAXED);
}

bool tags_quick(uint32_t tag, uint64_t slot)
{
	struct tags_thread *t = this_thread();
	struct assay_tags_header *h = tags_device.header;
	uint64_t seen;

	(void)tag;
	if (!t)
		return tags_port_failed();
	seen = __atomic_load_n(&t->self.at, __ATOMIC_RELAXED);
	/*
	 * A slot in a packet that a handler has closed since: the packet waits for the slot to be
	 * written.
	 */
	if (slot >= (uint64_t)(uintptr_t)tags_device.packets)
		return false;
	switch (t->refusal) {
	case TAGS_OFF:
		return !__atomic_load_n(&h->capture, __ATOMIC_RELAXED) && count_anew(t, seen);
	case TAGS_FULL:
		break;
	case TAGS_WAITING:
		if (port_clock() - t->refused >= RETRY_TICKS)
			return false;
		break;
	default:
		return false;
	}
	if (!count_anew(t, seen))
		return false;
	if (__atomic_load_n(&h->capture, __ATOMIC_RELAXED))
		discard(t);
	return true;
}

/* The time word of the latest event before a slot; 0: there is none. */
static uint64_t before(const struct assay_tags_packet *p, const uint64_t *slot)
{
	const uint64_t *first = (const uint64_t *)((const char *)p + FIRST_WORD);

	while (slot > first)
		if (*--slot)
			return *slot;
	return 0;
}

/*
 * The packet includes all reserved slots, also empty ones at its end: the interrupted trigger may
 * still write to them.
 */
static void close_packet(struct tags_thread *t)
{
	struct assay_tags_packet *p = t->packet;
	uint64_t used, last;

	if (!p)
		return;
	used = t->self.at - (uint64_t)(uintptr_t)p;
	if (used > END_WORD || used < FIRST_WORD)
		used = END_WORD;
	last = before(p, (uint64_t *)((char *)p + used));
	if (last)
		p->end = (p->begin & ~ASSAY_TAGS_CLOCK_MASK) | last >> ASSAY_TAGS_TAG_BITS;
	p->content_bits = used * 8;
	t->packet = NULL;
	t->self.base = 0;
	t->ring->packet = 0;
	__atomic_store_n(&tags_device.states[((char *)p - tags_device.packets) / ASSAY_TAGS_PACKET],
	                 ASSAY_TAGS_CLOSED, __ATOMIC_RELEASE);
}

static bool take(uint64_t i, uint32_t from)
{
	return __atomic_compare_exchange_n(&tags_device.states[i], &from, ASSAY_TAGS_OPEN, false,
	                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool is_whole(const struct assay_tags_packet *p)
{
	const uint64_t *word = (const uint64_t *)((const char *)p + FIRST_WORD);
	const uint64_t *end = (const uint64_t *)((const char *)p + END_WORD);

	if (p->content_bits / 8 < END_WORD)
		end = (const uint64_t *)((const char *)p + p->content_bits / 8);
	while (word < end && *word)
		word++;
	return word >= end;
}

/*
 * Takes a packet that was never used: all packets of STOP, and the first round of the other modes.
 */
static bool take_new(uint64_t *i)
{
	struct assay_tags_header *h = tags_device.header;

	if (__atomic_load_n(&h->next, __ATOMIC_RELAXED) >= h->packet_count)
		return false;
	*i = __atomic_fetch_add(&h->next, 1, __ATOMIC_RELAXED);
	return *i < h->packet_count && take(*i, ASSAY_TAGS_FREE);
}

static bool take_oldest(uint64_t *i, uint64_t now)
{
	struct assay_tags_header *h = tags_device.header;

	for (unsigned tries = 0; tries < TRIES; tries++) {
		struct assay_tags_packet *p;

		*i = __atomic_fetch_add(&h->next, 1, __ATOMIC_RELAXED) % h->packet_count;
		p = (struct assay_tags_packet *)packet_at(*i);
		if (!take(*i, ASSAY_TAGS_CLOSED))
			continue;
		if (is_whole(p) || now >= p->end + LEFT_TICKS) {
			if (p->reserved[0] < ASSAY_TAGS_RINGS)
				add(&tags_device.rings[p->reserved[0]].overwritten, 1);
			return true;
		}
		__atomic_store_n(&tags_device.states[*i], ASSAY_TAGS_CLOSED, __ATOMIC_RELEASE);
	}
	return false;
}

static bool take_free(uint64_t *i)
{
	const struct assay_tags_header *h = tags_device.header;

	for (*i = 0; *i < h->packet_count; ++*i)
		if (!__atomic_load_n(&tags_device.states[*i], __ATOMIC_RELAXED) &&
		    take(*i, ASSAY_TAGS_FREE))
			return true;
	return false;
}

/* True if the thread waits for a packet in place of discarding events. */
static bool may_wait(void)
{
	const struct assay_tags_header *h = tags_device.header;

	return (__atomic_load_n(&h->flags, __ATOMIC_RELAXED) & ASSAY_TAGS_WAIT) &&
	       __atomic_load_n(&h->capture, __ATOMIC_RELAXED);
}

/*
 * The pause is in no function's time: it lies between the packet's first event and ASSAY_TAG_OWN,
 * and switches in it are idle time.
 */
static bool wait_for_free(struct tags_thread *t, uint64_t *i)
{
	uint64_t began = port_clock();
	bool taken = false, paused = false;

	if (!may_wait())
		return false;
	while (!taken && may_wait() && tags_port_wait()) {
		paused = true;
		taken = take_free(i);
	}
	t->ring->waits += paused;
	t->ring->waited += paused ? port_clock() - began : 0;
	return taken;
}

static bool take_packet(struct tags_thread *t, uint64_t *i, uint64_t now)
{
	switch (tags_device.header->mode) {
	case ASSAY_TAGS_STREAM:
		return take_free(i) || wait_for_free(t, i);
	case ASSAY_TAGS_WRAP:
		return take_new(i) || take_oldest(i, now);
	default:
		return take_new(i);
	}
}

static void wipe(struct assay_tags_packet *p)
{
	uint64_t *word = (uint64_t *)p;

	for (unsigned i = 0; i < ASSAY_TAGS_PACKET / sizeof(*word); i++)
		__atomic_store_n(&word[i], 0, __ATOMIC_RELAXED);
}

static bool open_packet(struct tags_thread *t, uint64_t now)
{
	struct assay_tags_header *h = tags_device.header;
	struct assay_tags_packet *p;
	uint64_t i;

	if (!__atomic_load_n(&h->capture, __ATOMIC_RELAXED)) {
		refuse(t, TAGS_OFF, now);
		return false;
	}
	if (!take_packet(t, &i, now) || !tags_port_populate(packet_at(i), ASSAY_TAGS_PACKET)) {
		if (h->mode == ASSAY_TAGS_STOP)
			flag(ASSAY_TAGS_FULL);
		refuse(t, h->mode == ASSAY_TAGS_STOP ? TAGS_FULL : TAGS_WAITING, now);
		return false;
	}
	p = (struct assay_tags_packet *)packet_at(i);
	if (p->magic)
		wipe(p);
	p->begin = p->end = now;
	p->packet_bits = ASSAY_TAGS_PACKET * 8;
	p->discarded = __atomic_load_n(&t->ring->discarded, __ATOMIC_RELAXED);
	p->sequence = t->ring->sequence++;
	p->pid = h->pid;
	p->tid = t->tid;
	p->flags = t->gap;
	p->reserved[0] = (uint64_t)(t->ring - tags_device.rings);
	tags_port_names(p->thread, p->process);
	__atomic_store_n(&p->magic, ASSAY_CTF_MAGIC, __ATOMIC_RELEASE);
	t->ring->packet = (uint32_t)i + 1;
	t->packet = p;
	t->gap = 0;
	t->refusal = TAGS_TAKES;
	t->self.at = (uint64_t)(uintptr_t)p + FIRST_WORD;
	t->self.turn = now >> ASSAY_TAGS_CLOCK_BITS;
	t->self.base = t->self.at - ASSAY_TAGS_BIAS;
	tags_port_turned();
	return true;
}

/* Takes the lowest free ring, or a new one if all are in use. */
static struct assay_tags_ring *take_ring(int32_t tid)
{
	struct assay_tags_header *h = tags_device.header;
	uint64_t count = __atomic_load_n(&h->ring_count, __ATOMIC_RELAXED);

	for (uint64_t i = 0; i < ASSAY_TAGS_RINGS; i++) {
		struct assay_tags_ring *r = &tags_device.rings[i];
		int32_t free_tid = 0;

		if (i >= count && !tags_port_populate((char *)r, sizeof(*r)))
			return NULL;
		if (!__atomic_load_n(&r->tid, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&r->tid, &free_tid, tid, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED)) {
			while (count <= i &&
			       !__atomic_compare_exchange_n(&h->ring_count, &count, i + 1, false,
			                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				;
			return r;
		}
	}
	flag(ASSAY_TAGS_NO_RINGS);
	return NULL;
}

/* A thread's first event in the process. After a fork the thread already has a page. */
static struct tags_thread *begin_thread(void)
{
	struct tags_thread *t = (struct tags_thread *)assay_tags_self;
	bool forked = assay_tags_self != &tags_unborn;
	struct assay_tags_ring *ring;

	if (!tags_port_begin())
		return NULL;
	ring = take_ring(port_thread_id());
	if (ring && !forked)
		t = tags_port_thread();
	if (!ring || !t) {
		if (ring)
			__atomic_store_n(&ring->tid, 0, __ATOMIC_RELEASE);
		discard(NULL);
		return NULL;
	}
	t->ring = ring;
	t->tid = ring->tid;
	t->gap = forked ? ASSAY_TAGS_FORKED : 0;
	assay_tags_self = &t->self;
	return t;
}

/* True if the slot lies in the open packet. */
static inline bool is_in_room(const struct assay_tags_self *s, uint64_t slot)
{
	return slot - ASSAY_TAGS_BIAS - s->base < ASSAY_TAGS_ROOM;
}

static uint64_t word_of(uint64_t clock, uint32_t tag)
{
	return clock << ASSAY_TAGS_TAG_BITS | tag;
}

/*
 * Fills a slot that was reserved and is still empty. In the open packet, events of signal handlers
 * may precede the slot that are later than its trigger's clock: then it gets the time of the last
 * one. False: the slot is void, since it now belongs to another packet or to an earlier turn of the
 * clock.
 */
static bool fill(struct tags_thread *t, uint32_t tag, uint64_t slot, uint64_t now)
{
	uint64_t offset = slot - (uint64_t)(uintptr_t)tags_device.packets, last;
	uint64_t *word = (uint64_t *)(uintptr_t)slot;
	struct assay_tags_packet *p;
	bool here;

	if (slot < (uint64_t)(uintptr_t)tags_device.packets ||
	    offset / ASSAY_TAGS_PACKET >= tags_device.header->packet_count ||
	    offset % ASSAY_TAGS_PACKET < FIRST_WORD || offset % ASSAY_TAGS_PACKET >= END_WORD)
		return false;
	p = (struct assay_tags_packet *)packet_at(offset / ASSAY_TAGS_PACKET);
	/* A packet with an empty slot is not reused by another thread yet. */
	if (p->magic != ASSAY_CTF_MAGIC || p->tid != t->tid || *word)
		return false;
	here = p == t->packet && now >> ASSAY_TAGS_CLOCK_BITS == t->self.turn;
	last = before(p, word);
	*word = word_of(last ? last >> ASSAY_TAGS_TAG_BITS : p->begin, here ? tag : ASSAY_TAG_VOID);
	return here;
}

static void append(struct tags_thread *t, uint32_t tag, uint64_t now)
{
	uint64_t *slot = (uint64_t *)(uintptr_t)t->self.at;
	uint64_t last = before(t->packet, slot), word = word_of(now, tag);

	/*
	 * The clocks of CPUs may differ by less than the duration of this path: the time never
	 * decreases.
	 */
	if (word < last)
		word = word_of(last >> ASSAY_TAGS_TAG_BITS, tag);
	t->self.at += 8;
	__atomic_store_n(slot, word, __ATOMIC_RELAXED);
}

void tags_slow(uint32_t tag, uint64_t slot)
{
	uint64_t signals = port_signals_hold(), now;
	struct tags_thread *t = this_thread();

	if (!t)
		t = begin_thread();
	if (!t)
		goto out;
	now = port_clock();
	if (slot && fill(t, tag, slot, now))
		goto out;
	if (t->packet &&
	    (!is_in_room(&t->self, t->self.at) || now >> ASSAY_TAGS_CLOCK_BITS != t->self.turn ||
	     !__atomic_load_n(&tags_device.header->capture, __ATOMIC_RELAXED)))
		close_packet(t);
	if (t->packet) {
		append(t, tag, now);
	} else if (open_packet(t, now)) {
		append(t, tag, now);
		append(t, ASSAY_TAG_OWN, port_clock());
	} else if (t->refusal != TAGS_OFF) {
		discard(t);
	}
out:
	port_signals_release(signals);
}

void tags_thread_end(void)
{
	uint64_t signals = port_signals_hold();
	struct tags_thread *t = this_thread();

	if (t) {
		close_packet(t);
		assay_tags_self = &tags_unborn;
		__atomic_store_n(&t->ring->tid, 0, __ATOMIC_RELEASE);
		port_memory_free(t, 4096);
	}
	port_signals_release(signals);
}

/* The inline sequence in C, with the same steps in the same order. */
TAGS_EXPORT void assay_tags_event(unsigned tag);

void assay_tags_event(unsigned tag)
{
	struct assay_tags_self *s = assay_tags_self;
	uint64_t now = port_clock(), slot = 8, word;

	tag &= ASSAY_TAGS_TAG_MASK;
#if defined(__x86_64__)
	__asm__ volatile("xadd %0, %1" : "+r"(slot), "+m"(s->at) : : "cc");
#else
	slot = __atomic_fetch_add(&s->at, 8, __ATOMIC_RELAXED);
#endif
	word = word_of(now, tag);
	if (!is_in_room(s, slot)) {
		if (!tags_quick(tag, slot))
			tags_slow(tag, slot);
	} else if (now >> ASSAY_TAGS_CLOCK_BITS != s->turn ||
	           word < ((uint64_t *)(uintptr_t)slot)[-1]) {
		tags_slow(tag, slot);
	} else {
		__atomic_store_n((uint64_t *)(uintptr_t)slot, word, __ATOMIC_RELAXED);
	}
}

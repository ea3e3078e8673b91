/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trigger of event tags, interrupted after each of its instructions by handlers that have events
 * of their own, fill packets, end them, turn capture off and on, and are interrupted themselves.
 * Each instruction takes one tick. In all cases each event is recorded once or counted as
 * discarded, events keep the program's order except for interruptions, times do not decrease, and
 * no slot stays empty.
 *
 * The processor's trap flag makes the steps; the device's core is the embedded one.
 */
#include "../unit/lib/check.h"
#include "tags/device.h"

#include "assay_port.h"

#if defined(__x86_64__)

#include "steps_port.h"

#include <signal.h>
#include <ucontext.h>

uint64_t embedded_now;
struct calls_thread *embedded_self;
void (*embedded_interrupt)(void);

#define PACKETS 6
#define ROOM (ASSAY_TAGS_ROOM / 8)
#define MADE_MOST 40000
#define TRAP 0x100 /* in the flags */

static struct assay_tags_header header;
static struct assay_tags_ring rings[ASSAY_TAGS_RINGS];
static uint32_t states[PACKETS + 1]; /* the element after the last one stays free */
static _Alignas(4096) char packets[(PACKETS + 1) * ASSAY_TAGS_PACKET];

/* ---- steps ------------------------------------------------------------------ */

static unsigned steps[2], wanted[2]; /* by depth: the number of steps made, and the number after
which a handler interrupts */
static unsigned depth;
static void (*handlers[2])(void);
static bool stepping[2], done[2];
static unsigned held;
static bool held_too; /* count steps while signals are blocked, too: other threads may run there */
static unsigned interrupted[2]; /* the event that was */

static __attribute__((always_inline)) inline void trap_on(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\t"
	                 "lea 128(%%rsp), %%rsp"
	                 :
	                 : "i"(TRAP)
	                 : "cc", "memory");
}

static __attribute__((always_inline)) inline void trap_off(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\t"
	                 "lea 128(%%rsp), %%rsp"
	                 :
	                 : "i"(~TRAP)
	                 : "cc", "memory");
}

static void on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *c = context;
	unsigned d = depth;

	(void)number;
	(void)info;
	embedded_now++;
	if ((held && !held_too) || !stepping[d]) {
		c->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
		return;
	}
	if (steps[d]++ != wanted[d])
		return;
	done[d] = true;
	depth = d + 1;
	handlers[d]();
	depth = d;
	stepping[d] = false;
	c->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
}

uint64_t port_signals_hold(void)
{
	held++;
	embedded_now++;
	return 0;
}

/* Delivers the blocked signals: the next instruction is a step again. */
__attribute__((no_sanitize("address", "undefined"))) void port_signals_release(uint64_t before)
{
	(void)before;
	embedded_now++;
	if (!--held && stepping[depth])
		trap_on();
}

/* ---- triggers -------------------------------------------------------------- */

static unsigned next_tag;
static unsigned off_made; /* events while capture was off: each may be recorded or not */

/* The inline sequence of assay/tags_wire.h, with the clock of this test. */
static __attribute__((noinline, no_sanitize("address", "undefined"))) void trigger(unsigned tag)
{
	uint64_t slot = 8, a, d, slow = 1;

	__asm__ volatile(
	        "mov %[now], %[a]\n\t"
	        "xadd %[slot], (%[self])\n\t"
	        "lea -%c[bias](%[slot]), %[d]\n\t"
	        "sub 8(%[self]), %[d]\n\t"
	        "cmp %[room], %[d]\n\t"
	        "jae 1f\n\t"
	        "mov %[a], %[d]\n\t"
	        "shr $40, %[d]\n\t"
	        "cmp %[d], 16(%[self])\n\t"
	        "jne 1f\n\t"
	        "shl $24, %[a]\n\t"
	        "or %[tag], %[a]\n\t"
	        "cmp -8(%[slot]), %[a]\n\t"
	        "jb 1f\n\t"
	        "mov %[a], (%[slot])\n\t"
	        "xor %k[slow], %k[slow]\n"
	        "1:"
	        : [slot] "+r"(slot), [a] "=&r"(a), [d] "=&r"(d), [slow] "+r"(slow)
	        : [now] "m"(embedded_now), [self] "r"(assay_tags_self), [tag] "r"((uint64_t)tag),
	          [bias] "i"(ASSAY_TAGS_BIAS), [room] "i"(ASSAY_TAGS_ROOM)
	        : "cc", "memory");
	if (slow && !tags_quick(tag, slot))
		tags_slow(tag, slot);
}

static unsigned make(void)
{
	off_made += !header.capture;
	embedded_now += 10;
	return next_tag++;
}

static void events(unsigned n)
{
	while (n--)
		trigger(make());
}

/* One event, interrupted after this number of steps. False: it has fewer steps. */
static __attribute__((noinline, no_sanitize("address", "undefined"))) bool
stepped(unsigned after, void (*handler)(void))
{
	unsigned d = depth;

	wanted[d] = after;
	handlers[d] = handler;
	steps[d] = 0;
	done[d] = false;
	interrupted[d] = make();
	stepping[d] = true;
	trap_on();
	trigger(interrupted[d]);
	stepping[d] = false;
	trap_off();
	return done[d];
}

/* ---- drained words ------------------------------------------------------ */

static uint64_t log_words[MADE_MOST * 2];
static unsigned log_count, log_holes, log_back;
static uint64_t log_end, log_sequence;

static void take(struct assay_tags_packet *p, unsigned state)
{
	uint64_t *words = (uint64_t *)(p + 1), time = p->begin;
	unsigned count = state == ASSAY_TAGS_CLOSED ? (p->content_bits / 8 - sizeof(*p)) / 8 : ROOM;

	while (state == ASSAY_TAGS_OPEN && count && !words[count - 1])
		count--;
	log_back += p->begin < log_end;
	for (unsigned i = 0; i < count; i++) {
		uint64_t clock = words[i] >> ASSAY_TAGS_TAG_BITS;

		log_holes += !words[i];
		/*
		 * This gap has no length: the slot before it may still have been empty. Readers
		 * omit it.
		 */
		if ((words[i] & ASSAY_TAGS_TAG_MASK) == ASSAY_TAG_VOID)
			continue;
		if (!words[i])
			continue;
		/* As in readers: the last events may be after the next wrap of the clock. */
		clock = (clock - time) & ASSAY_TAGS_CLOCK_MASK;
		log_back += clock > ASSAY_TAGS_CLOCK_MASK / 2;
		time += clock;
		if ((words[i] & ASSAY_TAGS_TAG_MASK) < ASSAY_TAG_RESERVED)
			log_words[log_count++] = words[i];
	}
	log_end = time;
	log_sequence++;
}

static bool is_whole(const struct assay_tags_packet *p)
{
	const uint64_t *words = (const uint64_t *)(p + 1);
	unsigned count = (unsigned)((p->content_bits / 8 - sizeof(*p)) / 8);

	for (unsigned i = 0; i < count; i++)
		if (!words[i])
			return false;
	return true;
}

/* Drains the packets by their sequence numbers. `last`: open packets too. */
static void drain(bool last)
{
	for (bool more = true; more;) {
		more = false;
		for (unsigned i = 0; i < PACKETS && !more; i++) {
			struct assay_tags_packet *p = (void *)(packets + i * ASSAY_TAGS_PACKET);

			if (states[i] == ASSAY_TAGS_FREE || !p->magic ||
			    p->sequence != log_sequence)
				continue;
			if (!last && (states[i] != ASSAY_TAGS_CLOSED || !is_whole(p)))
				return;
			take(p, states[i]);
			states[i] = ASSAY_TAGS_FREE;
			more = true;
		}
	}
}

/* ---- where a trigger may be when it is interrupted --------------------------- */

static void begin(uint32_t mode)
{
	memset(&header, 0, sizeof(header));
	memset(rings, 0, sizeof(rings[0]) * 4);
	memset(states, 0, sizeof(states));
	memset(packets, 0, sizeof(packets));
	memset(page, 0, sizeof(page));
	header.mode = mode;
	header.capture = 1;
	header.packet_count = PACKETS;
	header.pid = 5;
	embedded_now = 1000;
	tags_device = (struct tags_device){.base = (char *)&header,
	                                   .header = &header,
	                                   .rings = rings,
	                                   .states = states,
	                                   .packets = packets};
	assay_tags_self = &tags_unborn;
	memset(&tags_unborn, 0, sizeof(tags_unborn));
	off_made = 0;
	next_tag = 2;
	log_count = log_holes = log_back = 0;
	log_end = log_sequence = 0;
	depth = held = 0;
}

static void unborn(void)
{
}

static void midst(void)
{
	events(10);
}

static void last_but_one(void)
{
	events(ROOM - 3);
}

static void last_slot(void)
{
	events(ROOM - 2);
}

static void full_packet(void)
{
	events(ROOM - 1);
}

static void is_off(void)
{
	events(10);
	header.capture = 0;
	events(2);
}

static void just_off(void)
{
	events(10);
	header.capture = 0;
}

static void just_on(void)
{
	is_off();
	header.capture = 1;
}

static void no_memory(void)
{
	events((ROOM - 1) * PACKETS + 3);
}

static void memory_again(void)
{
	no_memory();
	drain(false);
}

static void turn_is_near(void)
{
	embedded_now = (1ull << 40) - 1000;
	events(10);
	embedded_now = (1ull << 40) - 40;
}

/* ---- what handlers do -------------------------------------------------------- */

static void pair(void)
{
	events(2);
}

static void fills(void)
{
	events(ROOM + 5);
}

static void fills_and_drains(void)
{
	events(ROOM + 5);
	drain(false);
	events(2 * ROOM);
	drain(false);
	events(5);
}

static void drains(void)
{
	drain(false);
	embedded_now += 100000;
	events(2);
}

static void off_and_on(void)
{
	off_made++; /* what is interrupted */
	header.capture = 0;
	events(2);
	header.capture = 1;
	events(2);
}

static void turns_off(void)
{
	off_made++;
	header.capture = 0;
	events(2);
}

static void turns_on(void)
{
	header.capture = 1;
	events(2);
}

static void turn_of_the_clock(void)
{
	embedded_now += 3ull << 40;
	events(2);
}

static unsigned second;

static void is_interrupted(void)
{
	stepped(second, pair);
	events(1);
}

static void is_interrupted_and_fills(void)
{
	stepped(second, fills);
	events(1);
}

/* ---- all of it ----------------------------------------------------------------- */

static unsigned find(unsigned tag)
{
	unsigned i = 0;

	while (i < log_count && (log_words[i] & ASSAY_TAGS_TAG_MASK) != tag)
		i++;
	return i;
}

/* 0: all is well. */
static const char *judge(unsigned levels)
{
	static unsigned char seen[MADE_MOST + 2];
	unsigned before = 0, missing = 0;

	memset(seen, 0, sizeof(seen));
	for (unsigned i = 0; i < log_count; i++) {
		unsigned tag = log_words[i] & ASSAY_TAGS_TAG_MASK;
		bool was_interrupted =
		        tag == interrupted[0] || (levels > 1 && tag == interrupted[1]);

		if (tag >= next_tag)
			return "an event that was not";
		if (seen[tag]++)
			return "an event twice";
		if (was_interrupted)
			continue;
		if (tag < before)
			return "another order";
		before = tag;
	}
	/* The next event of the same level follows it. */
	if (find(interrupted[0]) < log_count && find(next_tag - 1) < log_count &&
	    find(interrupted[0]) > find(next_tag - 1))
		return "an interrupted event behind the next";
	for (unsigned tag = 2; tag < next_tag; tag++)
		missing += !seen[tag];
	if (log_holes)
		return "an empty slot";
	if (log_back)
		return "time goes back";
	if (missing < rings[0].discarded || missing > rings[0].discarded + off_made)
		return "a loss that is not counted";
	return NULL;
}

static bool quiet_once; /* one message per case */

static bool one(uint32_t mode, void (*where)(void), void (*handler)(void), unsigned after,
                const char *name)
{
	const char *wrong;
	bool was;

	begin(mode);
	where();
	was = stepped(after, handler);
	header.capture = 1;
	embedded_now += 100000;
	events(4);
	drain(true);
	wrong = judge(handler == is_interrupted || handler == is_interrupted_and_fills ? 2 : 1);
	if (wrong && !quiet_once)
		printf("# %s, mode %u, step %u, %u: %s (%u made, %u there, %u discarded, %u off)\n",
		       name, mode, after, second, wrong, next_tag - 2, log_count,
		       (unsigned)rings[0].discarded, off_made);
	quiet_once |= wrong != NULL;
	return was && !wrong;
}

struct named {
	const char *name;
	void (*run)(void);
};

#define NAMED(f)                                                                                   \
	{                                                                                          \
#f, f                                                                              \
	}

static const struct named wheres[] = {
        NAMED(unborn),      NAMED(midst),        NAMED(last_but_one), NAMED(last_slot),
        NAMED(full_packet), NAMED(is_off),       NAMED(just_off),     NAMED(just_on),
        NAMED(no_memory),   NAMED(memory_again), NAMED(turn_is_near),
};

static const struct named whats[] = {
        NAMED(pair),       NAMED(fills),     NAMED(fills_and_drains), NAMED(drains),
        NAMED(off_and_on), NAMED(turns_off), NAMED(turns_on),         NAMED(turn_of_the_clock),
};

/* Interrupts after each `every`th step from `after` on; returns the number of steps. */
static unsigned all_steps(uint32_t mode, const struct named *where, const struct named *what,
                          unsigned after, unsigned every)
{
	char name[128];

	snprintf(name, sizeof(name), "%s: %s", where->name, what->name);
	quiet_once = false;
	while (one(mode, where->run, what->run, after, name))
		after += every;
	CHECK(!quiet_once);
	return after;
}

static void every_step(uint32_t mode)
{
	for (size_t w = 0; w < sizeof(wheres) / sizeof(*wheres); w++)
		for (size_t h = 0; h < sizeof(whats) / sizeof(*whats); h++)
			CHECK(all_steps(mode, &wheres[w], &whats[h], 0, 1) > 15);
}

static void a_stream_interrupted_at_every_step(void)
{
	every_step(ASSAY_TAGS_STREAM);
}

static void memory_that_stops_interrupted_at_every_step(void)
{
	every_step(ASSAY_TAGS_STOP);
}

/*
 * From states in which the sequence takes other branches: every fifth step of the outer event,
 * combined with all steps of the inner one.
 */
static void handlers_interrupted_at_every_step(void)
{
	static const struct named both[] = {
	        {"is_interrupted", is_interrupted},
	        {"is_interrupted_and_fills", is_interrupted_and_fills},
	};
	static const struct named from[] = {
	        {"unborn", unborn},
	        {"midst", midst},
	        {"last_slot", last_slot},
	        {"full_packet", full_packet},
	        {"just_off", just_off},
	        {"just_on", just_on},
	        {"turn_is_near", turn_is_near},
	};

	for (size_t w = 0; w < sizeof(from) / sizeof(*from); w++)
		for (second = 0; second < 40; second++)
			CHECK(all_steps(ASSAY_TAGS_STREAM, &from[w], &both[second % 2], second % 5,
			                5) > 15);
	second = 0;
}

static void another_thread_takes_the_last(void)
{
	if (header.next != PACKETS - 1)
		return;
	states[PACKETS - 1] = ASSAY_TAGS_OPEN;
	header.next = PACKETS;
}

/* Another thread may come first at any instruction: then the event is discarded and counted. */
static void the_last_packet_goes_to_one_thread(void)
{
	unsigned after = 0, had = 0, refused = 0;
	bool was = true;

	held_too = true;
	for (; was; after++) {
		begin(ASSAY_TAGS_STOP);
		events((ROOM - 1) * (PACKETS - 1));
		was = stepped(after, another_thread_takes_the_last);
		CHECK_EQ(states[PACKETS], ASSAY_TAGS_FREE);
		CHECK_EQ(states[PACKETS - 1], ASSAY_TAGS_OPEN);
		CHECK(rings[0].discarded <= 1);
		refused += rings[0].discarded == 1;
		had += rings[0].discarded == 0;
	}
	held_too = false;
	CHECK(refused > 15);
	CHECK(had > 15);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGTRAP, &action, NULL);
	RUN(a_stream_interrupted_at_every_step);
	RUN(memory_that_stops_interrupted_at_every_step);
	RUN(handlers_interrupted_at_every_step);
	RUN(the_last_packet_goes_to_one_thread);
	return check_end();
}

#else

int main(void)
{
	printf("1..0 # SKIP the inline sequence is for x86-64\n");
	return 0;
}

#endif

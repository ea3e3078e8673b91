/* SPDX-License-Identifier: MIT */
/*
 * switches: see switches.h. A record has 16 bytes: a header and the time. A thread that runs has
 * been switched in, so its records come in pairs. Times are converted to ticks relative to a moment
 * that is read at the conversion. An error of the rate therefore counts only for the age of a
 * record.
 *
 * The thread runs at `to`, so each pair lies completely before or after it. After the conversion a
 * pair may contain `to`, because conversions have errors. The middle of the pair then decides,
 * which is correct while the error is less than half the pair. Later pairs stay in the ring. So no
 * pair is lost or counted twice.
 *
 * If the ring is full, the kernel keeps the first records and drops the later ones. The waiting
 * time is then the wall time minus the CPU time of the interval, and the existing records explain a
 * part of it. A wait between `to` and the moment at which the ring has room again has no record
 * either, so the interval is extended to a clock reading after that moment. The rest of the waiting
 * time is divided by the number of switches without records (getrusage: voluntary or not), and by
 * the average length of the recorded waits of each kind.
 */
#include "linux/switches.h"
#include "linux/uncancelled.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RECORD_BYTES 16
#define STABLE_TRIES 4
#define SWITCH_NS 32000 /* maximum duration of a switch itself */
#define SLACK_NS 20000  /* maximum error of a clock conversion; 1/1024 of the age is added */

static volatile uint64_t never_switched; /* the watched word of threads without a ring */

/* The values of the clocks at one moment, and the ring's head at that moment. */
struct reading {
	uint64_t head;
	struct assay_calls_moment now;
	uint64_t cpu_ns;
	uint64_t voluntary, involuntary; /* numbers of switches from getrusage() */
};

/* The state of a walk through the records. */
struct walk {
	uint64_t at, out; /* at: position; out: ns of a switch-out record without its switch-in; 0:
	                     none */
	uint64_t out_at;  /* position of that record */
	uint64_t in;      /* ns of the switch-in record of the pair */
	bool out_preempted;
	bool lost;
};

static int page_bytes(void)
{
	return (int)sysconf(_SC_PAGESIZE); /* from the auxiliary vector: no system call, no lock */
}

static uint64_t *user_page_tail(struct switches *s)
{
	return (uint64_t *)(void *)&((struct perf_event_mmap_page *)s->ring)->data_tail;
}

static uint64_t word_at(const struct switches *s, uint64_t at)
{
	const char *data = (const char *)s->ring + s->bytes / 2;

	return *(const uint64_t *)(const void *)(data + (at & (s->bytes / 2 - 1) & ~7ull));
}

static void take_counts(struct reading *r)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_THREAD, &usage);
	r->voluntary = (uint64_t)usage.ru_nvcsw;
	r->involuntary = (uint64_t)usage.ru_nivcsw;
}

/* Reads the clocks again if the thread was switched between the readings. */
static struct reading take_reading(const struct switches *s, bool counts)
{
	struct reading r = {0};

	for (int i = 0; i < STABLE_TRIES; i++) {
		r.head = __atomic_load_n(s->head, __ATOMIC_ACQUIRE);
		r.now = clock_now(1);
		r.cpu_ns = clock_thread_cpu_ns();
		if (counts)
			take_counts(&r);
		if (__atomic_load_n(s->head, __ATOMIC_ACQUIRE) == r.head)
			break;
	}
	return r;
}

static void attributes(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = PERF_SAMPLE_TIME;
	attr->sample_id_all = 1;
	attr->context_switch = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	attr->watermark = 1; /* no thread polls this event, so avoid wake-ups */
	attr->wakeup_watermark = UINT32_MAX;
}

/*
 * Releases the records before `tail` to the kernel. The store-release of data_tail orders the loads
 * of the records before it. It pairs with the kernel's load of data_tail before it writes new
 * records.
 */
static void give_up_to(struct switches *s, uint64_t tail)
{
	s->tail = tail;
	__atomic_store_n(user_page_tail(s), tail, __ATOMIC_RELEASE);
}

/* Marks all time up to a reading as counted. */
static void by_clock(struct switches *s, const struct reading *r)
{
	s->sync = r->now.ticks;
	s->sync_cpu_ns = r->cpu_ns;
	s->voluntary = r->voluntary;
	s->involuntary = r->involuntary;
}

int switches_open(struct switches *s, const struct clock_rate *clock)
{
	struct perf_event_attr attr;
	int saved = errno, rc = 0, fd;
	struct reading r;

	memset(s, 0, sizeof(*s));
	s->head = &never_switched;
	attributes(&attr);
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
		goto out;
	}
	s->bytes = 2 * (size_t)page_bytes();
	s->ring = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s->ring == MAP_FAILED) {
		rc = -errno;
		s->ring = NULL;
	} else {
		s->head = (volatile uint64_t *)(void *)&((struct perf_event_mmap_page *)s->ring)
		                  ->data_head;
	}
	/*
	 * The mapping keeps the event, so a program that counts or closes descriptors does not find
	 * it.
	 */
	uncancelled_close(fd);
	if (rc)
		goto out;
	s->tid = (int)syscall(SYS_gettid);
	/* Skips records of earlier switches, which the counts already contain. */
	r = take_reading(s, true);
	give_up_to(s, r.head);
	by_clock(s, &r);
out:
	errno = saved;
	return rc;
}

void switches_forget(struct switches *s)
{
	memset(s, 0, sizeof(*s));
	s->head = &never_switched;
}

void switches_close(struct switches *s)
{
	int saved = errno;

	if (s->ring)
		munmap(s->ring, s->bytes);
	switches_forget(s);
	errno = saved;
}

/* The next pair of a switch-out and a switch-in before `head`. False: there is no further pair. */
static bool next_pair(const struct switches *s, struct walk *k, uint64_t head)
{
	k->out = 0;
	while (head - k->at >= RECORD_BYTES) {
		uint64_t word = word_at(s, k->at), at = k->at;
		uint32_t type = (uint32_t)word, misc = (uint32_t)(word >> 32) & 0xffff;
		uint64_t size = word >> 48;

		if (size < 8 || size & 7 || size > head - at) { /* not a valid record */
			k->at = head;
			k->lost = true;
			return false;
		}
		k->at += size;
		if (type == PERF_RECORD_LOST)
			k->lost = true;
		if (type != PERF_RECORD_SWITCH || size < RECORD_BYTES)
			continue;
		if (misc & PERF_RECORD_MISC_SWITCH_OUT) {
			k->out = word_at(s, at + 8);
			k->out_at = at;
			k->out_preempted = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
		} else if (k->out) {
			k->in = word_at(s, at + 8);
			return true;
		}
	}
	return false;
}

static uint64_t ticks_from(const struct clock_rate *clock, struct assay_calls_moment now,
                           uint64_t ns)
{
	if (ns >= now.ns)
		return now.ticks + clock_span_ticks(clock, ns - now.ns);
	return now.ticks - clock_span_ticks(clock, now.ns - ns);
}

/* The length of the part of [start, end) that lies after `from` and up to `to`. */
static uint64_t overlap(uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	if (start < from)
		start = from;
	if (end > to)
		end = to;
	return end > start ? end - start : 0;
}

struct interval {
	const struct clock_rate *clock;
	uint64_t from, to;
	struct assay_calls_moment now;
};

static void count_pair(struct switches *s, const struct interval *i, const struct walk *k,
                       struct port_waits *w)
{
	uint64_t out = ticks_from(i->clock, i->now, k->out);
	uint64_t in = ticks_from(i->clock, i->now, k->in);
	uint64_t age_ns = i->now.ns > k->in ? i->now.ns - k->in : 0;
	uint64_t slack = clock_span_ticks(i->clock, SLACK_NS + age_ns / 1024);
	uint64_t ticks = overlap(out, in, i->from, i->to);
	bool counts = in + slack > i->from; /* otherwise it was counted from the CPU clock */

	if (k->out_preempted) {
		s->involuntary++;
		w->preempted += ticks;
		w->preempted_count += counts;
	} else {
		s->voluntary++;
		w->blocked += ticks;
		w->blocked_count += counts;
	}
}

/* Counts the pairs up to `to`, and leaves the walk after them. True: a pair follows. */
static bool count_pairs(struct switches *s, const struct interval *i, struct walk *k, uint64_t head,
                        struct port_waits *w)
{
	while (next_pair(s, k, head)) {
		if (ticks_from(i->clock, i->now, k->out + (k->in - k->out) / 2) > i->to) {
			k->at = k->out_at;
			k->out = 0;
			return true;
		}
		count_pair(s, i, k, w);
	}
	if (k->out)
		k->at = k->out_at; /* half a pair: the other record is not yet written, or was lost
		                    */
	return false;
}

/* Ticks of the waits whose records stay in the ring. */
static uint64_t later_waits(const struct switches *s, const struct clock_rate *clock, uint64_t from,
                            uint64_t head)
{
	struct walk k = {.at = from};
	uint64_t ticks = 0;

	while (next_pair(s, &k, head))
		ticks += clock_span_ticks(clock, k.in - k.out);
	return ticks;
}

/*
 * The CPU clock at `ticks`, if the thread ran from then to the reading except for `waited` ticks.
 */
static uint64_t cpu_at(const struct clock_rate *clock, struct assay_calls_moment now,
                       uint64_t cpu_ns, uint64_t ticks, uint64_t waited)
{
	int64_t ran = (int64_t)(now.ticks - ticks - waited);
	uint64_t ns = clock_span_ns(clock, ran < 0 ? -(uint64_t)ran : (uint64_t)ran);

	if (ran < 0)
		return cpu_ns + ns;
	return ns < cpu_ns ? cpu_ns - ns : 0;
}

/*
 * Subtracts the excess of the recorded waits. The CPU clock starts a few microseconds before the
 * switch-in record is written, by the duration of the switch. At most SWITCH_NS is subtracted for
 * each wait.
 */
static void trim(uint64_t excess, const struct clock_rate *clock, struct port_waits *w)
{
	uint64_t count = (uint64_t)w->blocked_count + w->preempted_count;
	uint64_t most = count * clock_span_ticks(clock, SWITCH_NS), part;

	if (!count)
		return;
	if (excess > most)
		excess = most;
	part = (uint64_t)((unsigned __int128)excess * w->blocked_count / count);
	w->blocked -= part < w->blocked ? part : w->blocked;
	part = excess - part;
	w->preempted -= part < w->preempted ? part : w->preempted;
}

static uint64_t share(uint64_t of, uint64_t part, uint64_t all)
{
	return all ? (uint64_t)((unsigned __int128)of * part / all) : 0;
}

/*
 * Divides `waited` ticks. *w has the recorded part; `voluntary` and `involuntary` further switches
 * have no record. They get the average of the recorded ones, and then the remaining time.
 */
static void divide(uint64_t waited, uint64_t voluntary, uint64_t involuntary,
                   const struct clock_rate *clock, struct port_waits *w)
{
	uint64_t known = w->blocked + w->preempted, rest = waited > known ? waited - known : 0;
	uint64_t blocked = w->blocked_count ? w->blocked / w->blocked_count : 0;
	uint64_t preempted = w->preempted_count ? w->preempted / w->preempted_count : 0;
	uint64_t guess, part;

	if (!blocked || !preempted)
		blocked = preempted = blocked | preempted ? blocked | preempted : 1;
	part = preempted * involuntary;
	guess = part + blocked * voluntary;
	if (known + guess > waited) { /* the recorded waits are too long as well */
		trim(share(known + guess - waited, known, known + guess), clock, w);
		known = w->blocked + w->preempted;
		rest = waited > known ? waited - known : 0;
	}
	part = share(rest, part, guess);
	w->preempted += part;
	w->preempted_count += (uint32_t)involuntary;
	w->blocked += rest - part;
	w->blocked_count += (uint32_t)voluntary;
	w->settled += rest - part;
}

static uint64_t beyond(uint64_t counted, uint64_t known)
{
	return counted > known ? counted - known : 0;
}

/*
 * The length of the interval minus its CPU time. The CPU clock is known at the latest settling. The
 * thread ran from there to `from`, since a switch would have settled it.
 */
static uint64_t waited_by_clock(const struct switches *s, const struct interval *i,
                                const struct reading *r, uint64_t later)
{
	uint64_t wall = r->now.ticks - s->sync - later, ran, waited;

	ran = clock_span_ticks(i->clock, beyond(r->cpu_ns, s->sync_cpu_ns));
	waited = wall > ran ? wall - ran : 0;
	return waited < i->to - i->from ? waited : i->to - i->from;
}

/*
 * Settles by the CPU clock after records were lost. The caller has released the ring before this
 * reading, so later switches have records. All time before the reading is settled here, also the
 * time after the interval's end.
 */
static void settle_by_clock(struct switches *s, struct interval *i, struct port_waits *w)
{
	struct reading r = take_reading(s, true);

	if (r.now.ticks > i->to) {
		w->late = r.now.ticks - i->to;
		i->to = r.now.ticks;
	}
	give_up_to(s, r.head);
	w->overflowed = true;
	divide(waited_by_clock(s, i, &r, 0), beyond(r.voluntary, s->voluntary),
	       beyond(r.involuntary, s->involuntary), i->clock, w);
	by_clock(s, &r);
}

/*
 * Releases the records that were counted. In a full ring the second record of a half pair never
 * comes (`in_vain`). In a vfork's child the parent's second record comes later.
 */
static void give_room(struct switches *s, const struct walk *k, uint64_t head, bool in_vain)
{
	give_up_to(s, k->out && in_vain ? head : k->at);
}

/*
 * A vfork's child uses its parent's ring, and the parent waits until the child has executed a
 * program or ended. All time after the parent's last record is the parent's waiting.
 */
static void count_parents_wait(const struct interval *i, const struct walk *k, struct port_waits *w)
{
	uint64_t out = ticks_from(i->clock, i->now, k->out);

	w->is_out = true;
	w->blocked += overlap(out, i->to, i->from, i->to);
}

void switches_settle(struct switches *s, const struct clock_rate *clock, uint64_t from, uint64_t to,
                     struct port_waits *w)
{
	struct interval i = {.clock = clock, .from = from, .to = to};
	struct walk k = {.at = s->tail};
	bool full, foreign, later;
	struct reading r;

	memset(w, 0, sizeof(*w));
	if (!s->ring || (*s->head == s->tail && !s->was_full))
		return;
	r = take_reading(s, false);
	i.now = r.now;
	full = s->was_full || s->bytes / 2 - (r.head - s->tail) <= RECORD_BYTES;
	later = count_pairs(s, &i, &k, r.head, w);
	foreign = (k.out || full) && (int)syscall(SYS_gettid) != s->tid;
	if (foreign && k.out)
		count_parents_wait(&i, &k, w);
	give_room(s, &k, r.head, full && !foreign);
	if (k.lost && s->lost_is_known) {
		s->lost_is_known = false;
		k.lost = false;
	}
	if ((full || k.lost) && !later && !foreign) {
		settle_by_clock(s, &i, w);
		s->lost_is_known = full;
		s->was_full = false;
	} else if (full || k.lost || foreign) {
		/*
		 * The clock belongs to another thread, or includes time that is not settled yet:
		 * continue from the previous values.
		 */
		s->sync += w->blocked + w->preempted;
		s->was_full = (full || k.lost) && !foreign;
	} else {
		uint64_t after = later_waits(s, clock, s->tail, r.head);

		trim(beyond(w->blocked + w->preempted, waited_by_clock(s, &i, &r, after)), clock,
		     w);
		s->sync = to;
		s->sync_cpu_ns = cpu_at(clock, r.now, r.cpu_ns, to, after);
	}
}

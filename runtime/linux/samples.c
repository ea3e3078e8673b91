/* SPDX-License-Identifier: MIT */
/*
 * samples: see samples.h. A sample has 16 bytes: a header and the address. A switch has 8. When the
 * ring is full, the kernel drops samples, and reports their number later in a LOST record. They all
 * belong to the interval that samples_take() ends, in which the thread's CPU clock tells their
 * number.
 */
#include "linux/samples.h"
#include "linux/clock.h"
#include "linux/uncancelled.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RECORD_BYTES 16
#define PERIOD_LEAST_NS 10000 /* the kernel's shortest period */
#define MEASURED 8            /* samples whose cost is measured */
#define MEASURE_PERIOD_NS 40000
#define MEASURE_NS 2000000 /* maximum duration of a measurement */

static struct perf_event_mmap_page *page_of(const struct samples *s)
{
	return s->ring;
}

static int ring_map(struct samples *s, int fd)
{
	s->bytes = 2 * (size_t)sysconf(_SC_PAGESIZE);
	s->ring = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s->ring == MAP_FAILED) {
		s->ring = NULL;
		return -errno;
	}
	s->head = (volatile uint64_t *)(void *)&page_of(s)->data_head;
	return 0;
}

int samples_open(struct samples *s, uint64_t period_ns)
{
	struct perf_event_attr attr;
	int saved = errno, fd, rc;

	memset(s, 0, sizeof(*s));
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = period_ns < PERIOD_LEAST_NS ? PERIOD_LEAST_NS : period_ns;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.exclude_hv = 1;
	attr.context_switch = 1; /* so that *head changes at switches, too */
	attr.watermark = 1;      /* no thread polls this event, so avoid wake-ups */
	attr.wakeup_watermark = UINT32_MAX;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
		errno = saved;
		return rc;
	}
	rc = ring_map(s, fd);
	/* The mapping keeps the event. */
	uncancelled_close(fd);
	s->period_ns = attr.sample_period;
	s->cpu_ns = clock_thread_cpu_ns();
	errno = saved;
	return rc;
}

void samples_forget(struct samples *s)
{
	memset(s, 0, sizeof(*s));
}

void samples_close(struct samples *s)
{
	int saved = errno;

	if (s->ring)
		munmap(s->ring, s->bytes);
	samples_forget(s);
	errno = saved;
}

static uint64_t word_at(const struct samples *s, uint64_t at)
{
	const char *data = (const char *)s->ring + s->bytes / 2;

	return *(const uint64_t *)(const void *)(data + (at & (s->bytes / 2 - 1) & ~7ull));
}

/* Counts the records before `head`. Returns the number of lost samples that they report. */
static uint64_t records_count(const struct samples *s, uint64_t head, uintptr_t low, uintptr_t high,
                              struct port_samples *out)
{
	uint64_t lost = 0;

	for (uint64_t at = s->tail; head - at >= RECORD_BYTES;) {
		uint64_t word = word_at(s, at), address = word_at(s, at + 8), size = word >> 48;

		if (size < 8 || size & 7 || size > head - at) /* not a valid record */
			break;
		if ((uint32_t)word == PERF_RECORD_LOST)
			lost += word_at(s, at + 16);
		else if ((uint32_t)word == PERF_RECORD_SAMPLE && address - low < high - low)
			out->hooks++;
		else if ((uint32_t)word == PERF_RECORD_SAMPLE)
			out->program++;
		at += size;
	}
	return lost;
}

void samples_take(struct samples *s, uintptr_t low, uintptr_t high, struct port_samples *out)
{
	uint64_t head, lost, cpu_ns = clock_thread_cpu_ns(), count;
	bool full;

	*out = (struct port_samples){0};
	if (!s->ring)
		return;
	head = __atomic_load_n(s->head, __ATOMIC_ACQUIRE);
	full = s->bytes / 2 - (head - s->tail) <= RECORD_BYTES;
	lost = records_count(s, head, low, high, out);
	if (lost && !s->lost_is_known)
		out->program += lost;
	if (lost)
		s->lost_is_known = false;
	count = (cpu_ns - s->cpu_ns) / s->period_ns;
	if (full) {
		if (count > out->program + out->hooks)
			out->program += count - (out->program + out->hooks);
		s->lost_is_known = true;
	}
	s->cpu_ns = cpu_ns;
	s->tail = head;
	/* Pairs with the kernel's load of data_tail before it writes new records. */
	__atomic_store_n(&page_of(s)->data_tail, head, __ATOMIC_RELEASE);
}

static void sort(uint64_t *v, unsigned count)
{
	for (unsigned i = 1; i < count; i++)
		for (unsigned k = i; k > 0 && v[k] < v[k - 1]; k--) {
			uint64_t other = v[k];

			v[k] = v[k - 1];
			v[k - 1] = other;
		}
}

/*
 * The mean of the middle gaps, so that neither an interrupt of another kind nor a first sample,
 * which is slower, changes it.
 */
static uint64_t middle(uint64_t *gaps, unsigned count)
{
	unsigned from = count / 4, to = count - count / 4;
	uint64_t sum = 0;

	sort(gaps, count);
	for (unsigned i = from; i < to; i++)
		sum += gaps[i];
	return to > from ? sum / (to - from) : 0;
}

/*
 * Reads the clock in a loop: a sample makes the interval between two readings longer. It may be
 * taken after a reading and before the head is loaded, so the interval ends at a further reading.
 */
uint64_t samples_cost(void)
{
	uint64_t gaps[MEASURED], before, head, begin = clock_thread_cpu_ns();
	unsigned count = 0;
	struct samples s;

	if (samples_open(&s, MEASURE_PERIOD_NS))
		return 0;
	head = *s.head;
	before = port_clock();
	for (unsigned i = 1; count < MEASURED; i++) {
		if (*s.head != head) {
			gaps[count++] = port_clock() - before;
			head = *s.head;
		}
		before = port_clock();
		if (!(i % 1024) && clock_thread_cpu_ns() - begin > MEASURE_NS)
			break;
	}
	samples_close(&s);
	return middle(gaps, count);
}

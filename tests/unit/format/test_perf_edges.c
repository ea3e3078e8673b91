/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes and counts in samples and in the sections of a file: at the limit, one beyond it, and far
 * beyond. Each input has an allocation of its exact size, so that sanitizers detect a read beyond
 * it.
 */
#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "check.h"
#include "format/perf/perf_data_feature.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_record.h"

#include <linux/perf_event.h>

#define ID 5
#define READ_FORMAT (PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID)

static void put(struct buf *b, uint64_t word)
{
	buf_add(b, &word, sizeof(word));
}

static void put_words(struct buf *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(b, 900 + 7 * i);
}

/* Each puts the field with `count` elements declared, and 3 there. */
static void put_read(struct buf *b, uint64_t count)
{
	put(b, count);
	put(b, 77); /* time enabled */
	put_words(b, 2 * 3);
}

static void put_chain(struct buf *b, uint64_t count)
{
	put(b, count);
	put_words(b, 3);
}

/* Bytes: the size itself has four, so 20 bytes end at a word. */
static void put_raw(struct buf *b, uint64_t count)
{
	uint32_t size = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;

	buf_add(b, &size, sizeof(size));
	buf_add(b, "twenty bytes of data", 20);
}

static void put_branches(struct buf *b, uint64_t count)
{
	put(b, count);
	put(b, 2); /* the hardware's index */
	put_words(b, 3 * sizeof(struct perf_branch_entry) / 8);
}

/* Branches are looked at only if a later field is read. */
static void put_branches_and_cgroup(struct buf *b, uint64_t count)
{
	put_branches(b, count);
	put(b, 4711);
}

static void put_stack(struct buf *b, uint64_t room)
{
	put(b, room);
	put_words(b, 2);
	put(b, 11); /* used */
}

static const struct {
	uint64_t type;
	void (*put)(struct buf *b, uint64_t count);
	uint64_t limit;
} fields[] = {
        {PERF_SAMPLE_READ, put_read, 3},
        {PERF_SAMPLE_CALLCHAIN, put_chain, 3},
        {PERF_SAMPLE_RAW, put_raw, 20},
        {PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_CGROUP, put_branches_and_cgroup, 3},
        {PERF_SAMPLE_STACK_USER, put_stack, 16},
};
#define FIELDS (sizeof(fields) / sizeof(*fields))

static void decoder_of(struct perf_decoder *d, uint64_t type)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof(attr),
	                               .sample_period = 1,
	                               .sample_type =
	                                       PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | type,
	                               .read_format = READ_FORMAT,
	                               .branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
	                               .sample_regs_user = 0x25,
	                               .sample_regs_intr = 0x61,
	                               .sample_stack_user = 16};
	uint64_t id = ID;

	perf_decoder_init(d);
	perf_decoder_add_attr(d, &attr, &id, 1);
	perf_decoder_seal(d);
}

static void begin_sample(struct buf *b)
{
	struct perf_event_header h = {.type = PERF_RECORD_SAMPLE};

	buf_clear(b);
	buf_add(b, &h, sizeof(h));
	put(b, ID);
	put(b, 0x1000); /* ip */
}

/* Decodes the first `size` bytes. */
static enum perf_decoded decoded(struct perf_decoder *d, const struct buf *b, size_t size,
                                 struct event *got)
{
	uint8_t *copy = xmalloc(size);
	enum perf_decoded how;
	uint16_t size16 = (uint16_t)size;

	memcpy(copy, b->data, size);
	memcpy(copy + 6, &size16, sizeof(size16));
	how = perf_decoder_decode(d, copy, size, got);
	free(copy);
	return how;
}

static void a_count_beyond_the_record_is_damage(void)
{
	for (size_t i = 0; i < FIELDS; i++) {
		uint64_t limit = fields[i].limit;
		const uint64_t beyond[] = {limit + 1,          limit + 8,
		                           UINT32_MAX,         UINT64_MAX,
		                           UINT64_MAX / 8 + 1, UINT64_MAX / 16 + 1,
		                           INT64_MAX / 8,      limit + (UINT64_C(1) << 61)};
		struct perf_decoder d;
		struct buf b = {0};
		struct event got;

		decoder_of(&d, fields[i].type);
		begin_sample(&b);
		fields[i].put(&b, limit);
		CHECK_EQ(decoded(&d, &b, b.size, &got), PERF_DECODED);
		for (size_t k = 0; k < sizeof(beyond) / sizeof(*beyond); k++) {
			begin_sample(&b);
			fields[i].put(&b, beyond[k]);
			CHECK_EQ(decoded(&d, &b, b.size, &got), PERF_DECODED_DAMAGED);
		}
		buf_done(&b);
		perf_decoder_done(&d);
	}
}

/* All fields that assay reads or skips, in the order of the kernel. */
static void a_sample_that_is_cut_anywhere_is_damaged(void)
{
	struct perf_decoder d;
	struct buf b = {0};
	struct event got;
	size_t whole = 0;

	decoder_of(&d, PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
	                       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
	                       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
	                       PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |
	                       PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP);
	begin_sample(&b);
	put_read(&b, 3);
	put_chain(&b, 3);
	put_raw(&b, 20);
	put_branches(&b, 3);
	put(&b, PERF_SAMPLE_REGS_ABI_64);
	put_words(&b, 3);
	put_stack(&b, 16);
	put(&b, 11); /* weight */
	put(&b, 12); /* data source */
	put(&b, 13); /* transaction */
	put(&b, PERF_SAMPLE_REGS_ABI_64);
	put_words(&b, 3);
	put(&b, 14); /* physical address */
	put(&b, 4711);
	CHECK_EQ(decoded(&d, &b, b.size, &got), PERF_DECODED);
	CHECK_EQ(got.sample.chain_count, 3);
	CHECK_EQ(got.sample.raw_size, 20);
	CHECK_EQ(got.sample.regs_mask, 0x25);
	CHECK_EQ(got.sample.stack_size, 11);
	CHECK_EQ(got.sample.cgroup, 4711);
	for (size_t size = 8; size < b.size; size++)
		whole += decoded(&d, &b, size, &got) == PERF_DECODED;
	CHECK_EQ(whole, 0);
	buf_done(&b);
	perf_decoder_done(&d);
}

/* ---- sections ---------------------------------------------------------- */

static bool section_decoded(unsigned number, const struct buf *b, size_t size, struct recording *r)
{
	perf_data_event_descs descs = {0};
	uint8_t *copy = xmalloc(size + !size);
	bool good;

	memcpy(copy, b->data, size);
	recording_init(r);
	good = perf_data_feature_decode(number, copy, size, r, &descs);
	perf_data_event_descs_done(&descs);
	free(copy);
	return good;
}

static const unsigned sections[] = {PERF_FEATURE_HOSTNAME, PERF_FEATURE_OSRELEASE,
                                    PERF_FEATURE_VERSION,  PERF_FEATURE_ARCH,
                                    PERF_FEATURE_NRCPUS,   PERF_FEATURE_CPUDESC,
                                    PERF_FEATURE_CMDLINE,  PERF_FEATURE_CLOCK_DATA};

/* Values that are all different. */
static void fill(struct recording *r)
{
	recording_init(r);
	r->hostname = xstrdup("a.host");
	r->os_release = xstrdup("6.18.5");
	r->version = xstrdup("other 1.25");
	r->arch = xstrdup("x86_64");
	r->cpu_description = xstrdup("a processor");
	r->cmdline = xstrdup("command -v 3");
	r->cpus_available = 19;
	r->cpus_online = 17;
	r->clockid = 7;
	r->clock_wall_ns = 1700000000123456789;
	r->clock_start_ns = 987654321;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void check_section(unsigned number, const struct recording *want)
{
	struct recording got;
	struct buf b = {0};
	size_t good = 0;

	perf_data_feature_encode(&b, number, want);
	CHECK(b.size > 0);
	CHECK(section_decoded(number, &b, b.size, &got));
	CHECK(same_text(got.hostname, number == PERF_FEATURE_HOSTNAME ? want->hostname : NULL));
	CHECK(same_text(got.os_release,
	                number == PERF_FEATURE_OSRELEASE ? want->os_release : NULL));
	CHECK(same_text(got.version, number == PERF_FEATURE_VERSION ? want->version : NULL));
	CHECK(same_text(got.arch, number == PERF_FEATURE_ARCH ? want->arch : NULL));
	CHECK(same_text(got.cpu_description,
	                number == PERF_FEATURE_CPUDESC ? want->cpu_description : NULL));
	CHECK(same_text(got.cmdline, number == PERF_FEATURE_CMDLINE ? want->cmdline : NULL));
	if (number == PERF_FEATURE_NRCPUS) {
		CHECK_EQ(got.cpus_available, 19);
		CHECK_EQ(got.cpus_online, 17);
	}
	if (number == PERF_FEATURE_CLOCK_DATA) {
		CHECK_EQ(got.clockid, 7);
		CHECK_EQ(got.clock_wall_ns, 1700000000123456789);
		CHECK_EQ(got.clock_start_ns, 987654321);
	}
	recording_done(&got);
	for (size_t size = 1; size < b.size; size++) {
		good += section_decoded(number, &b, size, &got);
		recording_done(&got);
	}
	CHECK_EQ(good, 0);
	buf_done(&b);
}

static void sections_that_are_cut_anywhere_are_damaged(void)
{
	struct recording want;

	fill(&want);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		check_section(sections[i], &want);
	recording_done(&want);
}

static void a_text_that_is_longer_than_its_section_is_damaged(void)
{
	static const uint32_t beyond[] = {1, 8, UINT32_MAX - 64};
	struct recording want, got;
	struct buf b = {0};

	fill(&want);
	for (size_t i = 0; i < sizeof(beyond) / sizeof(*beyond); i++) {
		uint32_t size;

		buf_clear(&b);
		perf_data_feature_encode(&b, PERF_FEATURE_ARCH, &want);
		memcpy(&size, b.data, sizeof(size));
		size += beyond[i];
		memcpy(b.data, &size, sizeof(size));
		CHECK(!section_decoded(PERF_FEATURE_ARCH, &b, b.size, &got));
		CHECK(!got.arch);
		recording_done(&got);
	}
	buf_done(&b);
	recording_done(&want);
}

int main(void)
{
	RUN(a_count_beyond_the_record_is_damage);
	RUN(a_sample_that_is_cut_anywhere_is_damaged);
	RUN(sections_that_are_cut_anywhere_are_damaged);
	RUN(a_text_that_is_longer_than_its_section_is_damaged);
	return check_end();
}

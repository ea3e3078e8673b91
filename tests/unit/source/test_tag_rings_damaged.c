/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of event tags whose contents are invalid, or that are shorter than their header says. */
#include "check.h"
#include "fixture.h"
#include "source/runtime/tag_rings.h"
#include "tag_rings_fixture.h"

#include <errno.h>
#include <unistd.h>

static void header_offsets_are_checked(void)
{
	static const struct {
		size_t at;
		uint64_t value;
		size_t size;
	} cases[] = {
	        {offsetof(struct assay_tags_header, version), 2, 4},
	        {offsetof(struct assay_tags_header, header_bytes), 8, 4},
	        {offsetof(struct assay_tags_header, packet_bytes), 0, 4},
	        {offsetof(struct assay_tags_header, packet_bytes), 1028, 4},
	        {offsetof(struct assay_tags_header, packet_bytes), UINT32_MAX & ~7u, 4},
	        {offsetof(struct assay_tags_header, rings_offset), TF_SIZE, 8},
	        {offsetof(struct assay_tags_header, rings_offset), UINT64_MAX - 7, 8},
	        {offsetof(struct assay_tags_header, states_offset), TF_SIZE - 8, 8},
	        {offsetof(struct assay_tags_header, states_offset), UINT64_MAX - 3, 8},
	        {offsetof(struct assay_tags_header, packet_count), UINT64_MAX, 8},
	        {offsetof(struct assay_tags_header, packet_count), UINT64_C(1) << 62, 8},
	        {offsetof(struct assay_tags_header, ring_count), UINT64_MAX, 8},
	        {offsetof(struct assay_tags_header, ring_count), ASSAY_TAGS_RINGS, 8},
	        {offsetof(struct assay_tags_header, text_bytes), UINT64_MAX, 8},
	        {offsetof(struct assay_tags_header, packets_offset), UINT64_MAX - 7, 8},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tf *f = tf_new(ASSAY_TAGS_STREAM);
		struct tag_rings *rings = NULL;
		struct error err = {0};
		int rc;

		memcpy(f->bytes + cases[i].at, &cases[i].value, cases[i].size);
		rc = tag_rings_open(&rings, tf_put(f), &err);
		if (rc != (i ? -EINVAL : -EPROTONOSUPPORT))
			printf("# case %zu\n", i);
		CHECK_EQ(rc, i ? -EINVAL : -EPROTONOSUPPORT);
		CHECK(!rings && strstr(err.text, "12-34-0.tags"));
		free(f);
	}
}

static void damaged_packets_are_counted(void)
{
	static const struct {
		size_t at;
		uint64_t value;
		size_t size;
	} cases[] = {
	        {offsetof(struct assay_tags_packet, magic), 1, 4},
	        {offsetof(struct assay_tags_packet, content_bits), UINT64_MAX, 8},
	        {offsetof(struct assay_tags_packet, content_bits), 64, 8},
	        {offsetof(struct assay_tags_packet, content_bits), TF_BYTES * 8 + 64, 8},
	        {offsetof(struct assay_tags_packet, content_bits), 1030, 8},
	        {offsetof(struct assay_tags_packet, begin), UINT64_MAX, 8},
	        {offsetof(struct assay_tags_packet, tid), 0xffffffff, 4},
	        {offsetof(struct assay_tags_packet, reserved), ASSAY_TAGS_RINGS, 8},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tf *f = tf_new(ASSAY_TAGS_STREAM);
		struct tag_rings_packet p;
		struct tag_rings *rings;
		struct error err = {0};

		tf_fill(f, 0, 0, 0, 100, 3, 2);
		tf_fill(f, 1, 0, 1, 200, 3, 2);
		memcpy((char *)tf_packet(f, 0) + cases[i].at, &cases[i].value, cases[i].size);
		rings = tf_open(f);
		CHECK_EQ(tag_rings_drain(rings, &p, &err), 1);
		CHECK_EQ(p.header.sequence, 1);
		CHECK_EQ(tag_rings_drain(rings, &p, &err), 0);
		CHECK(tag_rings_damaged(rings) > 0);
		tag_rings_close(rings);
		free(f);
	}
}

static void files_that_are_cut_short_end(void)
{
	struct tf *f = tf_new(ASSAY_TAGS_STREAM);
	struct tag_rings_packet p;
	struct tag_rings *rings;
	struct error err = {0};
	size_t length;

	tf_fill(f, 0, 0, 0, 100, 3, 2);
	tf_fill(f, 3, 0, 1, 200, 3, 2);
	rings = tf_open(f);
	CHECK(!truncate(fixture_path("12-34-0.tags"), TF_PACKETS_AT + 3 * TF_BYTES + 200));
	CHECK_EQ(tag_rings_next(rings, &p, &err), 1);
	CHECK_EQ(p.header.begin, 100);
	CHECK_EQ(tag_rings_next(rings, &p, &err), 0);
	CHECK(!truncate(fixture_path("12-34-0.tags"), TF_TEXT_AT + 3));
	tag_rings_rewind(rings);
	CHECK_EQ(tag_rings_next(rings, &p, &err), 0);
	tag_rings_text(rings, &length);
	CHECK_EQ(length, 0);
	CHECK_EQ(tag_rings_look(rings, &err), 0);
	CHECK(!truncate(fixture_path("12-34-0.tags"), 100));
	CHECK_EQ(tag_rings_look(rings, &err), -EINVAL);
	CHECK_EQ(tag_rings_next(rings, &p, &err), 0);
	tag_rings_close(rings);
	free(f);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(header_offsets_are_checked);
	RUN(damaged_packets_are_counted);
	RUN(files_that_are_cut_short_end);
	fixture_end();
	return check_end();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The triggers as the capture device finds them, on instructions as an assembler encodes them. */
#include "trigger.h"

#include "assay/tags_wire.h"
#include "check.h"

#include <string.h>

static void put(uint8_t *to, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (uint8_t)(word >> 8 * i);
}

/* The tag of two instructions of arm64; 0: no trigger. */
static uint32_t of_arm64(uint32_t first, uint32_t second, size_t size)
{
	uint8_t bytes[8];
	uint32_t tag = 0;

	put(bytes, first);
	put(bytes + 4, second);
	return trigger_arm64(bytes, size, &tag) ? tag : 0;
}

static void two_instructions_of_arm64_are_a_tag(void)
{
	/* hint #98; movz xzr, #0x1234, lsl #48 */
	CHECK_EQ(of_arm64(0xd5032c5f, 0xd2e2469f, 8), 2u << 19 | 7u << 16 | 0x1234);
	/* hint #96; movn xzr, #2: the first tag */
	CHECK_EQ(of_arm64(0xd5032c1f, 0x9280005f, 8), ASSAY_TAG_FIRST);
	/* hint #127; movn xzr, #0xefff, lsl #48, and with movz: reserved tags */
	CHECK_EQ(of_arm64(0xd5032fff, 0x92fdffff, 8), ASSAY_TAG_LAST & ~(1u << 18));
	CHECK_EQ(of_arm64(0xd5032fff, 0xd2fdffff, 8), ASSAY_TAG_LAST);
	CHECK_EQ(of_arm64(0xd5032fff, 0xd2fe001f, 8), 0);
	/* hint #96; movn xzr, #0: no tag */
	CHECK_EQ(of_arm64(0xd5032c1f, 0x9280001f, 8), 0);
}

static void other_instructions_of_arm64_are_no_trigger(void)
{
	const uint32_t hint = 0xd5032c5f, move = 0xd2e2469f;

	CHECK(of_arm64(hint, move, 8));
	CHECK_EQ(of_arm64(hint, move, 4), 0);
	CHECK_EQ(of_arm64(move, hint, 8), 0);
	CHECK_EQ(of_arm64(0xd503245f, move, 8), 0); /* hint #34: BTI c */
	CHECK_EQ(of_arm64(0xd503281f, move, 8), 0); /* hint #64 */
	CHECK_EQ(of_arm64(hint, 0xd2800020, 8), 0); /* movz x0, #1 */
	CHECK_EQ(of_arm64(hint, 0xf280003f, 8), 0); /* movk xzr, #1 */
	CHECK_EQ(of_arm64(hint, 0x5280003f, 8), 0); /* movz wzr, #1 */
}

static uint32_t of_x86_64(const uint8_t *bytes, size_t size)
{
	uint32_t tag = 0;

	return trigger_x86_64(bytes, size, &tag) ? tag : 0;
}

static void a_long_nop_with_the_mark_is_a_tag(void)
{
	uint8_t nop[8] = {0x0f, 0x1f, 0x84, 0x00, 0x34, 0x12, 0x07, 0x5a};

	CHECK_EQ(of_x86_64(nop, 8), 0x71234);
	CHECK_EQ(of_x86_64(nop, 7), 0);
	nop[7] = 0; /* an alignment */
	CHECK_EQ(of_x86_64(nop, 8), 0);
	put(nop + 4, 0x5a000000u | ASSAY_TAG_PROCESS);
	CHECK_EQ(of_x86_64(nop, 8), 0);
	CHECK(process_x86_64(nop, 8));
}

int main(void)
{
	RUN(two_instructions_of_arm64_are_a_tag);
	RUN(other_instructions_of_arm64_are_no_trigger);
	RUN(a_long_nop_with_the_mark_is_a_tag);
	return check_end();
}

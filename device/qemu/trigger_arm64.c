/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trigger for arm64: two instructions without an effect, which no compiler creates.
 *
 *	HINT #(96 + tag[23:19])				D5032C1F and five bits from bit 5 on
 *	MOVZ or MOVN XZR, #tag[15:0], LSL #(16 * tag[17:16])	tag[18]: MOVZ
 *
 * HINT has seven bits, and a processor executes the values from 96 on as NOP, since they have no
 * meaning yet. That is too few for a tag and a mark, so the second instruction, which writes to
 * the register zero, has 19 bits of the tag. Both are within eight aligned bytes (.p2align 3), so
 * that they are in one page and QEMU translates them together. No device uses this yet: the
 * compiler plugin has no trigger for arm64.
 */
#include "trigger.h"

#include "assay/tags_wire.h"

#define HINT 0xd5032c1fu /* HINT #96 */
#define HINT_MASK 0xfffffc1fu
#define MOVE 0x9280001fu /* MOVN XZR, #0 */
#define MOVE_MASK 0xbf80001fu
#define MOVZ_BIT 30

/* Instructions are little-endian, also where data is big-endian. */
static uint32_t word_at(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

bool trigger_arm64(const uint8_t *instructions, size_t size, uint32_t *tag)
{
	uint32_t hint, move;

	if (size < 8)
		return false;
	hint = word_at(instructions);
	move = word_at(instructions + 4);
	if ((hint & HINT_MASK) != HINT || (move & MOVE_MASK) != MOVE)
		return false;
	*tag = (hint >> 5 & 31) << 19 | (move >> MOVZ_BIT & 1) << 18 | (move >> 5 & 0x3ffff);
	return *tag && *tag < ASSAY_TAG_RESERVED;
}

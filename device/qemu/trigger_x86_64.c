/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The long NOP of include/assay/tags.h: 0F 1F 84 00, then the tag and the magic. */
#include "trigger.h"

#include "assay/tags.h"
#include "assay/tags_wire.h"

#include <string.h>

/* The tag of a long NOP with the magic; 0: another instruction. */
static uint32_t tag_of(const uint8_t *instruction, size_t size)
{
	static const uint8_t nop[4] = {0x0f, 0x1f, 0x84, 0x00};
	uint32_t word;

	if (size != 8 || memcmp(instruction, nop, sizeof(nop)))
		return 0;
	memcpy(&word, instruction + 4, sizeof(word));
	return word >> ASSAY_TAGS_TAG_BITS == ASSAY_TAGS_NOP_MAGIC ? word & ASSAY_TAGS_TAG_MASK : 0;
}

bool trigger_x86_64(const uint8_t *instruction, size_t size, uint32_t *tag)
{
	*tag = tag_of(instruction, size);
	return *tag && *tag < ASSAY_TAG_RESERVED;
}

bool process_x86_64(const uint8_t *instruction, size_t size)
{
	return tag_of(instruction, size) == ASSAY_TAG_PROCESS;
}

bool halts_x86_64(const uint8_t *instruction, size_t size)
{
	return size == 1 && *instruction == 0xf4;
}

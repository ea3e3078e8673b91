/* SPDX-License-Identifier: MIT */
/*
 * got_x86_64: finds the uses of an image's GOT slots in its code. Each group of four bytes whose
 * value is the distance from its end to a slot counts as a use. A use after the opcode of an
 * indirect call or jump (ff 15, ff 25) is a call. Data that looks like a use can only add a use,
 * and a slot with other uses is not changed.
 */
#include "libraries/patch.h"

#include <string.h>

static void scan(const unsigned char *code, const unsigned char *end, const uintptr_t *first,
                 size_t count, unsigned char *marks)
{
	for (const unsigned char *p = code + 2; end - p >= 4; p++) {
		uintptr_t place;
		int32_t distance;

		memcpy(&distance, p, sizeof(distance));
		place = (uintptr_t)p + 4 + (uintptr_t)(intptr_t)distance - (uintptr_t)first;
		if (place >= count * sizeof(*first) || place % sizeof(*first))
			continue;
		if (p[-2] == 0xff && (p[-1] == 0x15 || p[-1] == 0x25))
			marks[place / sizeof(*first)] |= GOT_CALLED;
		else
			marks[place / sizeof(*first)] |= GOT_TAKEN;
	}
}

void got_uses(const struct loaded *image, const uintptr_t *first, size_t count,
              unsigned char *marks)
{
	for (unsigned i = 0; i < image->segment_count; i++) {
		const ElfW(Phdr) *p = &image->segments[i];
		const unsigned char *code = (const void *)(image->base + p->p_vaddr);

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && p->p_flags & PF_R)
			scan(code, code + p->p_filesz, first, count, marks);
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* transfer: calls, jumps and returns of x86. */
#include "transfer.h"

#include <stdbool.h>
#include <string.h>

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65: /* segments, hints */
	case 0x66:
	case 0x67:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return (byte & 0xf0) == 0x40; /* REX */
	}
}

/* The last `bytes` bytes, with a sign. */
static int64_t distance(const uint8_t *instruction, size_t size, size_t bytes)
{
	int32_t far;

	if (bytes == 1)
		return (int8_t)instruction[size - 1];
	memcpy(&far, instruction + size - 4, sizeof(far));
	return far;
}

static struct transfer of_group_ff(uint8_t modrm)
{
	switch (modrm >> 3 & 7) {
	case 2:
	case 3:
		return (struct transfer){.kind = TRANSFER_CALL};
	case 4:
	case 5:
		return (struct transfer){.kind = TRANSFER_INDIRECT_JUMP};
	default:
		return (struct transfer){0};
	}
}

static struct transfer of_two_bytes(const uint8_t *instruction, size_t size, uint8_t second)
{
	if (second == 0x07 || second == 0x35) /* sysret, sysexit */
		return (struct transfer){.kind = TRANSFER_RETURN_FROM_INTERRUPT};
	if ((second & 0xf0) == 0x80 && size >= 6) /* jcc */
		return (struct transfer){TRANSFER_JUMP, distance(instruction, size, 4)};
	return (struct transfer){0};
}

struct transfer transfer_x86_64(const uint8_t *instruction, size_t size)
{
	size_t at = 0;

	while (at + 1 < size && is_prefix(instruction[at]))
		at++;
	if (at >= size)
		return (struct transfer){0};
	switch (instruction[at]) {
	case 0xe8:
	case 0x9a:
		return (struct transfer){.kind = TRANSFER_CALL};
	case 0xe9:
		return size - at < 5
		               ? (struct transfer){0}
		               : (struct transfer){TRANSFER_JUMP, distance(instruction, size, 4)};
	case 0xeb:
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return (struct transfer){TRANSFER_JUMP, distance(instruction, size, 1)};
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
		return (struct transfer){.kind = TRANSFER_RETURN};
	case 0xcf:
		return (struct transfer){.kind = TRANSFER_RETURN_FROM_INTERRUPT};
	case 0xff:
		return at + 1 < size ? of_group_ff(instruction[at + 1]) : (struct transfer){0};
	case 0x0f:
		return at + 1 < size ? of_two_bytes(instruction, size, instruction[at + 1])
		                     : (struct transfer){0};
	default:
		if ((instruction[at] & 0xf0) == 0x70) /* jcc, one byte */
			return (struct transfer){TRANSFER_JUMP, distance(instruction, size, 1)};
		return (struct transfer){0};
	}
}

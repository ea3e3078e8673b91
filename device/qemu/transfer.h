/* SPDX-License-Identifier: GPL-2.0-or-later */
/* transfer: decodes the instructions that continue elsewhere. */
#ifndef ASSAY_DEVICE_TRANSFER_H
#define ASSAY_DEVICE_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

enum transfer_kind {
	TRANSFER_NONE,
	TRANSFER_CALL,
	TRANSFER_JUMP,          /* conditional or not */
	TRANSFER_INDIRECT_JUMP, /* its target is not in the instruction */
	TRANSFER_RETURN,
	TRANSFER_RETURN_FROM_INTERRUPT, /* iret, and sysret, sysexit */
};

struct transfer {
	enum transfer_kind kind;
	int64_t distance; /* TRANSFER_JUMP: from the next instruction to the target */
};

/*
 * Code of 64 and of 32 bits. In 32-bit code a REX prefix is an instruction of one byte (inc or
 * dec), so the size of the instruction distinguishes them.
 */
struct transfer transfer_x86_64(const uint8_t *instruction, size_t size);

#endif

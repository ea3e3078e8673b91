/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trigger: recognises the triggers of the compiler plugin in the guest's code. */
#ifndef ASSAY_DEVICE_TRIGGER_H
#define ASSAY_DEVICE_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the instruction is a trigger; *tag: its tag. */
bool trigger_x86_64(const uint8_t *instruction, size_t size, uint32_t *tag);
/* The same for the two instructions of arm64's trigger (trigger_arm64.c). */
bool trigger_arm64(const uint8_t *instructions, size_t size, uint32_t *tag);
/* True for the trigger after which three instructions read what ASSAY_TAG_PROCESS describes. */
bool process_x86_64(const uint8_t *instruction, size_t size);
/* True for an instruction that halts the CPU until the next interrupt. */
bool halts_x86_64(const uint8_t *instruction, size_t size);

#endif

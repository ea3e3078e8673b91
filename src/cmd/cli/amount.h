/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * amount: sizes and durations in options: a number and a unit, without a space.
 *
 *	64k, 64M, 1.5GB		bytes; powers of 1000
 *	500ms, 10s, 5min, 12h, 30d, 2w, 1y
 *
 * The value is above 0, and at most 1e15 bytes or 100 years. False: the text is not such an amount;
 * the value is then unchanged. Any thread. Uses: nothing.
 */
#ifndef ASSAY_CMD_CLI_AMOUNT_H
#define ASSAY_CMD_CLI_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

bool amount_bytes(const char *text, uint64_t *bytes);
bool amount_ns(const char *text, uint64_t *ns);

#endif

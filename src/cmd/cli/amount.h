/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * amount: sizes and lengths of time as options take them: a number and a unit, without a blank.
 *
 *	64k, 64M, 1.5GB		bytes; powers of 1000
 *	500ms, 10s, 5min, 12h, 30d, 2w, 1y
 *
 * More than nothing, at most 1e15 bytes or 100 years. False: the text is no such amount, and
 * the value is left as it was. Any thread. Uses: nothing.
 */
#ifndef ASSAY_CMD_CLI_AMOUNT_H
#define ASSAY_CMD_CLI_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

bool amount_bytes(const char *text, uint64_t *bytes);
bool amount_ns(const char *text, uint64_t *ns);

#endif

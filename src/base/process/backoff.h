/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * backoff: the pause before the next attempt, in ms.
 *
 * It doubles with each attempt from `first_ms` up to `most_ms`, and a random part of up to a half
 * is subtracted, so that many senders do not return at the same moment. A back end that asks for a
 * longer pause gets it, up to BACKOFF_ASKED_MAX_MS, with a random part of up to a tenth added.
 * Stateless. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_PROCESS_BACKOFF_H
#define ASSAY_BASE_PROCESS_BACKOFF_H

#include <stdint.h>

#define BACKOFF_ASKED_MAX_MS UINT64_C(600000)

/* `attempts`: that failed, at least 1. `asked_ms`: by the back end, 0: none. */
uint64_t backoff_ms(unsigned attempts, uint64_t first_ms, uint64_t most_ms, uint64_t asked_ms);

#endif

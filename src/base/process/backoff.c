/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process/backoff.h"

#include <sys/random.h>
#include <sys/types.h>

static uint64_t random_below(uint64_t limit)
{
	uint64_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		return 0;
	return limit ? bits % limit : 0;
}

uint64_t backoff_ms(unsigned attempts, uint64_t first_ms, uint64_t most_ms, uint64_t asked_ms)
{
	uint64_t pause = first_ms;

	while (attempts-- > 1 && pause < most_ms)
		pause *= 2;
	if (pause > most_ms)
		pause = most_ms;
	pause -= random_below(pause / 2 + 1);
	if (asked_ms > BACKOFF_ASKED_MAX_MS)
		asked_ms = BACKOFF_ASKED_MAX_MS;
	return asked_ms > pause ? asked_ms + random_below(asked_ms / 10 + 1) : pause;
}

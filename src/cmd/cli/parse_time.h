/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_time: parses times in local time:
 *
 *	2026-11-21T10:00[:30[.5]][Z]	also with a blank, also the day alone (its beginning);
 *					+01:00 for Z, as date -Is has it
 *	10:00[:30]			today
 *	yesterday, today [10:00]	0:00 where no time of day is given
 *	-2h, -30min, -90s, -7d, -2w	before now
 *	now
 *	@1700000000[.5]			seconds since 1970
 *
 * Times in ns since 1970. Errors name the option and what is accepted. Local time is by TZ.
 * Uses: base.
 */
#ifndef ASSAY_CMD_CLI_PARSE_TIME_H
#define ASSAY_CMD_CLI_PARSE_TIME_H

#include "base/memory/buf.h"
#include "base/error.h"

#include <stdint.h>

/* `option`: "--from", for errors. An ambiguous or non-existent time: -EINVAL. */
int when_parse(const char *option, const char *text, uint64_t now_ns, uint64_t *time_ns,
               struct error *err);

#endif

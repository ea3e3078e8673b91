/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_timed: writes samples with their times, in the formats that contain them. Returns the exit
 * status. Prints errors, and a warning before a file of hundreds of MB. Uses: export, profile.
 */
#ifndef ASSAY_CMD_EXPORT_EXPORT_TIMED_H
#define ASSAY_CMD_EXPORT_EXPORT_TIMED_H

#include "cmd/export/export.h"
#include "profile/profile.h"
#include "view/waits/wait_report.h"

/*
 * `rows`: see named_of_samples(). `waits`: see struct timed_samples. `limit`: samples, and waits;
 * 0: all.
 */
int export_timed(const struct export_target *target, const struct symbolized_profile *n,
                 const struct profile *p, const uint32_t *rows, const struct wait_report *waits,
                 uint64_t limit);

#endif

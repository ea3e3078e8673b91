/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_lanes: makes the waits of a page (output/html/page_waits.h) from a report on waits.
 *
 * All threads have lanes, since the path that decided the elapsed time goes through threads that
 * are not selected, too. wait_lanes_has() says whether a profile has what they need: single waits
 * with their paths or with wake-ups. Nothing fails. One thread. Uses: output, view.
 */
#ifndef ASSAY_CMD_REPORT_WAIT_LANES_H
#define ASSAY_CMD_REPORT_WAIT_LANES_H

#include "output/html/page_waits.h"
#include "view/waits/wait_report.h"

bool wait_lanes_has(const struct profile *p);
/* `waits` is initialized by this, and freed with page_waits_done(). */
void wait_lanes_fill(struct page_waits *waits, struct wait_report *r);

#endif

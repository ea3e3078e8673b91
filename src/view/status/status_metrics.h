/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_metrics: the state of background sessions in the text format of Prometheus (0.0.4).
 *
 * docs/AGENT.md lists the metrics. Nothing fails. Stateless. Uses: base, event.
 */
#ifndef ASSAY_VIEW_STATUS_STATUS_METRICS_H
#define ASSAY_VIEW_STATUS_STATUS_METRICS_H

#include "base/memory/buf.h"
#include "event/session_account.h"

void status_metrics(struct buf *out, const struct session_account *const *accounts, size_t count);

#endif

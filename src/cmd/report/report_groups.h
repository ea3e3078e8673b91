/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_groups: the rules for --sort group: those of --groups FILE, then those of assay.
 *
 * report_groups_use() reads them if the request has the key; report_groups_done() after the report.
 * One thread. Uses: format, view.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_GROUPS_H
#define ASSAY_CMD_REPORT_REPORT_GROUPS_H

#include "base/error.h"
#include "view/groups/group_rules.h"
#include "view/request.h"

/* `file` may be NULL. Errors name the file and the line. */
int report_groups_use(struct group_rules **out, const char *file, const struct report_request *q,
                      struct error *err);
void report_groups_done(struct group_rules *r);

#endif

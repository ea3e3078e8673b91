/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_groups: the rules that map functions to groups, for a request.
 *
 * report_groups_use() reads the rules if the request needs them: those of --groups FILE, then those
 * of assay. report_groups_done() after the report. One thread. Uses: format, view.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_GROUPS_H
#define ASSAY_CMD_REPORT_REPORT_GROUPS_H

#include "base/error.h"
#include "view/groups/group_rules.h"
#include "view/request.h"

/* `file` may be NULL. Errors name the file and the line. */
int report_groups_use(struct report_request *q, const char *file, struct error *err);
void report_groups_done(struct report_request *q);

/* shipped: with the rules of assay after those of the file. The caller frees *out. */
int report_groups_read(struct group_rules **out, const char *file, bool shipped, struct error *err);

#endif

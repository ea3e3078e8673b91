/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account_remarks: sentences that explain the residual of an account and name missing figures, for
 * account.c. Nothing fails. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_ACCOUNT_ACCOUNT_REMARKS_H
#define ASSAY_VIEW_ACCOUNT_ACCOUNT_REMARKS_H

#include "base/memory/xalloc.h"
#include "view/account/account.h"

#define account_remark(a, ...) vec_push(&(a)->remarks, xasprintf(__VA_ARGS__))

void account_explain_residual(struct account_view *a);
void account_explain_short_threads(struct account_view *a, uint64_t period_ns);
/* part: a recording was read in part. */
void account_explain_missing(struct account_view *a, bool part);
void account_explain_unread(struct view *v, const struct kernel_exits *e, uint8_t event,
                            struct account_view *a);

#endif

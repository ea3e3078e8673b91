/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ledger_line: the closing account in one line: all terms as shares of the whole.
 *
 *	user 34.2  kernel 12.1  irq 0.4  idle 52.9  steal 0.1  unobs 0.2  resid 0.1 % of 20.00 s
 *
 * exit follows user if there is such time. The terms are those of account.h; the residual is
 * measured, not a remainder of rounded figures. No function fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_ACCOUNT_LEDGER_LINE_H
#define ASSAY_VIEW_ACCOUNT_LEDGER_LINE_H

#include "view/account/account.h"

#define LEDGER_LINE_WIDE 110
#define LEDGER_LINE_NARROW 80 /* of a usual terminal */

/* `width`: of the line; if it is less than LEDGER_LINE_WIDE, some names are short, and the whole is
 * left out. If the line is still too long, gaps are of one blank, then terms of 0.0 are left out.
 */
void ledger_line(const struct account_view *a, unsigned width, struct buf *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_waits: puts the waits of a recording into the tables of a comparison.
 *
 * A row is a cause: the kind (as its image), the object (as its function) and the name of the
 * waiting thread (as its mode). Its value is the blocked time, its count the number of waits. The
 * runnable time has rows of its own, of the kind "cpu": it depends on the other load of the
 * machine, and not on the object. The path of a cause is the call path of the program that waited,
 * so that time that moved between causes within a function is found.
 *
 * Objects are matched by texts without numbers that differ in each run (addresses, inodes, process
 * numbers, local ports). Nothing fails. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_WAITS_H
#define ASSAY_VIEW_DIFF_DIFF_WAITS_H

#include "view/diff/diff_runs.h"
#include "view/waits/wait_report.h"

/* Local ports from this number on are given out by the kernel. */
#define DIFF_PORT_ANY 32768

void diff_add_waits(struct diff_runs *t, uint32_t run, struct wait_report *r);

/*
 * The name of an object without what differs in each run: "mutex in take_table" for "mutex at
 * 0x7f12..", "pipe" for "pipe:[42]", "tcp 127.0.0.1:5432 127.0.0.1:*". `place`: the function that
 * waits; NULL: not known.
 */
void diff_object_text(const char *name, const char *place, struct buf *out);

/* The releaser of most of the time that a side waited in this row; NULL: none is known. */
const char *diff_releaser(const struct diff_runs *t, uint32_t row, enum diff_side side);

#endif

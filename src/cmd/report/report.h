/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the page of `assay report --html`, for a command that shows it in another way. Messages
 * to stderr. One thread. Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_H
#define ASSAY_CMD_REPORT_REPORT_H

#include "cmd/load/load.h"

/* Appends the data of the page on the recordings, or the store (output/html/page.h). The exit
 * status; errors are printed. */
int report_page_data(const struct load_options *load, struct buf *out);

#endif

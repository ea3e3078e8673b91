/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_limit: the value of --process-limit, which processes have tables of their own.
 *
 *	2  2%  5ms  user:1%  kernel:5ms  2%,user:10%,kernel:5ms
 *
 * A share of the time in percent, or CPU time. Uses: base, view.
 */
#ifndef ASSAY_CMD_REPORT_PROCESS_LIMIT_H
#define ASSAY_CMD_REPORT_PROCESS_LIMIT_H

#include "base/error.h"
#include "view/request.h"

/* `text` NULL: the default, 1 %. */
int process_limit_parse(const char *text, struct process_limits *limits, struct error *err);

#endif

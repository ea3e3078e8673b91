/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waits_syscalls: prints the system calls of a recording. Uses: cmd/cli, view. */
#ifndef ASSAY_CMD_WAITS_WAITS_SYSCALLS_H
#define ASSAY_CMD_WAITS_WAITS_SYSCALLS_H

#include "cmd/cli/style.h"
#include "profile/profile.h"
#include "view/request.h"

/*
 * `file`: the name of the recording; `all`: all processes; `calls`: the names of the calls that are
 * shown, empty: all. Returns the exit status; errors are printed.
 */
int waits_syscalls_print(const struct profile *p, const char *file, const struct report_request *q,
                         bool all, const struct filter_list *calls,
                         const struct style_options *style);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls: `assay calls` and its subcommands, one const each.
 * Uses: as command.h.
 */
#ifndef ASSAY_CMD_CALLS_CALLS_H
#define ASSAY_CMD_CALLS_CALLS_H

#include "cmd/cli/command.h"

extern const struct command cmd_calls;
extern const struct command calls_list, calls_get, calls_reset; /* calls_control.c */

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls: `assay calls` and the commands of its own, one const each.
 * Uses: what command.h uses.
 */
#ifndef ASSAY_CMD_CALLS_CALLS_H
#define ASSAY_CMD_CALLS_CALLS_H

#include "cmd/cli/command.h"

extern const struct command cmd_calls;
extern const struct command calls_list, calls_get, calls_reset; /* calls_control.c */

#endif

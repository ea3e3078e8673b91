/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags: `assay tags` and its subcommands, one const each (tags_trace.h has one more). Uses: as
 * command.h.
 */
#ifndef ASSAY_CMD_TAGS_TAGS_H
#define ASSAY_CMD_TAGS_TAGS_H

#include "cmd/cli/command.h"

/* -o DIR, of commands that write a trace; the offset of the INCLUDE is a const char *. */
extern const struct option tags_output_option_table[];

extern const struct command cmd_tags;
extern const struct command tags_list, tags_get, tags_capture; /* tags_control.c */
extern const struct command tags_import, tags_names, tags_flags;

#endif

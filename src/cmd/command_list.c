/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_list: the commands, in the order of help. */
#include "cmd/cli/command.h"

extern const struct command cmd_start, cmd_status, cmd_snapshot, cmd_stop;
extern const struct command cmd_record, cmd_report, cmd_annotate, cmd_diff, cmd_intervals,
        cmd_calls, cmd_reconcile, cmd_tags, cmd_doctor, cmd_export, cmd_help, cmd_sql, cmd_top,
        cmd_waits, cmd_watch, cmd_view, cmd_store, cmd_agent;

const struct command *const commands[] = {
        &cmd_record,    &cmd_start,     &cmd_status,   &cmd_snapshot, &cmd_stop, &cmd_top,
        &cmd_report,    &cmd_view,      &cmd_annotate, &cmd_waits,    &cmd_diff, &cmd_watch,
        &cmd_reconcile, &cmd_intervals, &cmd_calls,    &cmd_tags,     &cmd_sql,  &cmd_export,
        &cmd_store,     &cmd_agent,     &cmd_doctor,   &cmd_help,     NULL,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_command: the end of a COMMAND that was recorded.
 *
 * Messages go to stderr. One thread. Uses: base, launch, session.
 */
#ifndef ASSAY_CMD_SESSION_RECORD_COMMAND_H
#define ASSAY_CMD_SESSION_RECORD_COMMAND_H

#include "session/session.h"

/*
 * Waits for a COMMAND that still runs after sampling, for example because the duration is over.
 * Returns its exit status, as in a shell. `name`: of assay's command, for messages. `quiet`: only
 * errors.
 */
int record_command_status(const char *name, struct session_result *r, bool quiet);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_lock: one agent on a machine, whichever user runs it.
 *
 * The lock is an abstract socket of a fixed name, which the kernel removes with its process. It
 * belongs to a network namespace: agents in two of them do not see each other. A process of another
 * user that may not sample the machine is no agent, and does not keep one from starting. The
 * descriptor is the lock; a child must close it. One thread. Uses: base.
 */
#ifndef ASSAY_CMD_AGENT_AGENT_LOCK_H
#define ASSAY_CMD_AGENT_AGENT_LOCK_H

#include "base/error.h"

/* *fd: -1 if the name is held by a process that is no agent. -EEXIST: an agent runs. */
int agent_lock_take(int *fd, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_lock: one agent on a machine.
 *
 * The lock of root's agent is the file /run/assay.agent, that of another user the file assay.agent
 * in the directory of its sessions (session_directory.h). The files have mode 0600, and other users
 * can write to neither directory, so no other user can hold a lock. The agent of root looks at the
 * lock of the service (deploy/assay-agent.service), and all agents look at the lock of root:
 * /proc/locks names the process that holds a lock, so a file that this user cannot open is enough.
 * An agent of a user without rights does not keep root's agent from starting. Agents with a /run of
 * their own (containers) do not see each other.
 *
 * The lock belongs to this process: children do not have it. The descriptor must be the only one of
 * the file. One thread. Uses: base, session.
 */
#ifndef ASSAY_CMD_AGENT_AGENT_LOCK_H
#define ASSAY_CMD_AGENT_AGENT_LOCK_H

#include "base/error.h"

/* -EEXIST: an agent runs. */
int agent_lock_take(int *fd, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_calls: checks what `assay calls` can do on this machine.
 *
 * No function fails. One thread. Uses: session.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_CALLS_H
#define ASSAY_CMD_DOCTOR_DOCTOR_CALLS_H

#include "cmd/doctor/findings.h"

/* Adds findings on the runtime library, on waiting time, and on the directory for tables. */
void doctor_calls(struct findings *f);

#endif

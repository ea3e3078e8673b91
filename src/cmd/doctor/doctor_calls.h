/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_calls: what `assay calls` can do here.
 *
 * Nothing fails. One thread. Uses: session.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_CALLS_H
#define ASSAY_CMD_DOCTOR_DOCTOR_CALLS_H

#include "cmd/doctor/findings.h"

/* Findings on the runtime library, on telling waiting apart, and on the tables' directory. */
void doctor_calls(struct findings *f);

#endif

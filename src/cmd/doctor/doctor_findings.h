/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_findings: turns facts about this machine into findings.
 *
 * The caller frees the findings (findings_free()). No function fails: a fact that cannot be read is
 * a finding too. One thread. Uses: base, image, source.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_FINDINGS_H
#define ASSAY_CMD_DOCTOR_DOCTOR_FINDINGS_H

#include "cmd/doctor/findings.h"
#include "source/proc/rights.h"

/* Creates the findings; this also reads common libraries. */
struct findings *doctor_findings(const struct rights *r);

#endif

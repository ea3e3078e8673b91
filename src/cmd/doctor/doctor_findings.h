/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_findings: what each fact about this machine means for measuring.
 *
 * The findings are the caller's, for findings_free(). Nothing fails: what could
 * not be read is a finding too. One thread. Uses: base, image, source.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_FINDINGS_H
#define ASSAY_CMD_DOCTOR_DOCTOR_FINDINGS_H

#include "cmd/doctor/findings.h"
#include "source/proc/rights.h"

/* Judges the facts; libraries are looked at meanwhile. */
struct findings *doctor_findings(const struct rights *r);

#endif

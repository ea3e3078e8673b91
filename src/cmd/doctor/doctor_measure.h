/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_measure: measures what the methods of assay cost on this machine. Takes about a second.
 *
 * A cost that cannot be measured has the reason. The caller calls method_costs_done(). One thread.
 * Uses: base, event, launch, session.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_MEASURE_H
#define ASSAY_CMD_DOCTOR_DOCTOR_MEASURE_H

#include "event/method_costs.h"

void doctor_measure(struct method_costs *costs);

#endif

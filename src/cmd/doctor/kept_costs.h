/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept_costs: the costs that `assay doctor --measure` measured, in a file of the user's cache
 * (0600) for `assay help methods`.
 *
 * One thread. Uses: base, event.
 */
#ifndef ASSAY_CMD_DOCTOR_KEPT_COSTS_H
#define ASSAY_CMD_DOCTOR_KEPT_COSTS_H

#include "base/error.h"
#include "event/method_costs.h"

int kept_costs_write(const struct method_costs *c, struct error *err);

/* Nothing is known if there is no such file, or if it is damaged or of another machine. The caller
 * calls method_costs_done(). */
void kept_costs_read(struct method_costs *c);

#endif

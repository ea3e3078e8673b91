/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger_cost: the part of the time between two events that is the trigger's, on this machine.
 *
 * The trigger waits for the program's work before it reads the clock, but its own later
 * instructions run beside the work that follows. So it costs most if nothing is between two events,
 * and least if the work takes longer than these instructions. Both are measured here, in a
 * millisecond, with the trigger of include/assay/tags_wire.h. Any thread. Uses: base, tags.
 */
#ifndef ASSAY_LAUNCH_TAGS_TRIGGER_COST_H
#define ASSAY_LAUNCH_TAGS_TRIGGER_COST_H

#include "tags/tag_stream.h"

/* Zeros: the machine has no inline trigger, or was too busy. */
struct tag_trigger_cost trigger_cost_measure(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_cost: measures the CPU time that the runtimes in programs take for an event: a counted call
 * (both hooks of libassay-calls), an event tag (of libassay-tags).
 *
 * A child process loads the runtime and calls it in a loop, as a program that was built for it
 * would, in turn with an empty function (on_off.h). The files of the runtime are in a directory of
 * their own, which is removed. 0 or -errno. One thread. Uses: base, event, source.
 */
#ifndef ASSAY_LAUNCH_EVENT_COST_H
#define ASSAY_LAUNCH_EVENT_COST_H

#include "base/error.h"
#include "event/method_costs.h"

int event_cost_call(struct method_cost *cost, struct error *err);
int event_cost_tag(struct method_cost *cost, struct error *err);

#endif

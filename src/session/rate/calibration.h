/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calibration: measures by how much sampling slows the programs of this machine.
 *
 * A child process runs a fixed piece of work (sample_probe.h) again and again, in turn without and
 * with the planned event (on_off.h): each pair gives the additional time of a sample, and the
 * median of all pairs, at the planned rate, is the slowdown. Pieces in which the child lost its CPU
 * are discarded, so other programs make the measurement longer, but not wrong. If too few pieces
 * were undisturbed within two seconds, or the interval is too wide, the result says so.
 *
 * The CPU time is the child's, and not part of the recorder's. One thread. Uses: base, event,
 * source.
 */
#ifndef ASSAY_SESSION_RATE_CALIBRATION_H
#define ASSAY_SESSION_RATE_CALIBRATION_H

#include "event/recording.h"
#include "session/plan.h"

/* Takes one to two seconds. */
void calibration_measure(const struct plan *plan, struct account_calibration *result);

/* The result without a measurement, for tests: `pair_ns` are the additional ns per sample (the
 * function sorts them), `hz` is the number of samples a second. */
void calibration_of_pairs(double *pair_ns, size_t count, double hz,
                          struct account_calibration *result);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint_print: how the kernel prints the fields of a tracepoint ("print fmt" in its
 * description), as far as reports follow it. Untrusted text. Nothing fails. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_TRACEPOINT_PRINT_H
#define ASSAY_FORMAT_PERF_TRACEPOINT_PRINT_H

#include "event/tracepoint.h"

/*
 * Sets is_hex of the fields that are printed as they are with %x or %p. `text`: the description
 * after "print fmt: ", up to its end.
 */
void tracepoint_print_hex(struct tracepoint *t, const char *text, const char *end);

#endif

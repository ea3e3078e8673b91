/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_facts: the heading and the facts of a process with counted calls: flags, own cost, whether
 * the times add up, functions that are not timed, and the table of threads. Nothing fails. Uses:
 * base, profile, view.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_FACTS_H
#define ASSAY_VIEW_CALLS_CALL_FACTS_H

#include "view/calls/call_report.h"
#include "view/document/document.h"

void call_facts(struct document *d, const struct call_report *r, const struct call_process *p);

#endif

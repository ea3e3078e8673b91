/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_fields: words of --sort that are fields of a tracepoint.
 *
 * A word is a field if it begins with "field:", or if it is no key and the reported event has a
 * field of that name. Before the file is read, report_fields_want() chooses the fields that the
 * profile gets; then report_fields_resolve() completes the request. Uses: cmd/load, profile, view.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_FIELDS_H
#define ASSAY_CMD_REPORT_REPORT_FIELDS_H

#include "cmd/load/load.h"
#include "cmd/report/report_options.h"

/* "pid" of "field:pid"; NULL: the word does not begin with "field:". */
const char *report_field_of(const char *word);

/* -EINVAL: too many fields, or a store has none. */
int report_fields_want(struct load_options *load, const struct report_options *o,
                       struct error *err);

/*
 * Sets keys and fields of the request, and its event if the main event has no such fields. -EINVAL:
 * the event has no such field; the message names those that it has.
 */
int report_fields_resolve(struct report_request *q, const struct report_options *o,
                          const struct profile *p, struct error *err);

#endif

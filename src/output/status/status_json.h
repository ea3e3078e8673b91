/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_json: a background session as JSON. docs/SESSIONS.md describes the keys. Times are ns, a
 * missing figure is null. Writes one object; nothing fails. Uses: base, event.
 */
#ifndef ASSAY_OUTPUT_STATUS_STATUS_JSON_H
#define ASSAY_OUTPUT_STATUS_STATUS_JSON_H

#include "base/text/json.h"
#include "event/session_account.h"

void status_json(const struct session_account *a, struct json *j);

#endif

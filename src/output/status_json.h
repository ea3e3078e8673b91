/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_json: a session in the background for programs. docs/SESSIONS.md names the keys. Times
 * are ns, a figure that cannot be had is null. Writes one object. Uses: base, event.
 */
#ifndef ASSAY_OUTPUT_STATUS_JSON_H
#define ASSAY_OUTPUT_STATUS_JSON_H

#include "base/json.h"
#include "event/session_account.h"

void status_json(const struct session_account *a, struct json *j);

#endif

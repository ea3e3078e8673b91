/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger_rule: parses the text of a rule (trigger.h).
 *
 * The error names the rule, the position in it, and what is expected there. Call
 * trigger_rule_done() for every rule, also for zeroed ones. Stateless; any thread. Uses: base.
 */
#ifndef ASSAY_SESSION_DAEMON_TRIGGER_RULE_H
#define ASSAY_SESSION_DAEMON_TRIGGER_RULE_H

#include "session/daemon/trigger.h"

/* `rule` must be zeroed. */
int trigger_rule_parse(const char *text, struct trigger_rule *rule, struct error *err);
void trigger_rule_done(struct trigger_rule *rule);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger_rule: a rule as it is written, to one as trigger.h describes it.
 *
 * An error names the rule, the place in it, and what could stand there. trigger_rule_done() of
 * every rule, zeroed ones too. Holds nothing; any thread. Uses: base.
 */
#ifndef ASSAY_SESSION_DAEMON_TRIGGER_RULE_H
#define ASSAY_SESSION_DAEMON_TRIGGER_RULE_H

#include "session/daemon/trigger.h"

/* `rule` was zeroed. */
int trigger_rule_parse(const char *text, struct trigger_rule *rule, struct error *err);
void trigger_rule_done(struct trigger_rule *rule);

#endif

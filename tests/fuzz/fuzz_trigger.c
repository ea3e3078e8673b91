/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trigger rules with any characters: an accepted rule is valid, and an error has a sentence.
 */
#include "session/daemon/trigger_rule.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(const struct trigger_rule *rule)
{
	switch (rule->kind) {
	case TRIGGER_PROCESS:
	case TRIGGER_EXIT:
		if (!rule->name || !*rule->name || strlen(rule->name) >= strlen(rule->text))
			abort();
		break;
	case TRIGGER_LOAD:
	case TRIGGER_RUNQ:
		if (!(rule->limit >= 0 && rule->limit < 1e9))
			abort();
		break;
	case TRIGGER_PRESSURE:
		if (!rule->pressure || !strchr(rule->pressure, '.'))
			abort();
		/* fall through */
	default:
		if (!(rule->limit >= 0 && rule->limit <= 100))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct trigger_rule rule = {0};
	struct error err = {0};
	char *text = malloc(size + 1);
	int ret;

	memcpy(text, bytes, size);
	text[size] = '\0';
	ret = trigger_rule_parse(text, &rule, &err);
	if ((ret != 0) != (err.text[0] != '\0'))
		abort();
	if (!ret)
		check(&rule);
	trigger_rule_done(&rule);
	free(text);
	return 0;
}

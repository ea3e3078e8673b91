/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/session_account.h"

void session_account_rules_done(struct session_account *a)
{
	vec_each (rule, &a->rules)
		free(rule->text);
	vec_done(&a->rules);
}

void session_account_done(struct session_account *a)
{
	free(a->name);
	free(a->what);
	free(a->output);
	free(a->error);
	free(a->snapshot);
	free(a->unfinished);
	free(a->spool);
	free(a->send_error);
	vec_done(&a->cpus);
	session_account_rules_done(a);
	vec_each (note, &a->notes)
		free(*note);
	vec_done(&a->notes);
	*a = (struct session_account){0};
}

uint64_t session_account_ticks(const struct session_account *a)
{
	uint64_t due = a->machine_wide ? a->ticks_idle + a->ticks_unobserved : 0;

	return a->ticks_user + a->ticks_system + due;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/process_limit.h"

#include "cmd/cli/amount.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 64 /* characters of a limit */

static bool parse_share(const char *text, double *share)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double percent = strtod(text, &end);

	if (!digits || end != text + digits || (*end && strcmp(end, "%") != 0) || percent > 100)
		return false;
	*share = percent / 100;
	return true;
}

static bool parse_one(const char *text, struct process_limits *limits)
{
	struct process_limit *l = &limits->all;

	if (!strncmp(text, "user:", 5))
		l = &limits->user;
	else if (!strncmp(text, "kernel:", 7))
		l = &limits->kernel;
	if (l != &limits->all)
		text = strchr(text, ':') + 1;
	*l = (struct process_limit){.given = true};
	return parse_share(text, &l->share) || amount_ns(text, &l->ns);
}

int process_limit_parse(const char *text, struct process_limits *limits, struct error *err)
{
	*limits = (struct process_limits){.all.share = PROCESS_LIMIT_SHARE};
	while (text) {
		size_t length = strcspn(text, ",");
		char one[LONGEST];

		snprintf(one, sizeof(one), "%.*s", (int)(length < LONGEST ? length : LONGEST - 1),
		         text);
		if (length >= LONGEST || !parse_one(one, limits))
			return error_set(
			        err, EINVAL,
			        "--process-limit needs a share or a CPU time, such as 2%%, "
			        "5ms, user:1%% or kernel:5ms, with commas between, not '%s'",
			        one);
		text = text[length] ? text + length + 1 : NULL;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_groups.h"

#include "format/rules_file.h"

static void add(void *of, const char *group, const char *pattern)
{
	group_rules_rule(of, group, pattern);
}

int report_groups_use(struct group_rules **out, const char *file, const struct report_request *q,
                      struct error *err)
{
	int ret = 0;

	*out = NULL;
	if (!request_has_key(q, FLAT_GROUP))
		return 0;
	*out = group_rules_new();
	if (file)
		ret = rules_file_read(file, add, *out, err);
	if (!ret)
		ret = rules_file_parse(group_rules_default, group_rules_default_size,
		                       "the rules of assay", add, *out, err);
	group_rules_set(*out);
	return ret;
}

void report_groups_done(struct group_rules *r)
{
	group_rules_set(NULL);
	group_rules_free(r);
}

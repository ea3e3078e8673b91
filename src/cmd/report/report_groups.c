/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_groups.h"

#include "format/rules_file.h"

static void add(void *of, const char *group, const char *pattern)
{
	group_rules_rule(of, group, pattern);
}

int report_groups_read(struct group_rules **out, const char *file, bool shipped, struct error *err)
{
	int ret = 0;

	*out = group_rules_new();
	if (file)
		ret = rules_file_read(file, add, *out, err);
	if (!ret && shipped)
		ret = rules_file_parse(group_rules_default, group_rules_default_size,
		                       "the rules of assay", add, *out, err);
	if (ret) {
		group_rules_free(*out);
		*out = NULL;
	}
	return ret;
}

int report_groups_use(struct report_request *q, const char *file, struct error *err)
{
	bool needed = request_has_key(q, FLAT_GROUP) || q->without.count;

	return needed ? report_groups_read(&q->rules, file, true, err) : 0;
}

void report_groups_done(struct report_request *q)
{
	group_rules_free(q->rules);
	q->rules = NULL;
}

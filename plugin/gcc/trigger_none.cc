/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trigger_none: an architecture for which no instructions are written yet: calls alone. */
#include "plugin.h"

bool trigger_kernel()
{
	return false;
}

std::string trigger_check(const options &o)
{
	if (o.trigger == TRIGGER_CALL)
		return "";
	return std::string("there is no trigger ") + o.trigger_name() +
	       " for this machine yet; choose -fplugin-arg-assay_tags-trigger=call";
}

gimple *trigger_statement(trigger_kind, unsigned, const std::vector<tree> &)
{
	gcc_unreachable();
}

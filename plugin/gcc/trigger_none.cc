/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trigger_none: for architectures without inline triggers; only the trigger `call` exists. */
#include "plugin.h"

bool trigger_kernel()
{
	return false;
}

std::string trigger_check(const options &o)
{
	if (o.trigger == TRIGGER_CALL)
		return "";
	return std::string("the trigger ") + o.trigger_name() +
	       " is not available for this machine; choose -fplugin-arg-assay_tags-trigger=call";
}

gimple *trigger_statement(trigger_kind, unsigned, const std::vector<tree> &)
{
	gcc_unreachable();
}

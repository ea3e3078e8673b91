/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store.h"

#include "base/memory/xalloc.h"
#include "process/service_name.h"

#include <sqlite3.h>
#include <stdlib.h>

bool store_range_service(const struct store_range *range, const char *name)
{
	char *pattern, *service;
	bool selected;

	if (range->choice)
		return range->choice->service(range->choice->ctx, name);
	if (!range->service)
		return true;
	pattern = xstrndup(range->service, service_name_length(range->service));
	service = xstrndup(name, service_name_length(name));
	selected = !sqlite3_strglob(pattern, service);
	free(pattern);
	free(service);
	return selected;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/service_name.h"

#include "base/memory/xalloc.h"

#include <stdbool.h>
#include <string.h>

#define UNIT ".service"
#define SCOPE ".scope"
#define ID_DIGITS 64    /* of a container's id */
#define SHORT_DIGITS 12 /* of it in a name */

/* The first of 64 hexadecimal digits in a component, as in docker-ID.scope; NULL: it has none. */
static const char *container_id(const char *component, size_t size)
{
	for (size_t i = 0; i + ID_DIGITS <= size; i++) {
		size_t digits = strspn(component + i, "0123456789abcdef");

		if (digits >= ID_DIGITS)
			return component + i;
	}
	return NULL;
}

static bool ends_with(const char *component, size_t size, const char *suffix)
{
	size_t length = strlen(suffix);

	return size > length && !memcmp(component + size - length, suffix, length);
}

static size_t unit_length(const char *component, size_t size)
{
	if (ends_with(component, size, UNIT))
		return size - strlen(UNIT);
	return ends_with(component, size, SCOPE) ? size - strlen(SCOPE) : size;
}

size_t service_name_length(const char *name)
{
	size_t size = strlen(name);

	return ends_with(name, size, UNIT) ? size - strlen(UNIT) : size;
}

/* The innermost component that names a service decides. */
char *service_name(const char *cgroup)
{
	const char *name = "", *at = cgroup ? cgroup : "";
	size_t name_size = 0;
	bool found = false;

	while (*at) {
		size_t size = strcspn(at, "/");
		const char *id = container_id(at, size);
		bool decides = id || ends_with(at, size, UNIT);

		if (decides || (size && !found)) {
			name = id ? id : at;
			name_size = id ? SHORT_DIGITS : unit_length(at, size);
			found = found || decides;
		}
		at += size + (at[size] == '/');
	}
	return xstrndup(name, name_size);
}

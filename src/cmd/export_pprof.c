/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/export_pprof.h"

#include "cmd/command.h"
#include "format/pprof_read.h"

#include <string.h>

const char *export_pprof_file(const struct load_options *o)
{
	const char *path;

	if (o->argument_count < 0 || o->inputs.count + (size_t)o->argument_count != 1)
		return NULL;
	path = o->inputs.count ? o->inputs.items[0] : o->arguments[0];
	return pprof_recognise(path) ? path : NULL;
}

static bool has_value(const struct named_paths *n, const char *value)
{
	for (unsigned i = 0; i < n->value_count; i++)
		if (!strcmp(n->values[i].name, value))
			return true;
	return false;
}

/* wall is a sum of other values, and weight another name of one. */
static int check_value(const struct export_target *target, const struct named_paths *n)
{
	struct buf names = {0};
	int status;

	if (has_value(n, target->value))
		return 0;
	for (unsigned i = 0; i < n->value_count; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", n->values[i].name);
	status = command_fail(2, "%s: --value %s: the values of this profile are %s",
	                      target->command, target->value, buf_text(&names));
	buf_done(&names);
	return status;
}

static int write_profile(const struct export_target *target, struct named_paths *n)
{
	struct export_target chosen = *target;
	bool calls = has_value(n, "calls") && has_value(n, "net");
	int status;

	if (!chosen.value)
		chosen.value = has_value(n, "samples") ? "samples" : n->values[n->main_value].name;
	status = check_value(&chosen, n);
	return status ? status : export_write(&chosen, n, calls);
}

static void tell_left(const struct export_target *target, struct buf *left)
{
	char *rest = left->data, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			command_fail(0, "%s: %s", target->command, line);
}

int export_pprof(const char *path, const struct export_target *target)
{
	struct buf left = {0};
	struct error err = {0};
	struct named_paths n;
	int status;

	if (strcmp(target->to, "folded") != 0 && strcmp(target->to, "pprof") != 0)
		return command_fail(
		        2,
		        "%s: --to %s: %s is a pprof profile, of which folded, pprof and "
		        "sqlite can be made",
		        target->command, target->to, path);
	named_paths_init(&n);
	n.depth_max = NAMED_DEPTH_MAX;
	if (pprof_read(&n, path, &left, &err)) {
		status = command_fail(1, "%s: %s", target->command, err.text);
	} else {
		tell_left(target, &left);
		status = write_profile(target, &n);
	}
	buf_done(&left);
	named_paths_done(&n);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/export/export_pprof.h"

#include "cmd/cli/command.h"
#include "cmd/export/export_formats.h"
#include "format/file_kind.h"
#include "format/profiles/profile_file.h"

#include <errno.h>
#include <string.h>

const char *export_pprof_file(const struct load_options *o)
{
	const char *path = load_named(o, 0);

	return path && !load_named(o, 1) && profile_file_word(file_kind_of(path, NULL)) ? path
	                                                                                : NULL;
}

/* The value for folded: the requested value, else samples, else the main value. */
static unsigned value_of(const struct symbolized_profile *n)
{
	for (unsigned i = 0; !n->wanted && i < n->value_count; i++)
		if (!strcmp(n->values[i].name, "samples"))
			return i;
	return n->main_value;
}

int export_pprof(const char *path, const struct export_target *target)
{
	const struct export_format *format = export_format_find(target->to);
	struct buf left = {0};
	struct error err = {0};
	struct symbolized_profile n;
	int status;

	if (!format->write) {
		export_format_words(&left, LOAD_BIT(LOAD_PPROF));
		status = command_fail(2,
		                      "%s: --to %s: %s is %s, which can be exported "
		                      "as %s",
		                      target->command, target->to, path,
		                      profile_file_word(file_kind_of(path, NULL)), buf_text(&left));
		buf_done(&left);
		return status;
	}
	symbolized_profile_init(&n);
	n.depth_max = export_depth(target->to);
	n.wanted = target->value;
	if (profile_file_read(&n, path, &left, &err)) {
		status = command_fail(err.code == ENOENT && n.wanted ? 2 : 1, "%s: %s",
		                      target->command, err.text);
	} else {
		command_remarks(target->command, left.data);
		status = export_columns(target, &n, 1u << value_of(&n));
	}
	buf_done(&left);
	symbolized_profile_done(&n);
	return status;
}

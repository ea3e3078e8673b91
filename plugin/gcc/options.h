/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options: parses the arguments -fplugin-arg-assay_tags-*, and selects functions by them. */
#ifndef ASSAY_PLUGIN_OPTIONS_H
#define ASSAY_PLUGIN_OPTIONS_H

#include "gcc.h"

enum trigger_kind { TRIGGER_RING, TRIGGER_NOP, TRIGGER_LOAD, TRIGGER_CALL };

struct options {
	std::string names;
	std::string root; /* file names are relative to it; "": to the directory of the names */
	trigger_kind trigger = TRIGGER_RING;
	std::string hook = "assay_tags_event";
	bool embed = true;
	bool tail_calls = false; /* exits are before tail calls */
	unsigned leaf_size = 0;  /* smaller functions get no triggers, see leaf.cc */
	std::vector<std::string> only, no, files, no_files; /* globs */

	const char *trigger_name() const;
};

/* False: an error was reported. */
bool options_parse(options *o, int argc, const struct plugin_argument *argv);

/*
 * True if the globs select this function, by its name in the source with or without its scope, and
 * by its file, relative to the names file or as given to the compiler. `marked` functions are
 * selected except if `not` or `not-files` exclude them.
 */
bool options_choose(const options &o, tree function, const std::string &relative, bool marked);

#endif

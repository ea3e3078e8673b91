/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin: what its parts share. A function's way through them:
 *
 *	wrap	before the front end lowers it: its body becomes
 *		{ placeholder e; try { body } finally { placeholder x } }
 *	label	a pass before anything is inlined: its placeholders get its name. From here
 *		on they may be copied, with what they stand in, to anywhere, link time too.
 *	emit	a pass right before instructions are made: placeholders and inline tags that
 *		are still there get tags, and become triggers
 *	embed	at the end of the unit: the section with the tags it used
 *
 * A placeholder is an asm statement that would not assemble: code that is generated
 * without the plugin would otherwise miss its triggers silently.
 */
#ifndef ASSAY_PLUGIN_PLUGIN_H
#define ASSAY_PLUGIN_PLUGIN_H

#include "gcc.h"
#include "names.h"
#include "options.h"

struct plugin_state {
	struct options options;
	names_file names;
	/* Functions of this unit that carry placeholders, by DECL_UID. */
	std::unordered_map<unsigned, asked_name> functions;
	std::set<std::string> used; /* lines of the names file */
};

extern plugin_state plugin;

/* The rest of a placeholder's text behind the mark: "e NAME\tFILE"; NULL: it is none. */
const char *placeholder_text(gimple *statement);
std::string placeholder_make(const char *rest);

void wrap_function(tree function); /* and what is nested in it */
opt_pass *label_pass_new();
opt_pass *emit_pass_new();
extern const struct ggc_root_tab emit_roots[]; /* what it keeps over collections */
void embed_names(FILE *to);

/* What is of one architecture. */

/* "": the options can be done for this target. */
std::string trigger_check(const options &o);
/* The unit is a kernel's. */
bool trigger_kernel();
/* Of all kinds but call. What is of `values` (registers of SSA) is calculated before it. */
gimple *trigger_statement(trigger_kind kind, unsigned tag, const std::vector<tree> &values);

#endif

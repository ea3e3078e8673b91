/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin: declarations shared by the parts. A function passes them in this order:
 *
 *	wrap	before the front end lowers it: its body becomes
 *		{ placeholder e; try { body } finally { placeholder x } }
 *	label	a pass before inlining: its placeholders get its name. After this the
 *		compiler may copy them with the code around them, also at link time.
 *	leaf	a pass after the early optimizations, with leaf-size=N: removes the placeholders of
 *		small functions
 *	tail	two passes around GCC's search for tail calls, with tail-calls=yes
 *	emit	a pass directly before instructions are generated: the remaining
 *		placeholders and inline tags get tags and become triggers
 *	embed	at the end of the unit: the section with the tags that it used
 *
 * A placeholder is an asm statement that does not assemble. Otherwise code that is generated
 * without the plugin would lack its triggers without an error.
 */
#ifndef ASSAY_PLUGIN_PLUGIN_H
#define ASSAY_PLUGIN_PLUGIN_H

#include "gcc.h"
#include "names.h"
#include "options.h"

struct plugin_state {
	struct options options;
	names_file names;
	/* Functions of this unit with placeholders, by DECL_UID. */
	std::unordered_map<unsigned, asked_name> functions;
	std::set<std::string> used;     /* lines of the names file */
	std::set<std::string> left_out; /* names of functions without triggers, see leaf.cc */
};

extern plugin_state plugin;

/*
 * The text of a placeholder after the mark: "e NAME\tFILE", with the name's mark in place of the
 * blank; NULL: not a placeholder.
 */
const char *placeholder_text(gimple *statement);
std::string placeholder_make(const char *rest);
/* A placeholder with this text, at the place of another one in the source. */
gimple *placeholder_statement(const std::string &rest, gimple *like);

void wrap_function(tree function); /* and the functions nested in it */
opt_pass *label_pass_new();
opt_pass *leaf_pass_new();
opt_pass *tail_before_pass_new();
opt_pass *tail_back_pass_new();
opt_pass *emit_pass_new();
extern const struct ggc_root_tab emit_roots[]; /* roots for the garbage collector */
void embed_names(FILE *to);

/* Functions for one architecture. */

/* "": the target supports the options; otherwise the error. */
std::string trigger_check(const options &o);
/* True if the unit is kernel code. */
bool trigger_kernel();
/*
 * Creates a trigger of any kind except `call`. `values` (SSA registers) are calculated before it.
 */
gimple *trigger_statement(trigger_kind kind, unsigned tag, const std::vector<tree> &values);

#endif

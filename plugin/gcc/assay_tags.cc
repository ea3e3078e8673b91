/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * assay_tags: a GCC plugin that inserts a trigger with a tag at the entry and at every exit of each
 * function, and in place of inline tags. docs/TAGS.md describes its arguments, plugin.h its design.
 */
#include "plugin.h"

#include "assay/tags_wire.h"

int plugin_is_GPL_compatible __attribute__((visibility("default")));

plugin_state plugin;

static struct plugin_info information = {
        "1",
        "puts triggers of event tags into functions: "
        "-fplugin-arg-assay_tags-names=FILE [-root=DIR] [-trigger=ring|nop|load|call] [-hook=NAME] "
        "[-only=GLOBS] [-not=GLOBS] [-files=GLOBS] [-not-files=GLOBS] [-embed=yes|no] "
        "[-tail-calls=yes|no] [-leaf-size=N]"};

static void before_lowering(void *function, void *)
{
	if (!errorcount)
		wrap_function((tree)function);
}

static void end_of_unit(void *, void *)
{
	if (errorcount)
		return;
	std::string error = plugin.names.leave_out(plugin.left_out);
	if (!error.empty())
		fatal_error(UNKNOWN_LOCATION, "assay_tags: %s", error.c_str());
	embed_names(asm_out_file);
}

static void add_pass(const char *name, opt_pass *pass, pass_positioning_ops where,
                     const char *other)
{
	struct register_pass_info info = {pass, other, 1, where};

	register_callback(name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

__attribute__((visibility("default"))) int plugin_init(struct plugin_name_args *name,
                                                       struct plugin_gcc_version *version)
{
	const char *self = name->base_name;

	if (!plugin_default_version_check(version, &gcc_version)) {
		error("assay_tags: the plugin was built for GCC %s, and this is %s",
		      gcc_version.basever, version->basever);
		return 0;
	}
	if (!options_parse(&plugin.options, name->argc, name->argv))
		return 0;
	if (plugin.options.trigger == TRIGGER_LOAD)
		plugin.names.open(plugin.options.names, 0xffff,
		                  " (the trigger that loads has 16 bits)");
	else
		plugin.names.open(plugin.options.names, ASSAY_TAG_LAST, "");
	if (!plugin.options.root.empty())
		plugin.names.set_root(plugin.options.root);
	register_callback(self, PLUGIN_INFO, NULL, &information);
	register_callback(self, PLUGIN_PRE_GENERICIZE, before_lowering, NULL);
	register_callback(self, PLUGIN_FINISH_UNIT, end_of_unit, NULL);
	register_callback(self, PLUGIN_REGISTER_GGC_ROOTS, NULL, (void *)emit_roots);
	add_pass(self, label_pass_new(), PASS_POS_INSERT_AFTER, "cfg");
	add_pass(self, leaf_pass_new(), PASS_POS_INSERT_BEFORE, "fnsplit");
	add_pass(self, tail_before_pass_new(), PASS_POS_INSERT_BEFORE, "tailc");
	add_pass(self, tail_back_pass_new(), PASS_POS_INSERT_AFTER, "tailc");
	add_pass(self, emit_pass_new(), PASS_POS_INSERT_AFTER, "optimized");
	return 0;
}

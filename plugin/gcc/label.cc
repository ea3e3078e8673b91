/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label: writes the function's name into its placeholders. It runs at the end of the unit, when all
 * names are final and each body contains only its own placeholders.
 */
#include "plugin.h"
#include "linux.h"

static const char mark[] = "# assay_tags ";

std::string placeholder_make(const char *rest)
{
	return std::string(".error \"assay_tags: the code of this function is made without the "
	                   "plugin: give -fplugin=assay_tags.so and its arguments to the link, "
	                   "too\" ") +
	       mark + rest;
}

const char *placeholder_text(gimple *statement)
{
	gasm *a = dyn_cast<gasm *>(statement);
	const char *found = a ? strstr(gimple_asm_string(a), mark) : NULL;

	return found && !strncmp(gimple_asm_string(a), ".error \"assay_tags", 18)
	               ? found + sizeof(mark) - 1
	               : NULL;
}

static std::string plain_name(tree function)
{
	const char *name = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));

	return name[0] == '*' ? name + 1 : name;
}

/*
 * The name of a C function nested in another one: OUTER.INNER, with a number if the name is not
 * unique.
 */
static std::string nested_name(tree function, tree outer)
{
	static std::map<std::string, std::vector<unsigned>> known;
	std::string name = IDENTIFIER_POINTER(DECL_NAME(function));
	tree above = DECL_CONTEXT(outer);

	if (above && TREE_CODE(above) == FUNCTION_DECL && DECL_NAME(outer))
		name = nested_name(outer, above) + "." + name;
	else
		name = plain_name(outer) + "." + name;
	std::vector<unsigned> &same = known[name];
	size_t at = std::find(same.begin(), same.end(), DECL_UID(function)) - same.begin();
	if (at == same.size())
		same.push_back(DECL_UID(function));
	return at ? name + "." + std::to_string(at + 1) : name;
}

/* The function with the source: for a clone, the function that was cloned. */
static tree origin_of(tree function)
{
	tree origin = DECL_ABSTRACT_ORIGIN(function);

	return origin && TREE_CODE(origin) == FUNCTION_DECL ? origin : function;
}

/* The common body of a constructor is not a symbol itself: the first variant decides. */
static bool is_public(tree function)
{
	tree name = DECL_NAME(function), variant = DECL_CHAIN(function);

	if (name && (DECL_CXX_CONSTRUCTOR_P(function) || DECL_CXX_DESTRUCTOR_P(function)) &&
	    variant && TREE_CODE(variant) == FUNCTION_DECL && DECL_NAME(variant) &&
	    !strncmp(IDENTIFIER_POINTER(name), IDENTIFIER_POINTER(DECL_NAME(variant)), 4))
		return TREE_PUBLIC(variant);
	return TREE_PUBLIC(function);
}

static asked_name name_of(tree function)
{
	tree context = DECL_CONTEXT(function);
	bool c_nested = context && TREE_CODE(context) == FUNCTION_DECL && DECL_NAME(function) &&
	                strncmp(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function)), "_Z", 2);
	asked_name name = {c_nested ? nested_name(function, context) : plain_name(function),
	                   plugin.names.relative(DECL_SOURCE_FILE(function)), false,
	                   linux_mark(function)};

	if (!is_public(function))
		name.name += "@" + name.file;
	return name;
}

gimple *placeholder_statement(const std::string &rest, gimple *like)
{
	gasm *old = as_a<gasm *>(like), *a;
	std::string text = placeholder_make(rest.c_str());
	vec<tree, va_gc> *clobbers = NULL;

	for (unsigned i = 0; i < gimple_asm_nclobbers(old); i++)
		vec_safe_push(clobbers, gimple_asm_clobber_op(old, i));
	a = gimple_build_asm_vec(ggc_strdup(text.c_str()), NULL, NULL, clobbers, NULL);
	gimple_asm_set_volatile(a, true);
	gimple_asm_set_inline(a, true);
	gimple_set_location(a, gimple_location(old));
	gimple_set_block(a, gimple_block(old));
	return a;
}

static unsigned label(function *f)
{
	asked_name name;
	basic_block block;

	FOR_EACH_BB_FN(block, f)
	for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
		const char *text = placeholder_text(gsi_stmt(at));
		if (!text)
			continue;
		if (name.name.empty()) {
			name = name_of(origin_of(f->decl));
			plugin.functions[DECL_UID(f->decl)] = name;
		}
		std::string all = std::string(1, text[0]) + (name.kind ? name.kind : ' ');
		all += name.name + "\t" + name.file;
		gsi_replace(&at, placeholder_statement(all, gsi_stmt(at)), true);
	}
	return 0;
}

static const pass_data label_data = {
        GIMPLE_PASS, "assay_tags_label", OPTGROUP_NONE, TV_NONE, PROP_cfg, 0, 0, 0, 0};

class label_pass : public gimple_opt_pass
{
      public:
	label_pass() : gimple_opt_pass(label_data, g)
	{
	}
	unsigned int execute(function *f) final override
	{
		return label(f);
	}
};

opt_pass *label_pass_new()
{
	return new label_pass();
}

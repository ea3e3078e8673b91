/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wrap: selects the functions that get placeholders, and inserts them.
 *
 * C++ constructors and destructors are compiled once and then cloned (C1, C2). The clones pass here
 * too, with the placeholders of their origin, and are not changed. Functions that the compiler
 * creates (thunks, implicit members, static initialisers) are not in the source and get none.
 */
#include "plugin.h"
#include "linux.h"

/* Statements that only contain one other statement. */
static bool is_empty(tree t)
{
	if (!t)
		return true;
	switch (TREE_CODE(t)) {
	case STATEMENT_LIST:
		for (tree_stmt_iterator i = tsi_start(t); !tsi_end_p(i); tsi_next(&i))
			if (!is_empty(tsi_stmt(i)))
				return false;
		return true;
	case BIND_EXPR:
		return is_empty(BIND_EXPR_BODY(t));
	case DECL_EXPR:
		return !VAR_P(DECL_EXPR_DECL(t)) ||
		       (!DECL_INITIAL(DECL_EXPR_DECL(t)) && !DECL_SIZE(DECL_EXPR_DECL(t)));
	case DEBUG_BEGIN_STMT:
	case USING_STMT:
		return true;
	case RETURN_EXPR:
	case EXPR_STMT:
	case CLEANUP_POINT_EXPR:
	case MUST_NOT_THROW_EXPR:
	case EH_SPEC_BLOCK:
	case CONVERT_EXPR:
	case NOP_EXPR:
		return is_empty(TREE_OPERAND(t, 0));
	case INTEGER_CST: /* ((void)0) */
	case VOID_CST:
		return true;
	case MODIFY_EXPR:
	case INIT_EXPR: /* start or end of the lifetime of *this */
		return TREE_CLOBBER_P(TREE_OPERAND(t, 1));
	default:
		return false;
	}
}

static bool has_attribute(tree function, const char *name)
{
	return lookup_attribute(name, DECL_ATTRIBUTES(function)) != NULL_TREE;
}

/*
 * True for functions that the compiler created. A lambda's operator() is marked artificial, but its
 * body is in the source.
 */
static bool is_made_up(tree function)
{
	tree name = DECL_NAME(function);

	return DECL_ARTIFICIAL(function) && !(name && id_equal(name, "operator()"));
}

/*
 * True for the complete, base and deleting variants of a constructor or destructor. With -Os they
 * may call a common body, which then has the placeholders.
 */
static bool is_clone(tree function)
{
	tree origin = DECL_ABSTRACT_ORIGIN(function), name = DECL_NAME(function);

	return (origin && origin != function) ||
	       (name && (!strncmp(IDENTIFIER_POINTER(name), "__ct_", 5) ||
	                 !strncmp(IDENTIFIER_POINTER(name), "__dt_", 5)));
}

static bool is_wanted(tree function)
{
	tree name = DECL_NAME(function);

	if (!DECL_SAVED_TREE(function) || is_clone(function) || is_made_up(function))
		return false;
	if (has_attribute(function, "naked"))
		return false;
	if (linux_unit() ? linux_excludes(function, plugin.options)
	                 : has_attribute(function, "no_instrument_function"))
		return false;
	if (name && !strncmp(IDENTIFIER_POINTER(name), "assay_tags_", 11))
		return false;
	if (is_empty(DECL_SAVED_TREE(function)))
		return false;
	return options_choose(plugin.options, function,
	                      plugin.names.relative(DECL_SOURCE_FILE(function)),
	                      linux_mark(function) != 0);
}

/*
 * The placeholder is declared to change memory. Loads and stores of a function therefore stay
 * between its entry and its exit, and analyses of the program see the effects of the later hook
 * call. Its size is declared as 0, so that it does not prevent inlining.
 */
static tree placeholder(const char *what, location_t where)
{
	std::string text = placeholder_make(what);
	tree clobbers = build_tree_list(NULL_TREE, build_string(6, "memory")), t;

	t = build5(ASM_EXPR, void_type_node, build_string((int)text.size(), text.c_str()),
	           NULL_TREE, NULL_TREE, clobbers, NULL_TREE);
	ASM_VOLATILE_P(t) = 1;
	ASM_INLINE_P(t) = 1;
	TREE_SIDE_EFFECTS(t) = 1;
	SET_EXPR_LOCATION(t, where);
	return t;
}

/* __builtin_return returns at once and skips the finally block. */
static tree exit_before_return(tree *t, int *, void *where)
{
	tree callee = TREE_CODE(*t) == CALL_EXPR ? get_callee_fndecl(*t) : NULL_TREE;

	if (callee && fndecl_built_in_p(callee, BUILT_IN_RETURN)) {
		tree both = build2(COMPOUND_EXPR, TREE_TYPE(*t),
		                   placeholder("x", *(location_t *)where), *t);
		TREE_SIDE_EFFECTS(both) = 1;
		*t = both;
	}
	return NULL_TREE;
}

static void wrap(tree function)
{
	tree *place = &DECL_SAVED_TREE(function), list = NULL_TREE, all;
	location_t end = DECL_STRUCT_FUNCTION(function)
	                         ? DECL_STRUCT_FUNCTION(function)->function_end_locus
	                         : DECL_SOURCE_LOCATION(function);

	walk_tree_without_duplicates(place, exit_before_return, &end);
	/* The outermost block must stay outermost, since debug information refers to it. */
	if (TREE_CODE(*place) == BIND_EXPR)
		place = &BIND_EXPR_BODY(*place);
	all = build2(TRY_FINALLY_EXPR, void_type_node, *place, placeholder("x", end));
	TREE_SIDE_EFFECTS(all) = 1;
	append_to_statement_list(placeholder("e", DECL_SOURCE_LOCATION(function)), &list);
	append_to_statement_list(linux_process(function, plugin.options), &list);
	append_to_statement_list(all, &list);
	*place = list;
}

static bool is_hook(tree function)
{
	tree name = DECL_NAME(function);

	return plugin.options.trigger == TRIGGER_CALL && name &&
	       id_equal(name, plugin.options.hook.c_str());
}

void wrap_function(tree function)
{
	cgraph_node *node = cgraph_node::get(function);

	/*
	 * No code refers to the hook until its calls are generated: keep it as the attribute `used`
	 * does.
	 */
	if (is_hook(function))
		DECL_PRESERVE_P(function) = 1;
	else if (is_wanted(function))
		wrap(function);
	for (node = node ? first_nested_function(node) : NULL; node;
	     node = next_nested_function(node))
		wrap_function(node->decl);
}

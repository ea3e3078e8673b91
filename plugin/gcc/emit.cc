/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * emit: replaces the placeholders and inline tags that are left at the end by triggers. Tags are
 * assigned only here.
 *
 * The first function that needs a tag requests tags for all functions of the unit that will be
 * emitted. This takes one lock for each unit, and keeps the unit's lines together in the names
 * file. Names that are unknown then (functions that were only inlined; at link time all functions)
 * are requested for each function.
 */
#include "plugin.h"

static const char inline_mark[] = "# assay tag ";

struct site {
	gimple *statement;
	char what; /* 'e', 'x', 'X' (see tail.cc), '=' */
	asked_name name;
};

/* Checks the rules of include/assay/tags.h for the name of an inline tag. */
static void check_inline_name(gimple *statement, const std::string &name)
{
	bool good = !name.empty() && name[0] != '#' && name[0] != ' ' && name.back() != ' ';

	for (unsigned char c : name)
		good = good && c >= ' ' && c != 0x7f && !strchr("/%{|}\\", c);
	if (!good)
		error_at(gimple_location(statement),
		         "assay_tags: %qs cannot be an inline tag%'s name: printable characters "
		         "without / %% { | } \\, no # in front, no blanks around",
		         name.c_str());
}

/* False: the statement is neither a placeholder nor an inline tag. */
static bool site_of(gimple *statement, site *s)
{
	const char *text = placeholder_text(statement), *tab;

	s->statement = statement;
	if (text) {
		tab = strchr(text, '\t');
		gcc_assert(tab);
		s->what = text[0];
		s->name = asked_name{std::string(text + 2, tab), tab + 1, false,
		                     text[1] == ' ' ? (char)0 : text[1]};
		return true;
	}
	gasm *a = dyn_cast<gasm *>(statement);
	if (!a || strncmp(gimple_asm_string(a), inline_mark, sizeof(inline_mark) - 1))
		return false;
	location_t where = gimple_location(a);
	const char *file = LOCATION_FILE(where) ? LOCATION_FILE(where) : main_input_filename;
	s->what = '=';
	s->name = asked_name{gimple_asm_string(a) + sizeof(inline_mark) - 1,
	                     plugin.names.relative(file ? file : ""), true};
	check_inline_name(a, s->name.name);
	return true;
}

/* True for the resolver of an indirect function, which runs while the program is loaded. */
static bool is_resolver(cgraph_node *node)
{
	ipa_ref *alias;

	for (unsigned i = 0; node && node->iterate_direct_aliases(i, alias); i++) {
		cgraph_node *other = dyn_cast<cgraph_node *>(alias->referring);
		if (other && other->ifunc_resolver)
			return true;
	}
	return false;
}

/*
 * Runs once: collects all functions of the unit that will be emitted, in the order of the source,
 * file by file.
 */
static void ask_for_unit(std::vector<asked_name> *asked)
{
	std::map<int, const asked_name *> coming;
	std::map<std::string, std::vector<asked_name>> files;
	std::vector<std::string> order;
	static bool done;

	if (done)
		return;
	done = true;
	for (cgraph_node *node = symtab->first_defined_function(); node;
	     node = symtab->next_defined_function(node)) {
		auto known = plugin.functions.find(DECL_UID(node->decl));
		bool comes = node->process || node->decl == current_function_decl;
		if (comes && !is_resolver(node) && known != plugin.functions.end())
			coming[node->order] = &known->second;
	}
	for (const auto &one : coming) {
		if (!files.count(one.second->file))
			order.push_back(one.second->file);
		files[one.second->file].push_back(*one.second);
	}
	for (const std::string &file : order)
		asked->insert(asked->end(), files[file].begin(), files[file].end());
}

static void allocate(const std::vector<site> &sites)
{
	std::vector<asked_name> asked;
	std::string error;

	ask_for_unit(&asked);
	for (const site &s : sites)
		asked.push_back(s.name);
	error = plugin.names.allocate(asked);
	if (!error.empty())
		fatal_error(UNKNOWN_LOCATION, "assay_tags: %s", error.c_str());
}

static tree hook; /* created once, and registered with the garbage collector */

const struct ggc_root_tab emit_roots[] = {
        {&hook, 1, sizeof(hook), &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node}, LAST_GGC_ROOT_TAB};

static tree hook_decl()
{
	const char *name = plugin.options.hook.c_str();
	symtab_node *node = symtab_node::get_for_asmname(get_identifier(name));

	if (node && TREE_CODE(node->decl) == FUNCTION_DECL)
		return node->decl;
	if (!hook)
		hook = build_fn_decl(name, build_function_type_list(void_type_node,
		                                                    unsigned_type_node, NULL_TREE));
	return hook;
}

static gimple *call_statement(unsigned tag)
{
	gcall *call = gimple_build_call(hook_decl(), 1, build_int_cst(unsigned_type_node, tag));

	gimple_call_set_nothrow(call, true);
	return call;
}

/*
 * Values calculated since the last trigger and used once, after this exit. Without this, the
 * compiler would move the calculation behind the exit. A trigger that uses such a value keeps the
 * calculation in its function.
 */
static std::vector<tree> calculated_before(gimple *exit)
{
	std::vector<tree> values;
	std::set<gimple *> between;
	gimple_stmt_iterator at = gsi_for_stmt(exit);

	for (gsi_prev(&at); !gsi_end_p(at) && values.size() < 4; gsi_prev(&at)) {
		gimple *statement = gsi_stmt(at), *user;
		use_operand_p use;

		if (gimple_code(statement) == GIMPLE_ASM)
			break;
		between.insert(statement);
		tree value = is_gimple_assign(statement) ? gimple_assign_lhs(statement) : NULL_TREE;
		if (value && TREE_CODE(value) == SSA_NAME &&
		    !SSA_NAME_OCCURS_IN_ABNORMAL_PHI(value) && single_imm_use(value, &use, &user) &&
		    gimple_bb(user) == gimple_bb(exit) && !between.count(user))
			values.push_back(value);
	}
	return values;
}

static gimple *trigger_of(const site &s, unsigned tag)
{
	std::vector<tree> values;

	if (plugin.options.trigger == TRIGGER_CALL)
		return call_statement(tag);
	if (optimize && s.what == 'x')
		values = calculated_before(s.statement);
	return trigger_statement(plugin.options.trigger, tag, values);
}

static void replace(const site &s)
{
	gimple_stmt_iterator at = gsi_for_stmt(s.statement);
	std::string line;
	unsigned tag = plugin.names.find(s.name, &line) + (s.what == 'x' || s.what == 'X');
	gimple *trigger = trigger_of(s, tag);

	plugin.used.insert(line);
	gimple_set_location(trigger, gimple_location(s.statement));
	gimple_set_block(trigger, gimple_block(s.statement));
	unlink_stmt_vdef(s.statement);
	gsi_replace(&at, trigger, true);
}

static void drop(const site &s)
{
	gimple_stmt_iterator at = gsi_for_stmt(s.statement);

	unlink_stmt_vdef(s.statement);
	gsi_remove(&at, true);
}

static void check_target()
{
	static bool done;
	std::string wrong;

	if (done)
		return;
	done = true;
	wrong = trigger_check(plugin.options);
	if (!wrong.empty())
		fatal_error(UNKNOWN_LOCATION, "assay_tags: %s", wrong.c_str());
}

static unsigned emit(function *f)
{
	std::vector<site> sites;
	auto_bitmap touched;
	basic_block block;
	bool early = is_resolver(cgraph_node::get(f->decl));
	site s;

	FOR_EACH_BB_FN(block, f)
	for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
		if (site_of(gsi_stmt(at), &s)) {
			sites.push_back(s);
			bitmap_set_bit(touched, block->index);
		}
	if (sites.empty() || errorcount)
		return 0;
	check_target();
	if (!early)
		allocate(sites);
	for (const site &one : sites)
		early ? drop(one) : replace(one);
	mark_virtual_operands_for_renaming(f);
	update_ssa(TODO_update_ssa_only_virtuals);
	/* With -fnon-call-exceptions a placeholder can throw, but a trigger cannot. */
	if (gimple_purge_all_dead_eh_edges(touched)) {
		cleanup_tree_cfg();
		maybe_remove_unreachable_handlers();
	}
	return 0;
}

static const pass_data emit_data = {
        GIMPLE_PASS, "assay_tags_emit", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0};

class emit_pass : public gimple_opt_pass
{
      public:
	emit_pass() : gimple_opt_pass(emit_data, g)
	{
	}
	unsigned int execute(function *f) final override
	{
		return emit(f);
	}
};

opt_pass *emit_pass_new()
{
	return new emit_pass();
}

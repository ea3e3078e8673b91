/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaf: leaves out the triggers of small functions (argument leaf-size=N).
 *
 * A small function has no loop, executes fewer than N instructions, and calls another function in
 * less than half of its executions; all by the estimates of GCC, which weight a block by the
 * probability that it is executed. The estimate is made after the early optimizations, when the
 * function contains its always_inline callees. GCC optimizes callees before their callers, so no
 * copy of the placeholders exists yet. Functions with a mark keep their triggers.
 */
#include "plugin.h"

#include "cfganal.h"
#include "tree-inline.h"

/* True for a placeholder of another function, which was inlined, and for a call. */
static bool is_call(gimple *statement, const std::string &own)
{
	const char *text = placeholder_text(statement), *tab = text ? strchr(text, '\t') : NULL;

	if (tab)
		return std::string(text + 2, tab) != own;
	return is_gimple_call(statement) && !gimple_inexpensive_call_p(as_a<gcall *>(statement));
}

static bool is_small(function *f, const asked_name &name, std::vector<gimple *> *own)
{
	basic_block block;
	int64_t instructions = 0, calls = 0; /* of BB_FREQ_MAX executions */

	FOR_EACH_BB_FN(block, f)
	for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
		gimple *statement = gsi_stmt(at);
		int64_t executed = block->count.to_frequency(f);
		calls += is_call(statement, name.name) ? executed : 0;
		if (placeholder_text(statement))
			own->push_back(statement);
		else
			instructions += executed * estimate_num_insns(statement, &eni_size_weights);
	}
	return instructions < (int64_t)plugin.options.leaf_size * BB_FREQ_MAX &&
	       2 * calls < BB_FREQ_MAX && !mark_dfs_back_edges();
}

static unsigned leave_out(function *f)
{
	auto known = plugin.functions.find(DECL_UID(f->decl));
	std::vector<gimple *> own;

	if (known == plugin.functions.end() || known->second.kind ||
	    !is_small(f, known->second, &own))
		return 0;
	plugin.left_out.insert(known->second.name);
	plugin.functions.erase(known);
	for (gimple *statement : own) {
		gimple_stmt_iterator at = gsi_for_stmt(statement);
		unlink_stmt_vdef(statement);
		gsi_remove(&at, true);
	}
	mark_virtual_operands_for_renaming(f);
	update_ssa(TODO_update_ssa_only_virtuals);
	return TODO_cleanup_cfg;
}

static const pass_data leaf_data = {
        GIMPLE_PASS, "assay_tags_leaf", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0};

class leaf_pass : public gimple_opt_pass
{
      public:
	leaf_pass() : gimple_opt_pass(leaf_data, g)
	{
	}
	bool gate(function *) final override
	{
		return plugin.options.leaf_size > 0;
	}
	unsigned int execute(function *f) final override
	{
		return leave_out(f);
	}
};

opt_pass *leaf_pass_new()
{
	return new leaf_pass();
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tail: keeps tail calls (argument tail-calls=yes).
 *
 * A function with triggers makes no tail calls, because its exit trigger comes after the call.
 * Before GCC's pass that finds tail calls, the placeholder of an exit is moved before a call whose
 * value the function returns. After that pass it is moved back behind the calls that GCC does not
 * make as tail calls. A moved placeholder has the letter X in place of x.
 */
#include "plugin.h"

#include "cfghooks.h"
#include "ssa.h"
#include "tree-ssa.h"

static bool is_exit(gimple *statement, char letter)
{
	const char *text = placeholder_text(statement);

	return text && text[0] == letter;
}

/* Statements that the search for tail calls skips. */
static bool is_nothing(gimple *statement)
{
	return is_gimple_debug(statement) || gimple_clobber_p(statement) ||
	       gimple_code(statement) == GIMPLE_LABEL || gimple_code(statement) == GIMPLE_NOP;
}

static gimple_stmt_iterator last_of(basic_block block)
{
	gimple_stmt_iterator at = gsi_last_bb(block);

	while (!gsi_end_p(at) && is_nothing(gsi_stmt(at)))
		gsi_prev(&at);
	return at;
}

/*
 * GCC may split a function, inline its first part and call the rest. The rest then has the exits of
 * the inlined part, so it must be called between entry and exit of the function around.
 */
static bool is_rest(gcall *call)
{
	tree callee = gimple_call_fndecl(call);
	cgraph_node *node = callee ? cgraph_node::get(callee) : NULL;

	return node && node->split_part;
}

/* A call whose result is `value`, or any call if the function returns no value. */
static bool is_candidate(gimple *statement, tree value)
{
	gcall *call = dyn_cast<gcall *>(statement);

	return call && !gimple_call_internal_p(call) && !gimple_call_noreturn_p(call) &&
	       !is_rest(call) && !stmt_ends_bb_p(call) &&
	       !(gimple_call_flags(call) & ECF_RETURNS_TWICE) &&
	       (!value || gimple_call_lhs(call) == value);
}

/* A block that ends the function: exits, then the return. */
struct ending {
	basic_block block;
	tree value;
	std::vector<gimple *> exits; /* last first */
	gimple *before;              /* the statement before the exits; NULL: none in this block */
};

static bool ending_of(basic_block block, ending *e)
{
	gimple_stmt_iterator at = last_of(block);

	*e = ending{block, NULL_TREE, {}, NULL};
	if (gsi_end_p(at) || gimple_code(gsi_stmt(at)) != GIMPLE_RETURN)
		return false;
	e->value = gimple_return_retval(as_a<greturn *>(gsi_stmt(at)));
	for (gsi_prev(&at); !gsi_end_p(at); gsi_prev(&at)) {
		if (is_exit(gsi_stmt(at), 'x'))
			e->exits.push_back(gsi_stmt(at));
		else if (!is_nothing(gsi_stmt(at)))
			break;
	}
	e->before = gsi_end_p(at) ? NULL : gsi_stmt(at);
	return !e->exits.empty();
}

/* The value that the function returns if control reaches the ending through this edge. */
static tree value_through(const ending &e, edge from)
{
	if (!e.value || TREE_CODE(e.value) != SSA_NAME)
		return e.value;
	gphi *phi = dyn_cast<gphi *>(SSA_NAME_DEF_STMT(e.value));
	return phi && gimple_bb(phi) == e.block ? PHI_ARG_DEF_FROM_EDGE(phi, from) : e.value;
}

/* Moves the exits before the call, and changes their letter from 'x' to 'X'. The virtual operands
 * must be renamed afterwards. */
static void move_exit(gimple *exit, gimple *call, char letter, bool before)
{
	gimple_stmt_iterator from = gsi_for_stmt(exit), to = gsi_for_stmt(call);
	std::string text = placeholder_text(exit);
	gimple *moved;

	text[0] = letter;
	moved = placeholder_statement(text, exit);
	unlink_stmt_vdef(exit);
	gsi_remove(&from, true);
	if (before)
		gsi_insert_before(&to, moved, GSI_SAME_STMT);
	else
		gsi_insert_after(&to, moved, GSI_SAME_STMT);
}

static gimple *call_before(basic_block block, tree value)
{
	gimple_stmt_iterator at = last_of(block);

	return !gsi_end_p(at) && is_candidate(gsi_stmt(at), value) ? gsi_stmt(at) : NULL;
}

/*
 * Gives each block that ends in a candidate a copy of the ending. One predecessor is left: its
 * exits can be moved without a copy. True: blocks were copied.
 */
static bool split_ending(const ending &e)
{
	std::vector<edge> edges;
	edge_iterator i;
	edge from;

	FOR_EACH_EDGE(from, i, e.block->preds)
	if (!(from->flags & EDGE_COMPLEX) && single_succ_p(from->src) &&
	    call_before(from->src, value_through(e, from)))
		edges.push_back(from);
	if (edges.empty() || !can_duplicate_block_p(e.block))
		return false;
	if (edges.size() == EDGE_COUNT(e.block->preds))
		edges.pop_back();
	for (edge one : edges) {
		basic_block copy = duplicate_block(e.block, one, NULL);
		flush_pending_stmts(single_pred_edge(copy)); /* arguments of the copied PHIs */
	}
	return !edges.empty();
}

static void split_endings(function *f)
{
	std::vector<ending> endings;
	basic_block block;
	bool copied = false;
	ending e;

	FOR_EACH_BB_FN(block, f)
	if (ending_of(block, &e) && !e.before && EDGE_COUNT(block->preds) > 1)
		endings.push_back(e);
	initialize_original_copy_tables();
	for (const ending &one : endings)
		copied = split_ending(one) || copied;
	free_original_copy_tables();
	if (!copied)
		return;
	free_dominance_info(CDI_DOMINATORS);
	free_dominance_info(CDI_POST_DOMINATORS);
	update_ssa(TODO_update_ssa);
}

static gimple *candidate_of(const ending &e)
{
	if (e.before)
		return is_candidate(e.before, e.value) ? e.before : NULL;
	if (!single_pred_p(e.block) || (single_pred_edge(e.block)->flags & EDGE_COMPLEX) ||
	    !single_succ_p(single_pred(e.block)))
		return NULL;
	return call_before(single_pred(e.block), value_through(e, single_pred_edge(e.block)));
}

static unsigned move_before(function *f)
{
	basic_block block;
	bool moved = false;
	ending e;

	split_endings(f);
	FOR_EACH_BB_FN(block, f)
	{
		gimple *call = ending_of(block, &e) ? candidate_of(e) : NULL;
		if (!call)
			continue;
		for (auto exit = e.exits.rbegin(); exit != e.exits.rend(); ++exit)
			move_exit(*exit, call, 'X', true);
		moved = true;
	}
	if (!moved)
		return 0;
	mark_virtual_operands_for_renaming(f);
	update_ssa(TODO_update_ssa_only_virtuals);
	return 0;
}

/* The call before which the exits from `at` on stand; NULL: GCC made a loop of it. */
static gcall *next_call(gimple_stmt_iterator at)
{
	while (!gsi_end_p(at) && (is_nothing(gsi_stmt(at)) || is_exit(gsi_stmt(at), 'X')))
		gsi_next(&at);
	return gsi_end_p(at) ? NULL : dyn_cast<gcall *>(gsi_stmt(at));
}

static unsigned move_back(function *f)
{
	std::vector<std::pair<gimple *, gimple *>> back;
	basic_block block;

	FOR_EACH_BB_FN(block, f)
	for (gimple_stmt_iterator at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
		gcall *call = is_exit(gsi_stmt(at), 'X') ? next_call(at) : NULL;
		if (call && !gimple_call_tail_p(call))
			back.emplace_back(gsi_stmt(at), call);
	}
	for (auto one = back.rbegin(); one != back.rend(); ++one)
		move_exit(one->first, one->second, 'x', false);
	if (back.empty())
		return 0;
	mark_virtual_operands_for_renaming(f);
	update_ssa(TODO_update_ssa_only_virtuals);
	return 0;
}

static const pass_data tail_data = {
        GIMPLE_PASS, "assay_tags_tail", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0};

class tail_pass : public gimple_opt_pass
{
      public:
	tail_pass(unsigned (*work)(function *)) : gimple_opt_pass(tail_data, g), work(work)
	{
	}
	bool gate(function *) final override
	{
		return plugin.options.tail_calls && flag_optimize_sibling_calls;
	}
	unsigned int execute(function *f) final override
	{
		return work(f);
	}

      private:
	unsigned (*work)(function *);
};

opt_pass *tail_before_pass_new()
{
	return new tail_pass(move_before);
}

opt_pass *tail_back_pass_new()
{
	return new tail_pass(move_back);
}

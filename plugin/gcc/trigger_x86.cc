/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger_x86: the inline triggers for x86-64, and for 32 bits all of them except `ring`. The
 * sequence of the ring is in include/assay/tags_wire.h, the others are in include/assay/tags.h.
 */
#include "plugin.h"

#include "assay/tags.h"
#include "assay/tags_wire.h"

#include "tm.h"
#include "target.h"

/*
 * The slow path is in a subsection of the same section, so that the linker keeps or drops it
 * together with the function in any section (comdat, cold, a separate one).
 */
static const char ring_text[] = "mov assay_tags_self@gottpoff(%%rip), @S\n"
                                "\tmov %%fs:(@S), @S\n"
                                "\tlfence\n"
                                "\trdtsc\n"
                                "\tshl $32, %%rdx\n"
                                "\tor %%rdx, %%rax\n"
                                "\tmov $8, @d\n"
                                "\txadd @R, (@S)\n"
                                "\tlea -@B(@R), %%rdx\n"
                                "\tsub 8(@S), %%rdx\n"
                                "\tcmp $@L, %%rdx\n"
                                "\tjae 92f\n"
                                "\tmov %%rax, %%rdx\n"
                                "\tshr $40, %%rdx\n"
                                "\tcmp %%rdx, 16(@S)\n"
                                "\tjne 92f\n"
                                "\tshl $24, %%rax\n"
                                "\tor $@T, %%rax\n"
                                "\tcmp -8(@R), %%rax\n"
                                "\tjb 92f\n"
                                "\tmov %%rax, (@R)\n"
                                "91:\n"
                                "\t.subsection 1\n"
                                "92:\tmov @R, %%rdx\n"
                                "\tlea 93f(%%rip), %%rax\n"
                                "\tjmp *assay_tags_slow@GOTPCREL(%%rip)\n"
                                "93:\t.long @T, 91b-93b\n"
                                "\t.previous";

bool trigger_kernel()
{
	return ix86_cmodel == CM_KERNEL;
}

std::string trigger_check(const options &o)
{
	std::string way_out = std::string("; choose ") + "-fplugin-arg-assay_tags-trigger=";

	if (o.trigger == TRIGGER_RING && (!TARGET_64BIT || TARGET_X32))
		return "the ring's trigger is for 64 bits" + way_out + "nop, load or call";
	if (o.trigger == TRIGGER_RING && trigger_kernel())
		return "a kernel has no rings" + way_out + "nop, load or call";
	if (o.trigger == TRIGGER_LOAD && !TARGET_64BIT && flag_pic)
		return "code of 32 bits that can stand anywhere cannot load at a fixed place" +
		       way_out + "nop or call, or compile with -fno-pic";
	return "";
}

static void put(std::string *text, const std::string &from, const std::string &to)
{
	for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size())
		text->replace(at, from.size(), to);
}

static std::string text_of(trigger_kind kind, unsigned tag)
{
	bool intel = ASSEMBLER_DIALECT == ASM_INTEL;
	std::string number = std::to_string(tag), text;
	char word[11];

	switch (kind) {
	case TRIGGER_NOP:
		snprintf(word, sizeof(word), "0x%08x", (unsigned)ASSAY_TAGS_NOP_MAGIC << 24 | tag);
		return std::string(".byte 0x0f,0x1f,0x84,0x00\n\t.long ") + word;
	case TRIGGER_LOAD:
		text = "testb $0, assay_tags_base+" + number + (TARGET_64BIT ? "(%%rip)" : "");
		break;
	default:
		text = ring_text;
		/* The Intel syntax prints registers without their %. */
		put(&text, "@S", intel ? "%%%0" : "%0");
		put(&text, "@R", intel ? "%%%1" : "%1");
		put(&text, "@d", intel ? "%%%k1" : "%k1");
		put(&text, "@B", std::to_string(ASSAY_TAGS_BIAS));
		put(&text, "@L", std::to_string(ASSAY_TAGS_ROOM));
		put(&text, "@T", number);
	}
	return intel ? ".att_syntax prefix\n\t" + text + "\n\t.intel_syntax noprefix" : text;
}

static void clobber(vec<tree, va_gc> **list, const char *what)
{
	vec_safe_push(*list, build_tree_list(NULL_TREE, build_string((int)strlen(what), what)));
}

static void scratch(vec<tree, va_gc> **list)
{
	tree constraint = build_tree_list(NULL_TREE, build_string(3, "=&r"));

	vec_safe_push(*list, build_tree_list(constraint, make_ssa_name(long_unsigned_type_node)));
}

/*
 * Adds a value as an operand in a register or in memory. Values of other, rare types are not added.
 */
static void take(vec<tree, va_gc> **list, tree value)
{
	tree type = TREE_TYPE(value);
	const char *where = NULL;

	if ((INTEGRAL_TYPE_P(type) || POINTER_TYPE_P(type)) &&
	    tree_to_uhwi(TYPE_SIZE_UNIT(type)) <= UNITS_PER_WORD)
		where = "rm";
	else if (SCALAR_FLOAT_TYPE_P(type) && SSE_FLOAT_MODE_P(TYPE_MODE(type)) && TARGET_SSE_MATH)
		where = "xm";
	if (where)
		vec_safe_push(
		        *list,
		        build_tree_list(build_tree_list(NULL_TREE, build_string(2, where)), value));
}

gimple *trigger_statement(trigger_kind kind, unsigned tag, const std::vector<tree> &values)
{
	vec<tree, va_gc> *outputs = NULL, *inputs = NULL, *clobbers = NULL;

	if (kind == TRIGGER_RING) {
		scratch(&outputs);
		scratch(&outputs);
		clobber(&clobbers, "rax");
		clobber(&clobbers, "rdx");
	}
	if (kind != TRIGGER_NOP)
		clobber(&clobbers, "cc");
	clobber(&clobbers, "memory"); /* see placeholder() */
	for (tree value : values)
		take(&inputs, value);
	gasm *a = gimple_build_asm_vec(ggc_strdup(text_of(kind, tag).c_str()), inputs, outputs,
	                               clobbers, NULL);
	gimple_asm_set_volatile(a, true);
	for (unsigned i = 0; i < gimple_asm_noutputs(a); i++)
		SSA_NAME_DEF_STMT(TREE_VALUE(gimple_asm_output_op(a, i))) = a;
	return a;
}

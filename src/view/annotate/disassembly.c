/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/annotate/disassembly.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <string.h>

static int open_engine(const struct symbol_code *code, csh *engine, struct error *err)
{
	cs_arch arch = CS_ARCH_X86;
	cs_mode mode = CS_MODE_64;
	cs_err r;

	if (code->machine == CODE_OTHER)
		return error_set(err, ENOTSUP,
		                 "%s: code for this machine type cannot be disassembled",
		                 code->source);
	if (code->machine == CODE_X86_32)
		mode = CS_MODE_32;
	if (code->machine == CODE_ARM64) {
		arch = CS_ARCH_ARM64;
		mode = CS_MODE_ARM;
	}
	r = cs_open(arch, mode, engine);
	if (r != CS_ERR_OK)
		return error_set(err, ENOTSUP, "capstone: %s", cs_strerror(r));
	cs_option(*engine, CS_OPT_DETAIL, CS_OPT_ON);
	if (arch == CS_ARCH_X86)
		cs_option(*engine, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return 0;
}

/* Finds the target of a direct jump or call. */
static bool find_target_x86(csh engine, const cs_insn *insn, uint64_t *target)
{
	const cs_detail *detail = insn->detail;

	if (!cs_insn_group(engine, insn, CS_GRP_JUMP) && !cs_insn_group(engine, insn, CS_GRP_CALL))
		return false;
	if (detail->x86.op_count == 1 && detail->x86.operands[0].type == X86_OP_IMM) {
		*target = (uint64_t)detail->x86.operands[0].imm;
		return true;
	}
	return false;
}

static bool find_target_arm64(csh engine, const cs_insn *insn, uint64_t *target)
{
	const cs_arm64 *a = &insn->detail->arm64;

	if (!cs_insn_group(engine, insn, CS_GRP_JUMP) && !cs_insn_group(engine, insn, CS_GRP_CALL))
		return false;
	/* The target is the last operand of cbz and tbz. */
	if (!a->op_count || a->operands[a->op_count - 1].type != ARM64_OP_IMM)
		return false;
	*target = (uint64_t)a->operands[a->op_count - 1].imm;
	return true;
}

static void add_undecoded(struct disassembly *out, const uint8_t **bytes, size_t *left,
                          uint64_t *address)
{
	struct instruction *i = vec_add(&out->items);

	i->address = *address;
	i->size = 1;
	i->text = xasprintf(".byte 0x%02x", **bytes);
	++*bytes;
	--*left;
	++*address;
}

/* "mov %rax, %rbx"; without printf, which would take a tenth of the total time. */
static char *text_of(const cs_insn *insn)
{
	size_t name = strlen(insn->mnemonic), operands = strlen(insn->op_str);
	char *text = xmalloc(name + operands + 2);

	memcpy(text, insn->mnemonic, name);
	text[name] = operands ? ' ' : '\0';
	memcpy(text + name + 1, insn->op_str, operands + 1);
	return text;
}

static void add_decoded(csh engine, const struct symbol_code *code, const cs_insn *insn,
                        struct disassembly *out)
{
	struct instruction *i = vec_add(&out->items);

	i->address = insn->address;
	i->size = insn->size;
	i->decoded = true;
	i->branch = code->machine == CODE_ARM64 ? find_target_arm64(engine, insn, &i->target)
	                                        : find_target_x86(engine, insn, &i->target);
	i->text = text_of(insn);
}

int disassemble(const struct symbol_code *code, struct disassembly *out, struct error *err)
{
	const uint8_t *bytes = code->bytes;
	uint64_t address = code->address;
	size_t left = code->size;
	cs_insn *insn;
	csh engine;
	int r;

	*out = (struct disassembly){0};
	r = open_engine(code, &engine, err);
	if (r)
		return r;
	insn = cs_malloc(engine);
	while (left) {
		if (insn && cs_disasm_iter(engine, &bytes, &left, &address, insn))
			add_decoded(engine, code, insn, out);
		else
			add_undecoded(out, &bytes, &left, &address);
	}
	cs_free(insn, 1);
	cs_close(&engine);
	return 0;
}

void disassembly_done(struct disassembly *d)
{
	vec_each (i, &d->items) {
		free(i->text);
	}
	vec_done(&d->items);
}

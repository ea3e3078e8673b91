/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/annotate/disassembly.h"

#include "image/capstone_library.h"

#include <errno.h>
#include <string.h>

static int open_engine(const struct symbol_code *code, struct capstone *e, struct error *err)
{
	cs_arch arch = CS_ARCH_X86;
	cs_mode mode = CS_MODE_64;
	int status;

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
	status = capstone_open(e, arch, mode, err);
	if (status)
		return status;
	e->library.option(e->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (arch == CS_ARCH_X86)
		e->library.option(e->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return 0;
}

static bool is_jump_or_call(const struct capstone *e, const cs_insn *insn)
{
	return e->library.insn_group(e->handle, insn, CS_GRP_JUMP) ||
	       e->library.insn_group(e->handle, insn, CS_GRP_CALL);
}

/*
 * Finds the target of a direct jump or call: the operand of x86 ("0x401136"), the last one of arm64
 * ("w0, #3, #0x1234").
 */
static bool find_target(const struct capstone *e, const struct symbol_code *code,
                        const cs_insn *insn, uint64_t *target)
{
	const char *at = capstone_operands(e, insn), *last;
	char *end;

	if (!is_jump_or_call(e, insn))
		return false;
	if (code->machine == CODE_ARM64) {
		last = strrchr(at, ' ');
		at = last ? last + 1 : at;
		if (*at++ != '#')
			return false;
	}
	if (*at < '0' || *at > '9')
		return false;
	*target = strtoull(at, &end, 0);
	return !*end;
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
static char *text_of(const struct capstone *e, const cs_insn *insn)
{
	const char *mnemonic = capstone_mnemonic(e, insn), *rest = capstone_operands(e, insn);
	size_t name = strlen(mnemonic), operands = strlen(rest);
	char *text = xmalloc(name + operands + 2);

	memcpy(text, mnemonic, name);
	text[name] = operands ? ' ' : '\0';
	memcpy(text + name + 1, rest, operands + 1);
	return text;
}

static void add_decoded(const struct capstone *e, const struct symbol_code *code,
                        const cs_insn *insn, struct disassembly *out)
{
	struct instruction *i = vec_add(&out->items);

	i->address = insn->address;
	i->size = insn->size;
	i->decoded = true;
	i->branch = find_target(e, code, insn, &i->target);
	i->text = text_of(e, insn);
}

int disassemble(const struct symbol_code *code, struct disassembly *out, struct error *err)
{
	const uint8_t *bytes = code->bytes;
	uint64_t address = code->address;
	size_t left = code->size;
	cs_insn *insn;
	struct capstone e;
	int r;

	*out = (struct disassembly){0};
	r = open_engine(code, &e, err);
	if (r)
		return r;
	insn = e.library.malloc(e.handle);
	while (left) {
		if (insn && e.library.disasm_iter(e.handle, &bytes, &left, &address, insn))
			add_decoded(&e, code, insn, out);
		else
			add_undecoded(out, &bytes, &left, &address);
	}
	e.library.free(insn, 1);
	capstone_close(&e);
	return 0;
}

void disassembly_done(struct disassembly *d)
{
	vec_each (i, &d->items) {
		free(i->text);
	}
	vec_done(&d->items);
}

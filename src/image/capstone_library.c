/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/capstone_library.h"

#include "base/library.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The functions and the constants are those of both versions. Of an instruction only the text is at
 * another place, since version 5 has room for more bytes before it.
 */
static const struct capstone_version {
	const char *file;
	size_t bytes; /* of the code in a cs_insn */
} versions[] = {{"libcapstone.so.4", 16}, {"libcapstone.so.5", 24}};

int capstone_library_load(struct capstone_library *l, struct error *err)
{
	const struct capstone_version *v = versions;
	void *library = library_open(v->file);
	bool all = true;

	if (!library)
		library = library_open((++v)->file);
	if (!library)
		return error_set(err, ENOENT,
		                 "code cannot be disassembled without libcapstone.so.4 or .5, and "
		                 "neither is installed (Debian 12: libcapstone4, Debian 13: "
		                 "libcapstone5)");
	l->text_offset = offsetof(cs_insn, bytes) + v->bytes;
#define CAPSTONE_FIND(name) all &= library_find(library, "cs_" #name, &l->name);
	CAPSTONE_FUNCTIONS(CAPSTONE_FIND)
#undef CAPSTONE_FIND
	return all ? 0 : error_set(err, ENOENT, "%s does not have the expected functions", v->file);
}

const char *capstone_mnemonic(const struct capstone *c, const cs_insn *insn)
{
	return (const char *)insn + c->library.text_offset;
}

const char *capstone_operands(const struct capstone *c, const cs_insn *insn)
{
	return capstone_mnemonic(c, insn) + CS_MNEMONIC_SIZE;
}

int capstone_open(struct capstone *c, cs_arch arch, cs_mode mode, struct error *err)
{
	int status = capstone_library_load(&c->library, err);
	cs_err refused;

	if (status)
		return status;
	refused = c->library.open(arch, mode, &c->handle);
	return refused ? error_set(err, ENOTSUP, "capstone: %s", c->library.strerror(refused)) : 0;
}

void capstone_close(struct capstone *c)
{
	c->library.close(&c->handle);
}

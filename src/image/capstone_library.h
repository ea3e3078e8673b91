/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capstone_library: the functions of libcapstone, which is loaded when code is disassembled.
 *
 * Linking it would make each process of assay hold 1.4 MB of its tables, and take two fifths of the
 * loader's time at each start. Version 4 or 5 is loaded, whichever is installed; the header may be
 * that of either. -ENOENT with a sentence: none is installed. The library stays loaded. Any thread.
 * Uses: base.
 *
 *	capstone_open(&c, CS_ARCH_X86, CS_MODE_64)
 *	c.library.disasm_iter(c.handle, ..)	cs_disasm_iter(), and so on
 *	capstone_close(&c)
 */
#ifndef ASSAY_IMAGE_CAPSTONE_LIBRARY_H
#define ASSAY_IMAGE_CAPSTONE_LIBRARY_H

#include "base/error.h"

#include <capstone/capstone.h>

#define CAPSTONE_FUNCTIONS(X)                                                                      \
	X(open)                                                                                    \
	X(close)                                                                                   \
	X(option)                                                                                  \
	X(strerror)                                                                                \
	X(malloc)                                                                                  \
	X(free)                                                                                    \
	X(disasm_iter)                                                                             \
	X(insn_group)

/* Pointers to cs_open() and so on. */
struct capstone_library {
#define CAPSTONE_POINTER(name) __typeof__(cs_##name) *name;
	CAPSTONE_FUNCTIONS(CAPSTONE_POINTER)
#undef CAPSTONE_POINTER
	size_t text_offset; /* of the text in a cs_insn */
};

int capstone_library_load(struct capstone_library *l, struct error *err);

/* A disassembler of one kind of machine. */
struct capstone {
	struct capstone_library library;
	csh handle;
};

/* Loads the library. -ENOTSUP: it has not this kind of machine. After an error nothing is open. */
int capstone_open(struct capstone *c, cs_arch arch, cs_mode mode, struct error *err);
void capstone_close(struct capstone *c);

/*
 * The text of an instruction: its fields `mnemonic`, `op_str` and `detail` are not those of the
 * header if the library has another version. `id`, `address` and `size` are.
 */
const char *capstone_mnemonic(const struct capstone *c, const cs_insn *insn);
const char *capstone_operands(const struct capstone *c, const cs_insn *insn);

#endif

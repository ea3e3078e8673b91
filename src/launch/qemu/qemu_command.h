/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qemu_command: the words of a command that runs QEMU.
 *
 * qemu_command_read() finds the word of QEMU, also after a wrapper (`timeout 60 qemu-x86_64 ...`),
 * and the options that matter for the capture device. It returns an error for a command in which
 * the device could record nothing. qemu_command_with() adds the device's words. 0 or -errno.
 * Stateless. Any thread. Uses: base.
 */
#ifndef ASSAY_LAUNCH_QEMU_QEMU_COMMAND_H
#define ASSAY_LAUNCH_QEMU_QEMU_COMMAND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct qemu_command {
	size_t at;       /* index of the word of QEMU */
	bool system;     /* a machine; else one program (qemu-x86_64 PROGRAM) */
	bool icount;     /* -icount is given */
	bool kvm_or_tcg; /* QEMU uses KVM if it can, else TCG */
};

/* `words` ends with NULL. */
int qemu_command_read(struct qemu_command *q, char *const words[], struct error *err);

/*
 * The words with `-plugin` and `plugin` after the word of QEMU. The caller frees the array, and not
 * the words.
 */
char **qemu_command_with(const struct qemu_command *q, char *words[], char *plugin);

#endif

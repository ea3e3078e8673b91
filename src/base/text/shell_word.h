/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shell_word: a file name or another argument in a command line that is shown to the reader. No
 * state. No function fails. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_TEXT_SHELL_WORD_H
#define ASSAY_BASE_TEXT_SHELL_WORD_H

#include "base/memory/buf.h"

/* Appends the text as a shell reads it: quoted with double quotes or $'...' if necessary. */
void shell_word_add(struct buf *out, const char *text);

#endif

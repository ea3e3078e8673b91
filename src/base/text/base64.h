/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * base64: bytes as text (RFC 4648, the standard alphabet, with padding, without line breaks).
 *
 * base64_add() may be called repeatedly if each size but the last is a multiple of BASE64_BLOCK.
 * No state. Nothing fails. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_TEXT_BASE64_H
#define ASSAY_BASE_TEXT_BASE64_H

#include "base/memory/buf.h"

#define BASE64_BLOCK 3 /* bytes that become four characters */

void base64_add(struct buf *out, const void *bytes, size_t size);

#endif

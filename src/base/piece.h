/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * piece: sizes of pieces, steps and batches, which bound memory and the length of transactions, and
 * must not change any result. The build with sanitizers has small ones, so that its tests pass from
 * one piece to the next.
 *
 * Uses: nothing.
 */
#ifndef ASSAY_BASE_PIECE_H
#define ASSAY_BASE_PIECE_H

#ifdef ASSAY_SMALL_PIECES
#define PIECE_OF(n) ((n) / 16 + 1)
#else
#define PIECE_OF(n) (n)
#endif

#endif

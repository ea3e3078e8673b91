/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pager: shows text on a terminal one screen at a time.
 *
 * Between pager_begin() and pager_end(), standard output goes to the program in $ASSAY_PAGER, else
 * in $PAGER, else to `less`, which has LESS=FRX if LESS is not set. The style must be chosen
 * (style_choose()) before, while standard output is the terminal. If the reader leaves the pager
 * early, the rest of the output is discarded without a message. No function fails: without a pager
 * the text goes to the terminal. One pager at a time, one thread. Uses: base.
 */
#ifndef ASSAY_CMD_CLI_PAGER_H
#define ASSAY_CMD_CLI_PAGER_H

/*
 * Starts the pager if standard output is a terminal and TERM is not "dumb". An empty value and
 * "cat" in the environment select no pager.
 */
void pager_begin(void);

/* Waits until the reader has left the pager, if there is one. */
void pager_end(void);

#endif

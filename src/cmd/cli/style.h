/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * style: whether text goes to a terminal, how wide it is, and whether colour
 * is wanted (--color, NO_COLOR). Uses: output.
 */
#ifndef ASSAY_CMD_CLI_STYLE_H
#define ASSAY_CMD_CLI_STYLE_H

#include "cmd/cli/command.h"
#include "output/document_output.h"

struct style_options {
	const char *colour;          /* auto, always, never; NULL: auto */
	bool bars;                   /* only of commands that print documents */
	struct document_media media; /* only of commands that print documents (cmd/cli/medium.h) */
	bool pager;                  /* not an option: the command sets it */
	struct buf *page_data;       /* likewise: takes the data of a page instead of a file */
	const char *command;         /* likewise: named in messages of a report; NULL: report */
};

extern const struct option style_option_table[];

/* For stdout. */
void style_choose(const struct style_options *o, struct text_style *style);

#endif

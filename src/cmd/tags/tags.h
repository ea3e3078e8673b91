/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags: `assay tags` and its subcommands, one const each (tags_trace.h has one more). Uses: as
 * command.h.
 */
#ifndef ASSAY_CMD_TAGS_TAGS_H
#define ASSAY_CMD_TAGS_TAGS_H

#include "cmd/cli/command.h"
#include "cmd/report/report_tags.h"
#include "source/runtime/tag_rings.h"

/* -o DIR, of commands that write a trace; the offset of the INCLUDE is a const char *. */
extern const struct option tags_output_option_table[];

extern const struct command cmd_tags;
extern const struct command tags_list, tags_get; /* tags_control.c */
extern const struct command tags_capture, tags_import, tags_names, tags_flags;

/* Finds the files of all processes of the user, or of those in argv. Returns the exit status. */
int tags_find_files(tag_rings_list *list, const char *command, int argc, char **argv);

/* `assay tags capture --qemu` (tags_qemu.c). The texts are NULL if they are not given. */
struct tags_qemu_options {
	const char *output, *names, *memory, *mode, *start, *end, *clock, *device;
	const char *symbols, *sample; /* of guests without tags */
	bool calls;
	struct report_options report;
	struct report_tags_options tags;
	bool quiet;
};

/* `words`: the command, NULL at the end. Returns the exit status. */
int tags_qemu(const struct tags_qemu_options *o, char **words);

#endif

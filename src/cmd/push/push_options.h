/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_options: the options of commands that send profiles to a back end. Uses: as command.h, push.
 */
#ifndef ASSAY_CMD_PUSH_PUSH_OPTIONS_H
#define ASSAY_CMD_PUSH_PUSH_OPTIONS_H

#include "cmd/cli/command.h"
#include "push/push_delivery.h"

struct push_options {
	const char *service, *token_file, *ca_file; /* NULL: not given */
};

/* --service, --token-file, --ca-file, under their own heading. */
extern const struct option push_option_table[];

/* The name of an option that was given; NULL: none. */
const char *push_options_given(const struct push_options *o);
/* Checks that the options fit to the target. */
int push_options_check(const struct push_options *o, const struct push_target *t,
                       struct error *err);
struct http_client_options push_options_client(const struct push_options *o);

#endif

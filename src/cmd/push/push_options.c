/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/push/push_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct push_options, field)

const struct option push_option_table[] = {
        {.kind = OPTION_GROUP, .help = "Sending"},
        {OPTION_STRING, 0, "service", "NAME",
         "the name of the service (default: the systemd unit or cgroup of each process)",
         .details = "Without cgroups in the recording: the program with most samples, or 'system' "
                    "for a recording of the whole machine.",
         .offset = AT(service)},
        {OPTION_STRING, 0, "token-file", "FILE",
         "a file with the token for the server, which only its owner can read",
         .details = "It is sent as a bearer token; with a user in the address (https://USER@HOST) "
                    "as the password of that user. Over http it is only sent to this machine.",
         .offset = AT(token_file)},
        {OPTION_STRING, 0, "ca-file", "FILE",
         "certificates to trust instead of those of the system (PEM)", .offset = AT(ca_file)},
        {.kind = OPTION_END},
};

const char *push_options_given(const struct push_options *o)
{
	return o->service      ? "--service"
	       : o->token_file ? "--token-file"
	       : o->ca_file    ? "--ca-file"
	                       : NULL;
}

int push_options_check(const struct push_options *o, const struct push_target *t, struct error *err)
{
	struct buf token = {0};
	int ret = 0;

	if (o->service && !*o->service)
		return error_set(err, EINVAL, "--service: the name is empty");
	if (t->directory && (o->token_file || o->ca_file))
		return error_set(err, EINVAL, "--token-file and --ca-file are for servers");
	if (t->user && !o->token_file)
		return error_set(err, EINVAL,
		                 "the address has a user: pass a file with the password "
		                 "with --token-file");
	if (o->ca_file && access(o->ca_file, R_OK))
		return error_set(err, errno, "--ca-file %s: %s", o->ca_file, strerror(errno));
	if (o->token_file)
		ret = http_token_read(o->token_file, &token, err);
	buf_done(&token);
	return ret;
}

struct http_client_options push_options_client(const struct push_options *o)
{
	return (struct http_client_options){.token_file = o->token_file, .ca_file = o->ca_file};
}

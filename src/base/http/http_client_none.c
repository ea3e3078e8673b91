/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Builds without the headers of libcurl. */
#include "base/http/http_client.h"

#include <errno.h>

int http_client_open(struct http_client **c, const struct http_client_options *o, struct error *err)
{
	*c = NULL;
	return error_set(err, ENOSYS,
	                 "this assay was built without requests by HTTP (Debian: install "
	                 "libcurl4-openssl-dev and build it again)");
}

void http_client_close(struct http_client *c)
{
}

int http_client_send(struct http_client *c, const struct http_request *r, struct http_answer *a,
                     struct error *err)
{
	return error_set(err, ENOSYS, "this assay was built without requests by HTTP");
}
